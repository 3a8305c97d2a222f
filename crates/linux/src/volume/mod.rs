//! What is on a partition: the filesystem, and where its data begins.
//!
//! Three sources, the best first: the filesystem's own head, where one may read it; the list of mounts; udev's database. The
//! last two need no permission and know nothing of clusters.

mod exfat;
mod ext;
mod fat;
mod field;
mod udev;

use std::path::PathBuf;

use flashscope_device::Bytes;

use crate::mounts::Mount;
use crate::roots::Roots;
use crate::sysfs::read_within;

/// So much of a partition's start holds the head of every filesystem that is looked for.
const HEAD_BYTES: u64 = 4096;

/// A filesystem. All texts are printable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filesystem {
    /// Its kind as the kernel calls it, e.g. `vfat`.
    pub kind: String,
    /// The name its owner gave it.
    pub label: Option<String>,
    /// The unit in which it gives space to files: cluster or block.
    pub cluster: Option<Bytes>,
    /// Where its first cluster begins, from the start of the partition.
    pub data_start: Option<Bytes>,
}

impl Filesystem {
    /// What is on the disk or partition called `name`, with the device number `device`, mounted as `mount`.
    pub fn on(name: &str, device: Option<&str>, mount: Option<&Mount>, roots: &Roots) -> Option<Self> {
        let told = device.and_then(|device| udev::filesystem(&roots.udev, device));
        let of = |devices: &PathBuf| read_within(devices, &devices.join(name.replace('!', "/")), HEAD_BYTES);
        let head = roots.devices.as_ref().and_then(of);
        let seen = head.as_deref().and_then(Self::from_head);
        // A filesystem in user space is mounted as `fuseblk`, whatever it is.
        let mount = mount.filter(|mount| told.is_none() || mount.filesystem != "fuseblk");
        let mounted = mount.map(|mount| Self { kind: mount.filesystem.clone(), ..Self::default() });
        let label = told.as_ref().and_then(|told| told.label.clone());
        let mut known = seen.or(mounted).or(told)?;
        known.label = known.label.or(label);
        Some(known)
    }

    /// The alignment of its first cluster on the disk, if the partition starts at `start`.
    #[must_use]
    pub fn data_alignment(&self, start: Bytes) -> Option<Bytes> {
        let data = start.get().checked_add(self.data_start?.get())?;
        Some(alignment(Bytes::new(data)))
    }

    /// From the first bytes of a partition.
    fn from_head(head: &[u8]) -> Option<Self> {
        exfat::parse(head).or_else(|| fat::parse(head)).or_else(|| ext::parse(head))
    }
}

/// The largest power of two, up to 64 MiB, that `offset` is a multiple of.
#[must_use]
pub fn alignment(offset: Bytes) -> Bytes {
    let most = Bytes::mib(64);
    if offset.is_zero() { most } else { Bytes::new(1 << offset.get().trailing_zeros()).min(most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignment_is_the_largest_power_of_two() {
        let aligned = |bytes| alignment(Bytes::new(bytes));
        assert_eq!(aligned(63 * 512), Bytes::new(512));
        assert_eq!(aligned(1 << 20), Bytes::mib(1));
        assert_eq!(aligned(12 << 20), Bytes::mib(4));
        assert_eq!((aligned(0), aligned(1 << 40)), (Bytes::mib(64), Bytes::mib(64)));
    }

    #[test]
    fn rubbish_is_no_filesystem() {
        for head in [&[][..], &[0; 4096], &[0xff; 4096], &[0x55; 511]] {
            assert_eq!(Filesystem::from_head(head), None);
        }
    }
}
