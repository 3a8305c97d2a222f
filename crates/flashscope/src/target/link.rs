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
