//! Hashing what has no order: so that whoever hashes under other names gets what it would get if
//! the names were others.

use core::hash::{Hash, Hasher};

/// What stands before the first, after each, and after the last of several things of which none
/// comes first. Nothing else hashes as 128 bits with a sign. A hasher may take these for what
/// they mean; any other just takes them in.
pub const BEGIN: i128 = -1;
/// See [`BEGIN`].
pub const NEXT: i128 = -2;
/// See [`BEGIN`].
pub const END: i128 = -3;

/// Hashes things of which none comes first.
pub fn hash_unordered<T: Hash, H: Hasher>(items: impl IntoIterator<Item = T>, state: &mut H) {
    state.write_i128(BEGIN);
    for item in items {
        item.hash(state);
        state.write_i128(NEXT);
    }
    state.write_i128(END);
}
