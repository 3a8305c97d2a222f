//! What waits in memory to be written to a disk.

use std::path::Path;

use flashscope_device::Bytes;

use super::books::Book;
use crate::disk::Disk;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs, read_start};

/// `/proc/meminfo` is some 1.5 KiB.
const MEMINFO_BYTES_MAX: u64 = 64 << 10;

/// Data that programs have written and the disk has not got yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// For this disk alone, as debugfs counts it.
    Counted {
        /// Not yet on its way.
        dirty: Bytes,
        /// On its way to the disk.
        writeback: Bytes,
        /// The kernel counts on each processor and adds up now and then: so far the sum of both may be off. Zero where it is
        /// certain that nothing waits.
        error: Bytes,
    },
    /// For all disks of the machine together, from `/proc/meminfo`: this disk's share is no more than that.
    AtMost(Bytes, Bound),
    /// Neither can be read.
    Unknown,
}

/// Why there is only a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// debugfs cannot be read; root can.
    Hidden,
    /// debugfs is not mounted, so that nobody can read it.
    NotMounted,
    /// The kernel writes for groups of processes apart, and counts here only what belongs to none (before Linux 6.10).
    Groups,
}

impl Waiting {
    /// How much it is, or at most is.
    #[must_use]
    pub fn bytes_max(self) -> Option<Bytes> {
        match self {
            Self::Counted { dirty, writeback, .. } => Some(dirty + writeback),
            Self::AtMost(bytes, _) => Some(bytes),
            Self::Unknown => None,
        }
    }

    /// How far that may be off, up or down.
    #[must_use]
    pub const fn error(self) -> Bytes {
        match self {
            Self::Counted { error, .. } => error,
            Self::AtMost(..) | Self::Unknown => Bytes::ZERO,
        }
    }

    /// Whether it is certain that nothing waits.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        match self {
            Self::Counted { dirty, writeback, error } => {
                [dirty, writeback, error].iter().all(|bytes| bytes.is_zero())
            }
            Self::AtMost(bytes, _) => bytes.is_zero(),
            Self::Unknown => false,
        }
    }

    /// Whether what waits is so little that the count cannot tell it from nothing.
    #[must_use]
    pub fn is_next_to_nothing(self) -> bool {
        matches!(self, Self::Counted { dirty, writeback, error } if dirty + writeback <= error)
    }

    /// Whether it is certain that data is on its way to the disk.
    pub(super) fn is_on_its_way(self) -> bool {
        matches!(self, Self::Counted { writeback, error, .. } if writeback > error)
    }

    /// What waits for the disk at `node`.
    pub(super) fn read(node: &Node, disk: &Disk, roots: &Roots) -> Self {
        counted(node, disk, roots).unwrap_or_else(|bound| {
            let text = read_start(&roots.proc.join("meminfo"), MEMINFO_BYTES_MAX).ok();
            let bytes = text.and_then(|text| in_all(&String::from_utf8_lossy(&text)));
            bytes.map_or(Self::Unknown, |bytes| Self::AtMost(bytes, bound))
        })
    }
}

/// Why a folder of debugfs is not seen. Its place is empty, and open to all, as long as it is not mounted.
fn hidden(sysfs: &Path) -> Bound {
    let is_empty = |mut place: std::fs::ReadDir| place.next().is_none();
    let is_mounted = !std::fs::read_dir(sysfs.join("kernel/debug")).is_ok_and(is_empty);
    if is_mounted { Bound::Hidden } else { Bound::NotMounted }
}

/// Summed over the disk and whatever else a filesystem on it writes through: device mapper and btrfs keep books of their
/// own, under the number that the list of mounts shows. If one of them cannot be read, the sum would promise too much.
fn counted(node: &Node, disk: &Disk, roots: &Roots) -> Result<Waiting, Bound> {
    let own = node.text("dev").ok_or(Bound::Hidden)?;
    let partitions: Vec<String> = node.children().iter().filter_map(|child| child.text("dev")).collect();
    let is_elsewhere = |device: &&str| *device != own && !partitions.iter().any(|own| own == device);
    let mut numbers: Vec<&str> =
        disk.mounts.iter().map(|mount| mount.device.as_str()).filter(is_elsewhere).collect();
    numbers.push(&own);
    numbers.sort_unstable();
    numbers.dedup();
    let sysfs = Sysfs::at(&roots.sysfs);
    let books = numbers.into_iter().map(|number| {
        // An empty number (a plain list of mounts) would name the directory above.
        let place = roots.sysfs.join("kernel/debug/bdi").join(number);
        let folder = sysfs.node(&place).filter(|_| !number.is_empty()).ok_or_else(|| hidden(&roots.sysfs))?;
        Book::read(&folder, roots)
    });
    let books = books.collect::<Result<Vec<_>, Bound>>()?;
    let sum = |part: fn(&Book) -> Bytes| books.iter().map(part).fold(Bytes::ZERO, |all, one| all + one);
    Ok(Waiting::Counted { dirty: sum(Book::dirty), writeback: sum(Book::writeback), error: sum(Book::error) })
}

/// `Dirty` and `Writeback` of `/proc/meminfo` (proc_meminfo(5)).
fn in_all(text: &str) -> Option<Bytes> {
    Some(kilobytes(text, "Dirty:")? + kilobytes(text, "Writeback:")?)
}

/// The number behind `name`; the kernel's kB are KiB.
pub(super) fn kilobytes(text: &str, name: &str) -> Option<Bytes> {
    number(text, name)?.checked_mul(1024).filter(|bytes| *bytes < 1 << 60).map(Bytes::new)
}

/// The number behind `name`.
pub(super) fn number(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_place_of_debugfs_is_one_that_is_not_mounted() {
        let sysfs = tempfile::tempdir().unwrap();
        assert_eq!(hidden(sysfs.path()), Bound::Hidden, "no such place");
        std::fs::create_dir_all(sysfs.path().join("kernel/debug")).unwrap();
        assert_eq!(hidden(sysfs.path()), Bound::NotMounted);
        std::fs::create_dir(sysfs.path().join("kernel/debug/bdi")).unwrap();
        assert_eq!(hidden(sysfs.path()), Bound::Hidden, "of another disk");
    }

    #[test]
    fn memory_is_read_and_half_of_it_is_none() {
        let meminfo =
            "MemTotal: 9 kB\nDirty:              1024 kB\nWriteback:            0 kB\nWritebackTmp: 7 kB\n";
        assert_eq!(in_all(meminfo), Some(Bytes::mib(1)));
        assert_eq!(in_all("Dirty: many kB\nWriteback: 0 kB\n"), None);
        assert_eq!(in_all(&format!("Dirty: {} kB\nWriteback: 0 kB\n", u64::MAX)), None);
    }

    #[test]
    fn only_a_count_that_cannot_be_off_is_nothing() {
        let counted = |writeback, error| Waiting::Counted { dirty: Bytes::ZERO, writeback, error };
        assert!(counted(Bytes::ZERO, Bytes::ZERO).is_nothing());
        assert!(!counted(Bytes::ZERO, Bytes::kib(64)).is_nothing());
        assert!(counted(Bytes::kib(65), Bytes::kib(64)).is_on_its_way());
        assert!(
            !counted(Bytes::kib(64), Bytes::kib(64)).is_on_its_way(),
            "what is left of a count that is off"
        );
    }
}
