//! Paths: which are valid, and what lies above them.

use zoolab_core::Code;

/// There from the beginning, and never deleted.
pub(super) const RESERVED: [&str; 4] = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];

/// The first look that creating and deleting take at a path.
pub(super) fn slashed(path: &str) -> Result<(), Code> {
    if path.contains('/') && !path.contains('\0') { Ok(()) } else { Err(Code::BadArguments) }
}

/// The full look.
pub(super) fn validate(path: &str) -> Result<(), Code> {
    let allowed = |c: char| match u32::from(c) {
        0..=0x1F | 0x7F..=0x9F | 0xD800..=0xF8FF | 0xFFF0.. => false,
        0x20..=0x7E | 0xA0..=0xD7FF | 0xF900..=0xFFEF => true,
    };
    let name = |name: &str| !["", ".", ".."].contains(&name) && name.chars().all(allowed);
    let good = path == "/" || path.starts_with('/') && path.split('/').skip(1).all(name);
    if good { Ok(()) } else { Err(Code::BadArguments) }
}

/// The root has two names; this is the one in the map.
pub(super) const fn root_if_empty(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

/// Everything before the last slash.
pub(super) fn parent(path: &str) -> &str {
    root_if_empty(path.rsplit_once('/').map_or("", |(parent, _)| parent))
}

/// How the paths of everything below begin.
pub(super) fn prefix_below(path: &str) -> String {
    if path == "/" { "/".into() } else { format!("{path}/") }
}

/// Whether one lies strictly below the other.
pub(super) fn is_below(path: &str, above: &str) -> bool {
    // A watch on the empty text watches nothing, though reads take it for the root.
    !above.is_empty() && path != above && path.starts_with(&prefix_below(above))
}
