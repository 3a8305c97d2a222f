//! Reads the data in memory that is still to be written to a disk.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_record::activity::{BoundReason, PendingWrites};

use super::writeback_statistics::WritebackStatistics;
use crate::disk::Disk;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs, read_start};

/// The limit for reading `/proc/meminfo`, which has about 1.5 KiB.
const MEMINFO_BYTES_MAX: u64 = 64 << 10;

/// Reads the pending writes of the disk at `node`.
pub fn read(node: &Node, disk: &Disk, roots: &Roots) -> PendingWrites {
    counted(node, disk, roots).unwrap_or_else(|bound| {
        let text = read_start(&roots.proc.join("meminfo"), MEMINFO_BYTES_MAX).ok();
        let bytes = text.and_then(|text| meminfo_total(&String::from_utf8_lossy(&text)));
        bytes.map_or(PendingWrites::Unknown, |bytes| PendingWrites::AtMost(bytes, bound))
    })
}

/// Why a debugfs directory cannot be seen. Its mount point is empty, and readable by all, until debugfs is
/// mounted.
fn hidden(sysfs: &Path) -> BoundReason {
    let is_empty = |mut directory: std::fs::ReadDir| directory.next().is_none();
    let is_mounted = !std::fs::read_dir(sysfs.join("kernel/debug")).is_ok_and(is_empty);
    if is_mounted { BoundReason::Hidden } else { BoundReason::NotMounted }
}

/// The sum over the disk and the other devices that its filesystems write through. Device mapper and btrfs
/// have writeback statistics of their own, under the device number in the list of mounts. If one cannot be
/// read, there is no sum.
fn counted(node: &Node, disk: &Disk, roots: &Roots) -> Result<PendingWrites, BoundReason> {
    let own = node.text("dev").ok_or(BoundReason::Hidden)?;
    let partitions: Vec<String> = node.children().iter().filter_map(|child| child.text("dev")).collect();
    let is_other_device = |device: &&str| *device != own && !partitions.iter().any(|own| own == device);
    let mut numbers: Vec<&str> =
        disk.mounts.iter().map(|mount| mount.device.as_str()).filter(is_other_device).collect();
    numbers.push(&own);
    numbers.sort_unstable();
    numbers.dedup();
    let sysfs = Sysfs::at(&roots.sysfs);
    let statistics = numbers.into_iter().map(|number| {
        // An empty number (a plain list of mounts) would name the parent directory.
        let directory = roots.sysfs.join("kernel/debug/bdi").join(number);
        let directory =
            sysfs.node(&directory).filter(|_| !number.is_empty()).ok_or_else(|| hidden(&roots.sysfs))?;
        WritebackStatistics::read(&directory, roots)
    });
    let statistics = statistics.collect::<Result<Vec<_>, BoundReason>>()?;
    let sum = |part: fn(&WritebackStatistics) -> Bytes| {
        statistics.iter().map(part).fold(Bytes::ZERO, |all, one| all + one)
    };
    Ok(PendingWrites::Counted {
        dirty: sum(WritebackStatistics::dirty),
        writeback: sum(WritebackStatistics::writeback),
        error: sum(WritebackStatistics::error),
    })
}

/// The sum of `Dirty` and `Writeback` in `/proc/meminfo` (proc_meminfo(5)).
fn meminfo_total(text: &str) -> Option<Bytes> {
    Some(kilobytes(text, "Dirty:")? + kilobytes(text, "Writeback:")?)
}

/// The number after `name`; the kernel's kB are KiB.
pub(super) fn kilobytes(text: &str, name: &str) -> Option<Bytes> {
    number(text, name)?.checked_mul(1024).filter(|bytes| *bytes < 1 << 60).map(Bytes::new)
}

/// The number after `name`.
pub(super) fn number(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_debugfs_directory_means_not_mounted() {
        let sysfs = tempfile::tempdir().unwrap();
        assert_eq!(hidden(sysfs.path()), BoundReason::Hidden, "no such directory");
        std::fs::create_dir_all(sysfs.path().join("kernel/debug")).unwrap();
        assert_eq!(hidden(sysfs.path()), BoundReason::NotMounted);
        std::fs::create_dir(sysfs.path().join("kernel/debug/bdi")).unwrap();
        assert_eq!(hidden(sysfs.path()), BoundReason::Hidden, "mounted, without this disk");
    }

    #[test]
    fn incomplete_meminfo_is_rejected() {
        let meminfo =
            "MemTotal: 9 kB\nDirty:              1024 kB\nWriteback:            0 kB\nWritebackTmp: 7 kB\n";
        assert_eq!(meminfo_total(meminfo), Some(Bytes::mib(1)));
        assert_eq!(meminfo_total("Dirty: many kB\nWriteback: 0 kB\n"), None);
        assert_eq!(meminfo_total(&format!("Dirty: {} kB\nWriteback: 0 kB\n", u64::MAX)), None);
    }
}
