//! Paths of znodes: which are valid, and how they come apart.

use crate::code::Code;

/// Checks a whole path, as `PathUtils.validatePath` does on UTF-16 units.
///
/// # Errors
/// [`Code::BadArguments`] for the first rule broken.
pub fn validate(path: &str) -> Result<(), Code> {
    if path == "/" {
        return Ok(());
    }
    let Some(names) = path.as_bytes().strip_prefix(b"/") else { return Err(Code::BadArguments) };
    // All of it at once, for that is many bytes at a time; few paths need a closer look.
    let plain = names.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'));
    if !plain && path.chars().any(is_forbidden) {
        return Err(Code::BadArguments);
    }
    let is_bad = |name: &[u8]| matches!(name, b"" | b"." | b"..");
    if names.split(|byte| *byte == b'/').any(is_bad) { Err(Code::BadArguments) } else { Ok(()) }
}

/// Control characters, the private use area, specials, and everything beyond the basic plane,
/// which Java sees as surrogates.
const fn is_forbidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..)
}

/// The parent's path as the tree names it: everything before the last slash, so that the root is
/// the empty text. `None` without a slash.
#[must_use]
pub fn parent(path: &str) -> Option<&str> {
    path.rfind('/').map(|slash| &path[..slash])
}

/// The last name of a path: everything after the last slash.
#[must_use]
pub fn name(path: &str) -> &str {
    path.rfind('/').map_or(path, |slash| &path[slash + 1..])
}

/// How the tree names a node: the root is the empty text.
#[must_use]
pub fn key(path: &str) -> &str {
    if path == "/" { "" } else { path }
}

/// How clients name a node: the root is a slash.
#[must_use]
pub fn shown(key: &str) -> &str {
    if key.is_empty() { "/" } else { key }
}

/// The strict ancestors of a node from the nearest up, as keys: the last is the root's.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(parent(key(path)), |key| parent(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn good_paths_are_good() {
        for path in
            ["/", "/a", "/a/b", "/...", "/..a", "/a.", "/.a", "/a b", "/\u{a0}", "/\u{ffef}", "/ä"]
        {
            assert_eq!(validate(path), Ok(()), "{path:?}");
        }
    }

    #[test]
    fn bad_paths_are_bad() {
        for path in [
            "",
            "a",
            "a/b",
            "/a/",
            "//",
            "/a//b",
            "/.",
            "/..",
            "/a/./b",
            "/a/../b",
            "/a\0",
            "/\u{1}",
            "/\u{1f}",
            "/\u{7f}",
            "/\u{9f}",
            "/\u{e000}",
            "/\u{f8ff}",
            "/\u{fff0}",
            "/\u{fffd}",
            "/\u{ffff}",
            "/\u{1f600}",
        ] {
            assert_eq!(validate(path), Err(Code::BadArguments), "{path:?}");
        }
    }

    #[test]
    fn paths_come_apart() {
        assert_eq!(parent("/a/b"), Some("/a"));
        assert_eq!(parent("/a"), Some(""));
        assert_eq!(parent("abc"), None);
        assert_eq!(name("/a/b"), "b");
        assert_eq!(ancestors("/a/b/c").collect::<Vec<_>>(), ["/a/b", "/a", ""]);
        assert_eq!(ancestors("/a").collect::<Vec<_>>(), [""]);
        assert_eq!(ancestors("/").count(), 0);
    }
}
