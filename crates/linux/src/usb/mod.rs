//! The USB properties of a device: ids, link, capability, and the path to it.

mod bos;
mod capability;
mod descriptors;
mod path;
mod quirk;

pub use capability::{Capability, UnknownReason};
pub use path::{Hub, LinkLimit, UsbPath, VirtualBus};
pub use quirk::{Quirk, QuirkSource};

use flashscope_device::Bytes;

use crate::roots::Roots;
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
    /// The number of lanes in each direction: 2 on a link such as USB 3.2 Gen 1x2. `None` if sysfs does not
    /// show it.
    pub lanes: Option<u32>,
    /// The fastest link of the port, Mbit/s, if sysfs shows it.
    pub port_mbit_per_s: Option<f64>,
    /// The quirk that the user or a distribution set for this device, if there is one.
    pub quirk: Option<Quirk>,
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
    /// Whether the link is slower than the device's capability; `None` if that is unknown, and on a virtual
    /// bus, whose speed is made up.
    #[must_use]
    pub fn is_held_back(&self) -> Option<bool> {
        if self.path.virtual_bus.is_some() {
            return None;
        }
        let (link, capability) = (self.link_mbit_per_s?, self.capability.as_ref()?);
        match capability {
            _ if capability.at_least_mbit_per_s() > link => Some(true),
            Capability::Exact { .. } => Some(false),
            Capability::AtLeast { .. } => None,
        }
    }
}

impl Usb {
    /// Whether the device is slower than its port, although its capability is unknown: the link may have come
    /// up at a lower speed than both have.
    #[must_use]
    pub fn may_be_held_back(&self) -> bool {
        let is_faster = |port: f64| self.link_mbit_per_s.is_some_and(|link| link < port);
        self.is_held_back().is_none()
            && self.path.virtual_bus.is_none()
            && self.port_mbit_per_s.is_some_and(is_faster)
    }

    /// The largest payload of the link, bytes per second, after packet overhead only; `None` for a speed
    /// that no storage uses.
    ///
    /// USB 2.0 specification, 5.8.4: at full speed 19 packets of 64 bytes per frame of 1 ms, at high speed
    /// 13 packets of 512 bytes per microframe of 125 µs. USB 3.2 specification, 6.3: 8 of 10 bits are data
    /// at 5 Gbit/s, also on two lanes, 128 of 132 above. `None` as well on a virtual bus.
    #[must_use]
    pub fn carries_per_s(&self) -> Option<Bytes> {
        const CARRIES_PER_S: [(f64, u64); 5] = [
            (12.0, 1_216_000),
            (480.0, 53_248_000),
            (5000.0, 500_000_000),
            (10_000.0, 1_212_121_212),
            (20_000.0, 2_424_242_424),
        ];
        const TWO_LANES_OF_5000_PER_S: u64 = 1_000_000_000;
        let link = self.link_mbit_per_s.filter(|_| self.path.virtual_bus.is_none())?;
        if self.lanes == Some(2) && (link - 10_000.0).abs() < 0.5 {
            return Some(Bytes::new(TWO_LANES_OF_5000_PER_S));
        }
        let known = CARRIES_PER_S.iter().find(|(mbit, _)| (mbit - link).abs() < 0.5);
        known.map(|(_, bytes)| Bytes::new(*bytes))
    }
}

/// Whether a device offers UAS, by its descriptors; `None` if those are unreadable or of no storage.
pub fn offers_uas(device: &Node) -> Option<bool> {
    device.bytes("descriptors").and_then(|bytes| Transports::parse(&bytes)).map(|offers| offers.uas)
}

/// Reads the USB properties of the device at `device`, whose interface is at `interface`.
pub fn read(device: &Node, interface: Option<&Node>, roots: &Roots) -> Option<Usb> {
    let link_mbit_per_s = device.number("speed").filter(|speed: &f64| speed.is_finite() && *speed > 0.0);
    let capability = link_mbit_per_s.map(|link| Capability::of(device, link));
    let (vendor_id, product_id) = (device.hexadecimal("idVendor")?, device.hexadecimal("idProduct")?);
    let mut usb = Usb {
        vendor_id,
        product_id,
        link_mbit_per_s,
        lanes: device.number("rx_lanes").filter(|lanes| (1..=2).contains(lanes)),
        port_mbit_per_s: path::port_mbit_per_s(device).filter(|speed| speed.is_finite() && *speed > 0.0),
        quirk: Quirk::of(vendor_id, product_id, roots),
        version: device.text("version"),
        driver: interface.and_then(|interface| interface.below("driver")).map(|driver| driver.name()),
        offers_uas: offers_uas(device),
        capability,
        path: UsbPath::to(device),
        link_limit: None,
    };
    if let Some(link) = link_mbit_per_s.filter(|_| usb.is_held_back() == Some(true)) {
        usb.link_limit = Some(LinkLimit::of(device, &usb.path, link));
    }
    Some(usb)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device on this link, Mbit/s, with this number of lanes.
    fn on_link(link: f64, lanes: Option<u32>) -> Usb {
        Usb {
            vendor_id: 0x0781,
            product_id: 0x5583,
            link_mbit_per_s: Some(link),
            lanes,
            port_mbit_per_s: None,
            quirk: None,
            version: None,
            driver: None,
            offers_uas: None,
            capability: None,
            path: UsbPath::default(),
            link_limit: None,
        }
    }

    /// 10 Gbit/s are two lanes of 5 Gbit/s with 8 of 10 bits data, or one lane with 128 of 132.
    #[test]
    fn payload_of_a_link_depends_on_its_speed_and_lanes() {
        for (link, lanes, bytes) in [
            (1.5, None, None),
            (12.0, None, Some(1_216_000)),
            (480.0, Some(1), Some(53_248_000)),
            (5000.0, Some(1), Some(500_000_000)),
            (10_000.0, None, Some(1_212_121_212)),
            (10_000.0, Some(1), Some(1_212_121_212)),
            (10_000.0, Some(2), Some(1_000_000_000)),
            (20_000.0, Some(2), Some(2_424_242_424)),
        ] {
            let carried = on_link(link, lanes).carries_per_s();
            assert_eq!(carried, bytes.map(Bytes::new), "{link} Mbit/s, lanes: {lanes:?}");
        }
        let path = UsbPath { virtual_bus: Some(VirtualBus::Network), ..UsbPath::default() };
        assert_eq!(Usb { path, ..on_link(5000.0, Some(1)) }.carries_per_s(), None);
    }
}
