//! The path between this machine and a target.

use std::path::Path;

use flashscope_linux::{Identity, Roots, copy_speed, identify};
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::LinkLimit;

use super::attachment;

/// How a target is attached that is measured without opening it as a device.
pub struct Plugged {
    /// One line for people; empty if nothing is known.
    pub name: String,
    /// How it is attached, as far as known.
    pub attachment: Attachment,
    /// The speed limit of the path to it.
    pub link: LinkLimit,
}

/// How the disk, partition or image file at `path` is attached.
pub fn plugged(path: &Path) -> Plugged {
    let identity = identify(path, &Roots::default());
    let is_known = identity.disk.is_some() || path.is_file();
    Plugged {
        attachment: attachment::of_real(&identity),
        link: link(&identity).unwrap_or_else(memory),
        name: if is_known { identity.name } else { String::new() },
    }
}

/// The speed limit of the USB link, if known.
pub fn link(identity: &Identity) -> Option<LinkLimit> {
    let usb = identity.disk.as_ref()?.usb.as_ref()?;
    let name = format!("USB at {} Mbit/s", usb.link_mbit_per_s?);
    Some(LinkLimit { bytes_per_s: usb.carries_per_s()?, name })
}

/// The speed limit of every target: how fast this machine copies memory. Measured here, in a few
/// milliseconds.
pub fn memory() -> LinkLimit {
    LinkLimit { bytes_per_s: copy_speed(), name: "this machine's memory".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_a_name_and_what_is_neither_file_nor_disk_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stick.img");
        std::fs::write(&file, [7; 4096]).unwrap();
        assert_eq!(plugged(&file).name, "image file stick.img, 4 KiB");
        // What a filesystem in memory or of another machine is mounted from leads to no file.
        for no_file in [folder.path(), Path::new("/nonexistent")] {
            assert_eq!(plugged(no_file).name, "", "{}", no_file.display());
        }
    }
}
