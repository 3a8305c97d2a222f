//! The swap space in use.

use crate::mounts::unescape;
use crate::roots::Roots;
use crate::sysfs::read_start;

/// The limit for reading the list of swap space, which has one line each.
const SWAPS_BYTES_MAX: u64 = 1 << 20;

/// The files and device files that hold swap space (proc_swaps(5)).
pub fn swaps(roots: &Roots) -> Vec<String> {
    let list = read_start(&roots.proc.join("swaps"), SWAPS_BYTES_MAX).unwrap_or_default();
    let first = |line: &str| line.split_ascii_whitespace().next().map(unescape);
    String::from_utf8_lossy(&list).lines().skip(1).filter_map(first).collect()
}
