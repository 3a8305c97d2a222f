//! What the kernel notes of the data that waits for one disk: `bdi/NUMBER/stats` and `wb_stats` of debugfs (mm/backing-dev.c,
//! `bdi_debug_stats_show`), readable for root.

use flashscope_device::Bytes;

use super::waiting::{Bound, kilobytes, number};
use crate::roots::Roots;
use crate::sysfs::{Node, read_start};

/// A group's notes are some 500 bytes; so many are counted.
const GROUPS_BYTES_MAX: u64 = 1 << 20;

/// What waits, for one number in the list of disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Book {
    dirty: Bytes,
    writeback: Bytes,
    /// How far both together may be off.
    error: Bytes,
    /// How many files have changes that are not written; that number is exact.
    files: Option<u64>,
}

impl Book {
    /// From the folder of debugfs.
    ///
    /// # Errors
    /// Why it cannot be read, or does not hold all.
    pub fn read(folder: &Node, roots: &Roots) -> Result<Self, Bound> {
        let text = folder.bytes("stats").ok_or(Bound::Hidden)?;
        let groups = folder.long("wb_stats", GROUPS_BYTES_MAX);
        if groups.is_none() && writes_for_groups(roots) {
            return Err(Bound::Groups);
        }
        let groups = groups.map_or(1, |text| String::from_utf8_lossy(&text).matches("WbCgIno:").count());
        let error = error_pages(processors(roots)).saturating_mul(groups.max(1) as u64);
        let error = Bytes::new(error.saturating_mul(rustix::param::page_size() as u64));
        Self::parse(&String::from_utf8_lossy(&text), error).ok_or(Bound::Hidden)
    }

    fn parse(text: &str, error: Bytes) -> Option<Self> {
        let lists = ["b_dirty:", "b_io:", "b_more_io:"].map(|list| number(text, list));
        let files = lists.into_iter().try_fold(0_u64, |sum, files| sum.checked_add(files?));
        let (dirty, writeback) = (kilobytes(text, "BdiReclaimable:")?, kilobytes(text, "BdiWriteback:")?);
        Some(Self { dirty, writeback, error, files })
    }

    /// Not yet on its way. Without files that have changed there is nothing, whatever the count says.
    pub fn dirty(&self) -> Bytes {
        if self.files == Some(0) { Bytes::ZERO } else { self.dirty }
    }

    /// On its way. Without such files, what may be off is taken for nothing: the disk's requests in flight are seen apart.
    pub fn writeback(&self) -> Bytes {
        if self.is_nothing() { Bytes::ZERO } else { self.writeback }
    }

    /// How far that may be off.
    pub fn error(&self) -> Bytes {
        if self.is_nothing() { Bytes::ZERO } else { self.error }
    }

    fn is_nothing(&self) -> bool {
        self.files == Some(0) && self.writeback <= self.error
    }
}

/// Whether the kernel writes what groups of processes have changed apart: memory is counted for them (cgroup v2).
fn writes_for_groups(roots: &Roots) -> bool {
    let path = roots.sysfs.join("fs/cgroup/cgroup.subtree_control");
    let groups = read_start(&path, 4096).unwrap_or_default();
    String::from_utf8_lossy(&groups).split_whitespace().any(|counted| counted == "memory")
}

/// How many processors the kernel is made for, from a list such as `0-7`; one where that cannot be read.
fn processors(roots: &Roots) -> u64 {
    let list = read_start(&roots.sysfs.join("devices/system/cpu/possible"), 4096).unwrap_or_default();
    let text = String::from_utf8_lossy(&list);
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u64>().ok());
    last.map_or(1, |last| last.saturating_add(1))
}

/// The maximal error of the sum of the kernel's two counts, in pages: of each, every processor keeps up to a batch to itself
/// (include/linux/backing-dev-defs.h: `WB_STAT_BATCH` is 8 x (1 + log2 of their number)).
fn error_pages(processors: u64) -> u64 {
    let batch = 8 * (1 + u64::from(processors.max(1).ilog2()));
    processors.saturating_mul(2 * batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = "BdiWriteback:              128 kB\nBdiReclaimable:            4096 kB\n\
        BdiDirtyThresh:  9 kB\nb_dirty:  2\nb_io:  1\nb_more_io:  0\nb_dirty_time:  5\n";

    #[test]
    fn a_book_is_read_and_half_a_book_is_none() {
        let book = Book::parse(STATS, Bytes::kib(256)).unwrap();
        assert_eq!(
            (book.dirty(), book.writeback(), book.error()),
            (Bytes::mib(4), Bytes::kib(128), Bytes::kib(256))
        );
        assert_eq!(book.files, Some(3));
        assert_eq!(Book::parse("BdiWriteback: 128 kB\n", Bytes::ZERO), None);
    }

    #[test]
    fn what_is_left_of_a_count_that_is_off_is_nothing_when_no_file_has_changed() {
        let clean = STATS.replace("b_dirty:  2", "b_dirty: 0").replace("b_io:  1", "b_io: 0");
        let book = |error| Book::parse(&clean, error).unwrap();
        let figures = |book: Book| (book.dirty(), book.writeback(), book.error());
        assert_eq!(figures(book(Bytes::kib(128))), (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO));
        let more = figures(book(Bytes::kib(127)));
        assert_eq!(more, (Bytes::ZERO, Bytes::kib(128), Bytes::kib(127)), "that much is no error");
    }

    #[test]
    fn counts_are_off_by_a_batch_for_each_processor() {
        assert_eq!([1, 2, 8].map(error_pages), [16, 64, 512]);
    }
}
