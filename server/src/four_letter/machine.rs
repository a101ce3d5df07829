//! The machine around the server, as far as it tells.

use std::fs;

/// What ZooKeeper prints where it does not know.
const UNKNOWN: &str = "<NA>";

/// How many files and sockets are open.
pub(super) fn open_files() -> Option<usize> {
    // The listing itself is one of them.
    Some(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1))
}

/// How many files and sockets may be open.
pub(super) fn open_files_max() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Names and values in ZooKeeper's order. There is no Java here, and the answer says so.
pub(super) fn environment() -> Vec<(&'static str, String)> {
    let file = |path| fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let variable = |name| std::env::var(name).ok();
    let unknown = || UNKNOWN.to_owned();
    let directory = std::env::current_dir().ok().map(|path| path.display().to_string());
    vec![
        ("host.name", file("/proc/sys/kernel/hostname").unwrap_or_else(unknown)),
        ("java.version", unknown()),
        ("java.vendor", unknown()),
        ("java.home", unknown()),
        ("java.class.path", unknown()),
        ("java.library.path", unknown()),
        ("java.io.tmpdir", std::env::temp_dir().display().to_string()),
        ("java.compiler", unknown()),
        ("os.name", std::env::consts::OS.to_owned()),
        ("os.arch", std::env::consts::ARCH.to_owned()),
        ("os.version", file("/proc/sys/kernel/osrelease").unwrap_or_else(unknown)),
        ("user.name", variable("USER").unwrap_or_else(unknown)),
        ("user.home", variable("HOME").unwrap_or_else(unknown)),
        ("user.dir", directory.unwrap_or_else(unknown)),
    ]
}
