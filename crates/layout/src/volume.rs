//! Volumes on a medium, and as a run file stores them.

use flashscope_device::Bytes;
use flashscope_record::attachment::Volume;

use crate::filesystem::FilesystemKind;
use crate::head::{ExtVersion, Head};
use crate::present::PresentVolume;

impl PresentVolume {
    /// What a run file stores of it, under this name.
    #[must_use]
    pub fn to_record(&self, name: String) -> Volume {
        let head = self.head.as_ref();
        Volume {
            name,
            start: self.start,
            data_start: head.map(|head| head.data_start),
            size: Some(self.size),
            filesystem: head.map(|head| head.name().to_owned()),
            cluster: head.map(|head| head.cluster),
            group: head.and_then(|head| head.group),
            stripe: head.and_then(|head| head.stripe),
            has_journal: head.and_then(|head| head.has_journal),
            mount_point: None,
            mount_options: Vec::new(),
        }
    }
}

impl From<&Volume> for PresentVolume {
    /// The filesystem counts only if its head was read: its name alone does not show where its data starts.
    fn from(volume: &Volume) -> Self {
        Self {
            number: number(volume),
            start: volume.start,
            size: volume.size.unwrap_or_default(),
            head: head(volume),
            signature: None,
        }
    }
}

/// The digits at the end of its name; a volume at the very start is the whole medium.
fn number(volume: &Volume) -> Option<u32> {
    let letters = volume.name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    volume.name.get(letters.len()..)?.parse().ok().filter(|_| volume.start > Bytes::ZERO)
}

fn head(volume: &Volume) -> Option<Head> {
    let (kind, ext) = kind(volume.filesystem.as_deref()?)?;
    Some(Head {
        kind,
        ext,
        label: None,
        cluster: volume.cluster?,
        data_start: volume.data_start?,
        group: volume.group,
        stripe: volume.stripe,
        has_journal: volume.has_journal,
        size: None,
    })
}

/// The kind of a filesystem with this name of the kernel.
fn kind(name: &str) -> Option<(FilesystemKind, Option<ExtVersion>)> {
    let ext = ExtVersion::ALL.into_iter().find(|version| version.as_str() == name);
    let kind = if ext.is_some() { Some(FilesystemKind::Ext4) } else { name.parse().ok() };
    Some((kind?, ext))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::Alignment;

    /// A FAT partition at sector 63, whose data area starts at 4 MiB.
    fn fat() -> Volume {
        Volume {
            name: "sdb1".to_owned(),
            start: Bytes::new(63 * 512),
            data_start: Some(Bytes::mib(4) - Bytes::new(63 * 512)),
            size: Some(Bytes::gib(1)),
            filesystem: Some("vfat".to_owned()),
            cluster: Some(Bytes::kib(32)),
            ..Volume::default()
        }
    }

    #[test]
    fn a_stored_volume_is_judged_like_the_one_on_the_medium() {
        let volume = PresentVolume::from(&fat());
        assert_eq!((volume.number, volume.alignment(Bytes::mib(4))), (Some(1), Alignment::DataAreaOnly));
        assert_eq!(volume.alignment(Bytes::mib(8)), Alignment::DataAreaOff { by: Bytes::mib(4) });
        assert_eq!(volume.to_record("sdb1".to_owned()), fat());
    }

    #[test]
    fn a_filesystem_known_by_name_only_leaves_the_start() {
        let volume = Volume { data_start: None, start: Bytes::mib(4), ..fat() };
        assert_eq!(PresentVolume::from(&volume).alignment(Bytes::mib(4)), Alignment::StartOnly);
        let unknown = Volume { filesystem: Some("hfsplus".to_owned()), ..fat() };
        assert_eq!(PresentVolume::from(&unknown).head, None);
    }

    #[test]
    fn versions_of_ext_keep_their_name() {
        let ext3 = Volume { filesystem: Some("ext3".to_owned()), has_journal: Some(true), ..fat() };
        let volume = PresentVolume::from(&ext3);
        assert_eq!(volume.head.as_ref().map(Head::name), Some("ext3"));
        assert_eq!(volume.to_record("sdb1".to_owned()), ext3);
    }

    #[test]
    fn a_filesystem_on_the_whole_medium_has_no_number() {
        let whole = Volume { name: "mmcblk0".to_owned(), start: Bytes::ZERO, ..fat() };
        assert_eq!(PresentVolume::from(&whole).number, None);
    }
}
