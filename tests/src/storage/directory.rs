//! A real directory as the core sees it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use zoolab_core::storage::{FileName, FileOp, Files};

/// Reads everything in a directory that belongs to it.
pub fn read(directory: &Path) -> io::Result<Files> {
    let mut files = Files::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().and_then(FileName::parse) {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(files)
}

/// Carries operations out.
pub fn perform(directory: &Path, ops: &[FileOp]) -> io::Result<()> {
    let path = |name: &FileName| directory.join(name.to_string());
    let open = |name: &FileName| OpenOptions::new().write(true).open(path(name));
    for op in ops {
        match op {
            FileOp::Create { name } => drop(File::create(path(name))?),
            FileOp::Remove { name } => fs::remove_file(path(name))?,
            FileOp::Rename { from, to } => fs::rename(path(from), path(to))?,
            FileOp::Sync { name } => open(name)?.sync_all()?,
            FileOp::SyncDirectory => File::open(directory)?.sync_all()?,
            FileOp::Truncate { name, size } => open(name)?.set_len(*size)?,
            FileOp::Write { name, at, bytes } => open(name)?.write_all_at(bytes, *at)?,
        }
    }
    Ok(())
}
