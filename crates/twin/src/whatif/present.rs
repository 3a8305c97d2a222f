//! The layout that a run found on the stick.

use flashscope_infer::trials::forecast::Layout;
use flashscope_record::attachment::Volume;
use flashscope_record::run_file::RunFile;

/// The layout of the largest volume, by the name of its filesystem in recordings; `None` if the run knows no
/// filesystem.
#[must_use]
pub fn present(run: &RunFile) -> Option<Layout> {
    let volume = run.attachment.largest_volume()?;
    Some(Layout { variant: variant(volume)?, start: volume.start })
}

/// The name of a filesystem with its options.
fn variant(volume: &Volume) -> Option<String> {
    let name = volume.filesystem.as_deref()?;
    let has = |option: &str| volume.mount_options.iter().any(|each| each == option);
    let name = match name {
        "vfat" | "msdos" if has("flush") => "vfat-flush",
        "msdos" => "vfat",
        "fuseblk" | "ntfs3" => "ntfs",
        "ext4" if volume.has_journal == Some(false) => "ext4-nojournal",
        "ext4" if volume.stripe.is_some_and(|stripe| !stripe.is_zero()) => "ext4-stripe",
        name => name,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;

    fn volume(filesystem: &str) -> Volume {
        Volume {
            name: "sdb1".to_owned(),
            start: Bytes::mib(1),
            data_start: None,
            size: Some(Bytes::gib(1)),
            filesystem: Some(filesystem.to_owned()),
            cluster: None,
            group: None,
            stripe: None,
            has_journal: None,
            mount_options: Vec::new(),
            mount_point: None,
        }
    }

    #[test]
    fn options_of_a_filesystem_are_part_of_its_name() {
        let name = |volume: Volume| variant(&volume).unwrap();
        assert_eq!(name(volume("vfat")), "vfat");
        let flush = vec!["rw".to_owned(), "flush".to_owned()];
        assert_eq!(name(Volume { mount_options: flush, ..volume("vfat") }), "vfat-flush");
        let stripe = Volume { stripe: Some(Bytes::mib(4)), ..volume("ext4") };
        assert_eq!(name(Volume { has_journal: Some(false), ..stripe.clone() }), "ext4-nojournal");
        assert_eq!(name(stripe), "ext4-stripe");
        assert_eq!(name(Volume { stripe: Some(Bytes::ZERO), ..volume("ext4") }), "ext4");
        assert_eq!(name(volume("fuseblk")), "ntfs");
    }
}
