//! A directory to keep a server's files in: where they are, and who carries out what is to be done
//! with them.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;

use zoolab_core::storage::{FileOp, Files};

/// Work that is under way. It fails with the file, what was to be done to it, and why not.
pub type Performing<'a> = Pin<Box<dyn Future<Output = io::Result<()>> + Send + 'a>>;

/// A directory for one server's files: one of the machine, or one that a test makes up.
pub trait Directory: Debug + Send {
    /// Every file of ours with its bytes.
    ///
    /// # Errors
    /// Says what cannot be read.
    fn read(&mut self) -> io::Result<Files>;

    /// Does all of this in order; done once the last of it is. After a failure nothing of what
    /// follows is done, and nobody will ask for more.
    fn perform(&mut self, ops: Vec<FileOp>) -> Performing<'_>;

    /// Where it is, for people.
    fn path(&self) -> Option<&Path>;
}
