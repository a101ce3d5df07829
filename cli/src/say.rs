//! Standard output, for whoever listens.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _};

/// Prints a line. `println!` would panic when nobody listens any more, as in `… | head`.
macro_rules! say {
    ($($arg:tt)*) => { $crate::say::line(format_args!($($arg)*)) };
}
pub(crate) use say;

/// Whoever listened may have heard enough, and the exit code is right all the same. What cannot
/// be written for any other reason is lost, and that must not look like success.
pub(crate) fn line(text: Arguments<'_>) {
    if let Err(error) = writeln!(std::io::stdout(), "{text}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("zoolab: standard output: {error}");
        std::process::exit(crate::COULD_NOT_RUN.into());
    }
}
