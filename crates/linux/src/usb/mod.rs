//! The USB properties of a device: ids, link, capability, and the path to it.

mod bos;
mod capability;
mod descriptors;
mod path;

pub use capability::{Capability, UnknownReason};
pub use path::{Hub, LinkLimit, UsbPath};

use flashscope_device::Bytes;

use crate::sysfs::Node;
use descriptors::Transports;

/// The USB properties of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Usb {
    /// The vendor id.
    pub vendor_id: u32,
    /// The product id.
    pub product_id: u32,
    /// The current link speed, Mbit/s: 1.5, 12, 480, 5000, 10000, 20000.
    pub link_mbit_per_s: Option<f64>,
    /// The USB version that the device reports on this link, e.g. `2.10`.
    pub version: Option<String>,
    /// The driver: `usb-storage` runs one command at a time, `uas` queues them.
    pub driver: Option<String>,
    /// Whether the device supports UAS, by its descriptors.
    pub offers_uas: Option<bool>,
    /// The speed capability of the device, on any port.
    pub capability: Option<Capability>,
    /// The path from the machine to the device.
    pub path: UsbPath,
    /// What limits the link below the device's capability, if anything does.
    pub link_limit: Option<LinkLimit>,
}

impl Usb {
    /// Whether the link is slower than the device's capability; `None` if that is unknown.
    #[must_use]
    pub fn is_held_back(&self) -> Option<bool> {
        let (link, capability) = (self.link_mbit_per_s?, self.capability.as_ref()?);
        match capability {
            _ if capability.at_least_mbit_per_s() > link => Some(true),
            Capability::Exact { .. } => Some(false),
            Capability::AtLeast { .. } => None,
        }
    }
}

impl Usb {
    /// The largest payload of the link, bytes per second, after packet overhead only; `None` for a speed
    /// that no storage uses.
    ///
    /// USB 2.0 specification, 5.8.4: at full speed 19 packets of 64 bytes per frame of 1 ms, at high speed
    /// 13 packets of 512 bytes per microframe of 125 µs. USB 3.2 specification, 6.3: 8 of 10 bits are data
    /// at 5 Gbit/s, 128 of 132 above.
    #[must_use]
    pub fn carries_per_s(&self) -> Option<Bytes> {
        const CARRIES_PER_S: [(f64, u64); 5] = [
            (12.0, 1_216_000),
            (480.0, 53_248_000),
            (5000.0, 500_000_000),
            (10_000.0, 1_212_121_212),
            (20_000.0, 2_424_242_424),
        ];
        let link = self.link_mbit_per_s?;
        let known = CARRIES_PER_S.iter().find(|(mbit, _)| (mbit - link).abs() < 0.5);
        known.map(|(_, bytes)| Bytes::new(*bytes))
    }
}

/// Reads the USB properties of the device at `device`, whose interface is at `interface`.
pub fn read(device: &Node, interface: Option<&Node>) -> Option<Usb> {
    let link_mbit_per_s = device.number("speed").filter(|speed: &f64| speed.is_finite() && *speed > 0.0);
    let capability = link_mbit_per_s.map(|link| Capability::of(device, link));
    let mut usb = Usb {
        vendor_id: device.hexadecimal("idVendor")?,
        product_id: device.hexadecimal("idProduct")?,
        link_mbit_per_s,
        version: device.text("version"),
        driver: interface.and_then(|interface| interface.below("driver")).map(|driver| driver.name()),
        offers_uas: device
            .bytes("descriptors")
            .and_then(|bytes| Transports::parse(&bytes))
            .map(|offers| offers.uas),
        capability,
        path: UsbPath::to(device),
        link_limit: None,
    };
    if let Some(link) = link_mbit_per_s.filter(|_| usb.is_held_back() == Some(true)) {
        usb.link_limit = Some(LinkLimit::of(device, &usb.path, link));
    }
    Some(usb)
}
