//! The kernel's limits of how much written data may wait in memory: of one disk
//! (`/sys/class/bdi/NUMBER/max_bytes` and `strict_limit`, Linux 6.2), and of all (`/proc/sys/vm`).

use flashscope_device::Bytes;

use super::pending_writes::kilobytes;
use crate::disk::Disk;
use crate::roots::Roots;
use crate::sysfs::{Sysfs, read_start};

/// The limit for reading `/proc/meminfo`, which has about 1.5 KiB.
const MEMINFO_BYTES_MAX: u64 = 64 << 10;

/// The limits as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritebackLimits {
    /// The limit of the disk alone; `None` if the kernel has none.
    pub disk: Option<DiskWritebackLimit>,
    /// The data of all disks that may wait; `None` if that cannot be read.
    pub global: Option<Bytes>,
    /// `vm.dirty_ratio`, and `vm.dirty_background_ratio`: shares of the available memory, per cent. Zero if
    /// the limit is one of bytes.
    pub ratios: [u32; 2],
    /// `vm.dirty_bytes`, and `vm.dirty_background_bytes`; zero if the limit is a share.
    pub bytes: [Bytes; 2],
}

/// The limit of one disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskWritebackLimit {
    /// The device number, e.g. `8:16`.
    pub number: String,
    /// `max_bytes`.
    pub bytes_max: Bytes,
    /// Whether it holds even if little of all waiting data is this disk's.
    pub is_strict: bool,
}

impl WritebackLimits {
    /// The limits of `disk`. What cannot be read is left out.
    #[must_use]
    pub fn read(disk: &Disk, roots: &Roots) -> Self {
        let vm = |name: &str| {
            let text = read_start(&roots.proc.join("sys/vm").join(name), 64).ok()?;
            String::from_utf8_lossy(&text).trim().parse::<u64>().ok().filter(|number| *number < 1 << 60)
        };
        let bytes = ["dirty_bytes", "dirty_background_bytes"].map(|name| Bytes::new(vm(name).unwrap_or(0)));
        let ratios = ["dirty_ratio", "dirty_background_ratio"].map(|name| {
            vm(name).and_then(|ratio| u32::try_from(ratio).ok()).filter(|ratio| *ratio <= 100).unwrap_or(0)
        });
        let global = if bytes[0].is_zero() { share(ratios[0], roots) } else { Some(bytes[0]) };
        Self { disk: of_disk(disk, roots), global, ratios, bytes }
    }
}

/// The kernel's share of the available memory (Documentation/admin-guide/sysctl/vm.rst: free and reclaimable
/// pages).
fn share(ratio: u32, roots: &Roots) -> Option<Bytes> {
    let text = read_start(&roots.proc.join("meminfo"), MEMINFO_BYTES_MAX).ok()?;
    let available = kilobytes(&String::from_utf8_lossy(&text), "MemAvailable:")?;
    (ratio > 0).then(|| available / 100 * u64::from(ratio))
}

fn of_disk(disk: &Disk, roots: &Roots) -> Option<DiskWritebackLimit> {
    let sysfs = Sysfs::at(&roots.sysfs);
    let number = sysfs.disk(&disk.name)?.text("dev")?;
    let node = sysfs.node(&roots.sysfs.join("class/bdi").join(&number))?;
    let bytes_max = node.number("max_bytes").map(Bytes::new)?;
    let is_strict = node.number::<u32>("strict_limit")? != 0;
    Some(DiskWritebackLimit { number, bytes_max, is_strict })
}
