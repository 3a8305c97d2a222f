//! QEMU's arguments for the sticks of the machine.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::bail;
use flashscope_device::Bytes;

/// The speed of a stick's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// 12 Mbit/s.
    Full,
    /// 480 Mbit/s.
    High,
    /// 5000 Mbit/s.
    Super,
}

impl FromStr for Link {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "12" => Ok(Self::Full),
            "480" => Ok(Self::High),
            "5000" => Ok(Self::Super),
            _ => Err("the link must be 5000, 480 or 12 Mbit/s".to_owned()),
        }
    }
}

impl Link {
    /// A host controller that has only ports of this speed, because a stick uses the fastest link of its
    /// port.
    const fn controller(self) -> &'static str {
        match self {
            Self::Full => "piix3-usb-uhci",
            Self::High => "qemu-xhci,p2=4,p3=0",
            Self::Super => "qemu-xhci,p2=4,p3=4",
        }
    }
}

impl Link {
    /// The largest request of the mass storage driver: 240 sectors, or 2048 at 5000 Mbit/s (Linux,
    /// drivers/usb/storage/scsiglue.c).
    pub const fn request_max(self) -> Bytes {
        match self {
            Self::Full | Self::High => Bytes::kib(120),
            Self::Super => Bytes::mib(1),
        }
    }
}

/// For each link, a controller and a stick over the image with the same index.
pub fn arguments(links: &[Link], uas: bool, images: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    if uas && links.contains(&Link::Full) {
        bail!("UAS needs a link of at least 480 Mbit/s; leave out --uas or --link 12");
    }
    let each = links.iter().zip(images).enumerate();
    Ok(each.flat_map(|(number, (link, image))| stick(number, *link, uas, image)).collect())
}

fn stick(number: usize, link: Link, uas: bool, image: &Path) -> Vec<String> {
    let image = image.display();
    let mut arguments = vec![
        ("-device", format!("{},id=usb{number}", link.controller())),
        ("-drive", format!("if=none,id=image{number},format=raw,file={image}")),
    ];
    let serial = format!("LAB{number}");
    if uas {
        arguments.push(("-device", format!("usb-uas,id=uas{number},bus=usb{number}.0")));
        arguments.push(("-device", format!("scsi-hd,bus=uas{number}.0,drive=image{number},serial={serial}")));
    } else {
        let stick = format!("usb-storage,bus=usb{number}.0,drive=image{number},serial={serial},removable=on");
        arguments.push(("-device", stick));
    }
    arguments.into_iter().flat_map(|(option, value)| [option.to_owned(), value]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stick_has_its_own_controller_and_image() {
        let images = ["/a.img", "/b.img"].map(PathBuf::from);
        let text = arguments(&[Link::Super, Link::Full], false, &images).unwrap().join(" ");
        for part in ["qemu-xhci,p2=4,p3=4,id=usb0", "piix3-usb-uhci,id=usb1", "drive=image1", "file=/b.img"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(arguments(&[Link::High], true, &images).unwrap().join(" ").contains("usb-uas,id=uas0"));
        assert!(arguments(&[Link::Full], true, &images).unwrap_err().to_string().contains("480"));
        assert!("5000".parse::<Link>().is_ok() && "usb3".parse::<Link>().is_err());
    }
}
