//! A data directory on the disk of the machine.
//!
//! As in ZooKeeper the files are in `version-2` below it. Snapshots and logs are together.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::task::spawn_blocking;
use zoolab_core::storage::{FileName, FileOp, Files};

use crate::directory::{Directory, Performing};

/// The directory's name for its format.
const VERSION: &str = "version-2";

/// So many files are kept open: a log and a snapshot grow at the same time.
const OPEN_MAX: usize = 4;

/// A data directory on a real disk. While it exists no other process of ours takes the same one.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    opened: Arc<Mutex<Opened>>,
}

/// The directory and those of its files that are in use.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    /// Invariant: locked.
    directory: File,
    files: BTreeMap<FileName, File>,
}

impl DataDir {
    /// Takes a directory, which is made if there is none.
    ///
    /// # Errors
    /// If it cannot be had, or another server has it. The message names it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.join(VERSION);
        let at = |error| named(&path, "open", error);
        let made: Vec<&Path> = path
            .ancestors()
            .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
            .collect();
        fs::create_dir_all(&path).map_err(at)?;
        let directory = File::open(&path).map_err(at)?;
        directory.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => named(&path, "lock", error),
            TryLockError::WouldBlock => {
                let kind = io::ErrorKind::ResourceBusy;
                io::Error::new(kind, format!("{}: another server uses it", path.display()))
            }
        })?;
        // A directory that was made a moment ago has to be there after a power loss as well.
        for parent in made.iter().filter_map(|path| path.parent()) {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            File::open(parent)
                .and_then(|it| it.sync_all())
                .map_err(|e| named(parent, "sync", e))?;
        }
        let opened = Opened { path: path.clone(), directory, files: BTreeMap::new() };
        Ok(Self { opened: Arc::new(Mutex::new(opened)), path })
    }
}

impl Directory for DataDir {
    fn read(&mut self) -> io::Result<Files> {
        let at = |error| named(&self.path, "list", error);
        let mut files = Files::new();
        for entry in fs::read_dir(&self.path).map_err(at)? {
            let entry = entry.map_err(at)?;
            let name = entry.file_name();
            // Other files are left alone.
            if let Some(name) = name.to_str().and_then(FileName::parse) {
                let path = entry.path();
                let bytes = fs::read(&path).map_err(|error| named(&path, "read", error))?;
                files.insert(name, bytes);
            }
        }
        Ok(files)
    }

    fn perform(&mut self, ops: Vec<FileOp>) -> Performing<'_> {
        let opened = Arc::clone(&self.opened);
        let performed = spawn_blocking(move || {
            let mut opened = opened.lock().expect("whoever panics here ends the server");
            ops.iter().try_for_each(|op| opened.perform(op))
        });
        Box::pin(async { performed.await.map_err(io::Error::other)? })
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

impl Opened {
    fn perform(&mut self, op: &FileOp) -> io::Result<()> {
        self.try_to(op).map_err(|error| named(&self.path, op, error))
    }

    fn try_to(&mut self, op: &FileOp) -> io::Result<()> {
        match op {
            FileOp::Create { name } => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).truncate(true);
                self.open(*name, &options)?;
            }
            FileOp::Remove { name } => {
                self.files.remove(name);
                fs::remove_file(self.place(*name))?;
            }
            FileOp::Rename { from, to } => {
                self.files.remove(from);
                self.files.remove(to);
                fs::rename(self.place(*from), self.place(*to))?;
            }
            FileOp::Sync { name } => self.file(*name)?.sync_data()?,
            FileOp::SyncDirectory => self.directory.sync_all()?,
            FileOp::Truncate { name, size } => self.file(*name)?.set_len(*size)?,
            FileOp::Write { name, at, bytes } => {
                let mut file = self.file(*name)?;
                file.seek(SeekFrom::Start(*at))?;
                file.write_all(bytes)?;
            }
        }
        Ok(())
    }

    fn place(&self, name: FileName) -> PathBuf {
        self.path.join(name.to_string())
    }

    fn file(&mut self, name: FileName) -> io::Result<&File> {
        if !self.files.contains_key(&name) {
            self.open(name, OpenOptions::new().read(true).write(true))?;
        }
        Ok(&self.files[&name])
    }

    fn open(&mut self, name: FileName, options: &OpenOptions) -> io::Result<()> {
        if self.files.len() >= OPEN_MAX {
            self.files.clear();
        }
        self.files.insert(name, options.open(self.place(name))?);
        Ok(())
    }
}

fn named(path: &Path, what: impl fmt::Display, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {what}: {error}", path.display()))
}
