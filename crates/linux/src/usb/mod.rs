//! What USB says of a device: its numbers, its link, what it could do, and the way to it.

mod ability;
mod bos;
mod descriptors;
mod way;

pub use ability::{Ability, Unknown};
pub use way::{Brake, Hub, Way};

use flashscope_device::Bytes;

use crate::sysfs::Node;
use descriptors::Transports;

/// What USB says of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Usb {
    /// The maker's number.
    pub vendor_id: u32,
    /// The maker's number for the product.
    pub product_id: u32,
    /// The speed of the link as it is now, Mbit/s: 1.5, 12, 480, 5000, 10000, 20000.
    pub link_mbit_per_s: Option<f64>,
    /// The USB version the device names on this link, e.g. `2.10`.
    pub version: Option<String>,
    /// The driver: `usb-storage` takes one command at a time, `uas` several.
    pub driver: Option<String>,
    /// Whether the device also speaks UAS, as its descriptors have it.
    pub offers_uas: Option<bool>,
    /// What the device could do, wherever it is plugged in.
    pub ability: Option<Ability>,
    /// How it hangs on the machine.
    pub way: Way,
    /// What keeps the link below what the device could do, if anything does.
    pub brake: Option<Brake>,
}

impl Usb {
    /// Whether the link is slower than the device; `None` where one of them is unknown.
    #[must_use]
    pub fn is_held_back(&self) -> Option<bool> {
        let (link, ability) = (self.link_mbit_per_s?, self.ability.as_ref()?);
        match ability {
            _ if ability.at_least_mbit_per_s() > link => Some(true),
            Ability::Known { .. } => Some(false),
            Ability::AtLeast { .. } => None,
        }
    }
}

impl Usb {
    /// The most bytes a second that the link carries, all overhead but that of its packets left out; `None` for a speed that
    /// no storage uses.
    ///
    /// USB 2.0 specification, 5.8.4: at full speed 19 packets of 64 bytes in a frame of 1 ms, at high speed 13 of 512 in a
    /// microframe of 125 µs. USB 3.2 specification, 6.3: 8 of 10 bits are data at 5 Gbit/s, 128 of 132 above.
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

/// What USB says of the device at `device`, whose interface is at `interface`.
pub fn read(device: &Node, interface: Option<&Node>) -> Option<Usb> {
    let link_mbit_per_s = device.number("speed").filter(|speed: &f64| speed.is_finite() && *speed > 0.0);
    let ability = link_mbit_per_s.map(|link| Ability::of(device, link));
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
        ability,
        way: Way::to(device),
        brake: None,
    };
    if let Some(link) = link_mbit_per_s.filter(|_| usb.is_held_back() == Some(true)) {
        usb.brake = Some(Brake::of(device, &usb.way, link));
    }
    Some(usb)
}
