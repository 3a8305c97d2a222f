//! The kernel's writeback statistics of one disk: `bdi/NUMBER/stats` and `wb_stats` in debugfs
//! (mm/backing-dev.c, `bdi_debug_stats_show`), readable for root.

use flashscope_device::Bytes;

use flashscope_record::activity::BoundReason;

use super::pending_writes::{kilobytes, number};
use crate::roots::Roots;
use crate::sysfs::{Node, read_start};

/// The limit for reading `wb_stats`. A group has about 500 bytes there, so 2 000 groups are counted.
const GROUPS_BYTES_MAX: u64 = 1 << 20;

/// The writeback statistics of one device number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WritebackStatistics {
    dirty: Bytes,
    writeback: Bytes,
    /// The largest error of the sum of both.
    error: Bytes,
    /// The number of files with unwritten changes, which is exact.
    files: Option<u64>,
}

impl WritebackStatistics {
    /// Reads the debugfs directory.
    ///
    /// # Errors
    /// Why it cannot be read, or is incomplete.
    pub fn read(directory: &Node, roots: &Roots) -> Result<Self, BoundReason> {
        let text = directory.bytes("stats").ok_or(BoundReason::Hidden)?;
        let groups = directory.long("wb_stats", GROUPS_BYTES_MAX);
        if groups.is_none() && writes_for_groups(roots) {
            return Err(BoundReason::ControlGroups);
        }
        let groups = groups.map_or(1, |text| String::from_utf8_lossy(&text).matches("WbCgIno:").count());
        let error = error_pages(processors(roots)).saturating_mul(groups.max(1) as u64);
        let error = Bytes::new(error.saturating_mul(rustix::param::page_size() as u64));
        Self::parse(&String::from_utf8_lossy(&text), error).ok_or(BoundReason::Hidden)
    }

    fn parse(text: &str, error: Bytes) -> Option<Self> {
        let lists = ["b_dirty:", "b_io:", "b_more_io:"].map(|list| number(text, list));
        let files = lists.into_iter().try_fold(0_u64, |sum, files| sum.checked_add(files?));
        let (dirty, writeback) = (kilobytes(text, "BdiReclaimable:")?, kilobytes(text, "BdiWriteback:")?);
        Some(Self { dirty, writeback, error, files })
    }

    /// The dirty bytes. Zero if no file has changes, whatever the count says.
    pub fn dirty(&self) -> Bytes {
        if self.files == Some(0) { Bytes::ZERO } else { self.dirty }
    }

    /// The bytes in writeback. Without changed files, a count within the error is zero: requests in flight
    /// are counted elsewhere.
    pub fn writeback(&self) -> Bytes {
        if self.is_nothing() { Bytes::ZERO } else { self.writeback }
    }

    /// The largest error of the sum of both.
    pub fn error(&self) -> Bytes {
        if self.is_nothing() { Bytes::ZERO } else { self.error }
    }

    fn is_nothing(&self) -> bool {
        self.files == Some(0) && self.writeback <= self.error
    }
}

/// Whether the kernel writes back per control group, because it counts memory per group (cgroup v2).
fn writes_for_groups(roots: &Roots) -> bool {
    let path = roots.sysfs.join("fs/cgroup/cgroup.subtree_control");
    let groups = read_start(&path, 4096).unwrap_or_default();
    String::from_utf8_lossy(&groups).split_whitespace().any(|counted| counted == "memory")
}

/// The number of possible processors, from a list such as `0-7`; 1 if it cannot be read.
fn processors(roots: &Roots) -> u64 {
    let list = read_start(&roots.sysfs.join("devices/system/cpu/possible"), 4096).unwrap_or_default();
    let text = String::from_utf8_lossy(&list);
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u64>().ok());
    last.map_or(1, |last| last.saturating_add(1))
}

/// The largest error of the sum of the kernel's two counts, in pages. Each processor keeps up to one batch
/// of each count to itself (include/linux/backing-dev-defs.h: `WB_STAT_BATCH` is 8 x (1 + log2 of the
/// number of processors)).
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
    fn incomplete_statistics_are_rejected() {
        let statistics = WritebackStatistics::parse(STATS, Bytes::kib(256)).unwrap();
        assert_eq!(
            (statistics.dirty(), statistics.writeback(), statistics.error()),
            (Bytes::mib(4), Bytes::kib(128), Bytes::kib(256))
        );
        assert_eq!(statistics.files, Some(3));
        assert_eq!(WritebackStatistics::parse("BdiWriteback: 128 kB\n", Bytes::ZERO), None);
    }

    #[test]
    fn count_within_the_error_is_zero_when_no_file_has_changed() {
        let clean = STATS.replace("b_dirty:  2", "b_dirty: 0").replace("b_io:  1", "b_io: 0");
        let statistics = |error| WritebackStatistics::parse(&clean, error).unwrap();
        let figures = |statistics: WritebackStatistics| {
            (statistics.dirty(), statistics.writeback(), statistics.error())
        };
        assert_eq!(figures(statistics(Bytes::kib(128))), (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO));
        let more = figures(statistics(Bytes::kib(127)));
        assert_eq!(more, (Bytes::ZERO, Bytes::kib(128), Bytes::kib(127)), "above the error");
    }

    #[test]
    fn error_is_one_batch_per_processor_and_count() {
        assert_eq!([1, 2, 8].map(error_pages), [16, 64, 512]);
    }
}
