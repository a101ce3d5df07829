//! Writing a whole trace at once: either all of it is there afterwards, or nothing is changed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use super::{StepLine, Trace};

impl Trace {
    /// Writes it to a file; compressed if its name ends in `.zst`. It is written beside, and
    /// takes the name when it is whole.
    ///
    /// # Errors
    /// If that cannot be done; then there is no such file, or the one before.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut bytes = self.to_text()?.into_bytes();
        if path.extension().is_some_and(|extension| extension == "zst") {
            bytes = zstd::encode_all(&bytes[..], 1)?;
        }
        replace(path, &bytes)
    }

    /// All of it as text.
    ///
    /// # Errors
    /// If something in it cannot be written as JSON.
    pub fn to_text(&self) -> io::Result<String> {
        let mut text = serde_json::to_string(&self.header)?;
        text.push('\n');
        for (at, step) in &self.steps {
            let line = StepLine { at: at.0, step: step.to_string().into() };
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
        if let Some(ending) = &self.ending {
            text.push_str(&serde_json::to_string(ending)?);
            text.push('\n');
        }
        Ok(text)
    }
}

/// Puts these bytes in a file's place, or leaves everything as it was.
///
/// # Errors
/// If that cannot be done.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // What is no file, such as a pipe or a device, has no beside.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        let mut file = File::options().write(true).open(path)?;
        return file.write_all(bytes).and_then(|()| file.flush());
    }
    let mut name = OsString::from(path);
    name.push(format!(".{}.part", std::process::id()));
    let beside = Path::new(&name);
    let written = File::create(beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(beside, path));
    if renamed.is_err() {
        let _ = fs::remove_file(beside);
    }
    renamed
}
