//! The filesystem on a partition, and where its data starts.
//!
//! Three sources, the best first: the filesystem's own head, where it may be read; the list of mounts;
//! udev's database. The last two need no permission and do not show the cluster size.

mod udev;

use std::path::PathBuf;

use flashscope_device::Bytes;
use flashscope_layout::head::{self, HEAD_BYTES, Head};

use crate::mounts::Mount;
use crate::printable::printable;
use crate::roots::Roots;
use crate::sysfs::read_within;

/// A filesystem. All texts are printable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filesystem {
    /// The kernel's name of the type, e.g. `vfat`.
    pub kind: String,
    /// The label.
    pub label: Option<String>,
    /// The allocation unit for files: cluster or block.
    pub cluster: Option<Bytes>,
    /// The offset of its first cluster in the partition.
    pub data_start: Option<Bytes>,
    /// The size of its groups or sections, if it has any.
    pub group: Option<Bytes>,
    /// The stripe that it was made for; zero for none. `None` if its kind has no stripe, or if it was not
    /// read.
    pub stripe: Option<Bytes>,
    /// Whether it keeps a journal, if it can have one.
    pub has_journal: Option<bool>,
}

impl Filesystem {
    /// Finds the filesystem on the disk or partition `name`, with the device number `device`, mounted as
    /// `mount`.
    pub fn on(name: &str, device: Option<&str>, mount: Option<&Mount>, roots: &Roots) -> Option<Self> {
        let from_udev = device.and_then(|device| udev::filesystem(&roots.udev, device));
        let of =
            |devices: &PathBuf| read_within(devices, &devices.join(name.replace('!', "/")), HEAD_BYTES.get());
        let head = roots.devices.as_ref().and_then(of);
        let from_disk = head.as_deref().and_then(Self::from_head);
        // A FUSE filesystem on a block device is mounted as `fuseblk`, whatever its type.
        let mount = mount.filter(|mount| from_udev.is_none() || mount.filesystem != "fuseblk");
        let mounted = mount.map(|mount| Self { kind: mount.filesystem.clone(), ..Self::default() });
        let label = from_udev.as_ref().and_then(|from_udev| from_udev.label.clone());
        let mut known = from_disk.or(mounted).or(from_udev)?;
        known.label = known.label.or(label);
        Some(known)
    }

    /// The alignment of its first cluster on the disk, if the partition starts at `start`.
    #[must_use]
    pub fn data_alignment(&self, start: Bytes) -> Option<Bytes> {
        let data = start.get().checked_add(self.data_start?.get())?;
        Some(alignment(Bytes::new(data)))
    }

    /// Parses the first bytes of a partition.
    fn from_head(head: &[u8]) -> Option<Self> {
        head::parse(head).as_ref().map(Self::from)
    }
}

impl From<&Head> for Filesystem {
    fn from(head: &Head) -> Self {
        Self {
            kind: head.name().to_owned(),
            label: head.label.as_deref().map(printable).filter(|label| !label.is_empty()),
            cluster: Some(head.cluster),
            data_start: Some(head.data_start),
            group: head.group,
            stripe: head.stripe,
            has_journal: head.has_journal,
        }
    }
}

/// The largest power of two, at most 64 MiB, that divides `offset`.
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
    fn head_gives_kernel_name_printable_label_and_group() {
        let mut head = vec![0; 4096];
        head[1024 + 0x38..][..2].copy_from_slice(&[0x53, 0xef]);
        (head[1024 + 0x18], head[1024 + 0x21], head[1024 + 0x5c]) = (2, 0x80, 4);
        head[1024 + 0x78..][..5].copy_from_slice(b"\x1b[31m");
        let found = Filesystem::from_head(&head).unwrap();
        assert_eq!((found.kind.as_str(), found.label.as_deref()), ("ext3", Some("\u{fffd}[31m")));
        assert_eq!((found.cluster, found.data_start), (Some(Bytes::kib(4)), Some(Bytes::ZERO)));
        let more = (found.group, found.stripe, found.has_journal);
        assert_eq!(more, (Some(Bytes::mib(128)), Some(Bytes::ZERO), Some(true)));
    }

    #[test]
    fn random_bytes_are_not_a_filesystem() {
        for head in [&[][..], &[0; 4096], &[0xff; 4096], &[0x55; 511]] {
            assert_eq!(Filesystem::from_head(head), None);
        }
    }
}
