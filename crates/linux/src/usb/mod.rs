//! What USB says of a device: its numbers, its link, what it could do, and the way to it.

mod ability;
mod bos;
mod descriptors;
mod way;

pub use ability::{Ability, Unknown};
pub use way::{Brake, Hub, Way};

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
