//! How much memory is in use, as the kernel sees it.

/// Below so many nodes the kernel's count of pages is too coarse to say what one needs.
pub(crate) const NODES_MIN: usize = 100_000;

/// Bytes of this process in the machine's memory, if the kernel says.
pub(crate) fn resident() -> Option<usize> {
    const PAGE: usize = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}
