//! The path from the machine to a USB device: bus, ports, hubs, and what limits its link speed.

use crate::sysfs::Node;

/// The path from the machine to a USB device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsbPath {
    /// The kernel's name of the device, e.g. `1-2.4`: bus 1, its port 2, port 4 of the hub there.
    pub name: String,
    /// The bus number.
    pub bus: Option<u32>,
    /// The device number, which changes each time the device is plugged in.
    pub number: Option<u32>,
    /// The port numbers, from the machine to the device.
    pub ports: Vec<u32>,
    /// The hubs, from the machine to the device; empty if it is plugged into the machine itself.
    pub hubs: Vec<Hub>,
    /// The driver of the bus, if the bus is no hardware of this machine.
    pub virtual_bus: Option<VirtualBus>,
}

/// A bus that a driver makes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VirtualBus {
    /// USB/IP (`vhci_hcd`): the device is plugged into another machine, and the network is the link.
    Network,
    /// A gadget of this machine (`dummy_hcd`): memory is the link.
    Gadget,
}

impl VirtualBus {
    /// The kernel's name of the driver.
    #[must_use]
    pub const fn driver(self) -> &'static str {
        match self {
            Self::Network => "vhci_hcd",
            Self::Gadget => "dummy_hcd",
        }
    }

    fn above(device: &Node) -> Option<Self> {
        let all = [Self::Network, Self::Gadget];
        device.ancestors().find_map(|node| {
            let name = node.name();
            all.into_iter().find(|bus| name.starts_with(bus.driver()))
        })
    }
}

/// A hub between the machine and a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Hub {
    /// The kernel's name, e.g. `1-2`.
    pub name: String,
    /// The product name.
    pub product: Option<String>,
    /// The speed of its own link to the machine, Mbit/s.
    pub link_mbit_per_s: Option<f64>,
}

impl UsbPath {
    /// The path to the device at `device`.
    pub fn to(device: &Node) -> Self {
        let name = device.name();
        let numbers =
            name.split_once('-').and_then(|(bus, ports)| Some((bus.parse().ok()?, ports.to_owned())));
        let (bus, ports) = numbers.map_or((None, String::new()), |(bus, ports)| (Some(bus), ports));
        let is_hub = |node: &Node| !is_root_hub(node) && node.text("idVendor").is_some();
        let mut hubs: Vec<Hub> =
            device.ancestors().skip(1).filter(is_hub).map(|node| Hub::at(&node)).collect();
        hubs.reverse();
        let ports = ports.split('.').filter_map(|port| port.parse().ok()).collect();
        let virtual_bus = VirtualBus::above(device);
        Self { name, bus, number: device.number("devnum"), ports, hubs, virtual_bus }
    }
}

impl Hub {
    fn at(node: &Node) -> Self {
        Self { name: node.name(), product: node.text("product"), link_mbit_per_s: node.number("speed") }
    }
}

/// Whether it is the root hub of a bus, which is named `usb1`; other hubs have a hyphen.
fn is_root_hub(node: &Node) -> bool {
    !node.name().contains('-')
}

/// The fastest link of the port that `device` is plugged into, Mbit/s, as far as sysfs shows it: that of its
/// SuperSpeed half, if it has one, else that of the hub that the port belongs to.
pub fn port_mbit_per_s(device: &Node) -> Option<f64> {
    let speed_above = |node: &Node| node.ancestors().skip(1).find_map(|above| above.number::<f64>("speed"));
    let half = device.below("port").and_then(|port| port.below("peer")).and_then(|peer| speed_above(&peer));
    let own = device.ancestors().nth(1).and_then(|above| above.number::<f64>("speed"));
    half.into_iter().chain(own).reduce(f64::max)
}

/// What limits a link below the device's capability.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkLimit {
    /// A hub on the path is as slow as the link.
    Hub(Hub),
    /// The port of the machine, or of the hub, has no SuperSpeed half.
    Port,
    /// The port has a SuperSpeed half, but the link did not come up there.
    Contact,
    /// The port or the hub; sysfs does not show which.
    PortOrHub,
}

impl LinkLimit {
    /// The limit for the device at `device`, whose link speed is `link` Mbit/s and below its capability.
    pub fn of(device: &Node, path: &UsbPath, link: f64) -> Self {
        let port = device.below("port");
        let has_faster_half = port.as_ref().is_some_and(|port| port.below("peer").is_some());
        let above = device.ancestors().nth(1).and_then(|above| above.number::<f64>("speed"));
        if link <= HIGH && has_faster_half || link < HIGH && above.is_some_and(|above| above > link) {
            return Self::Contact;
        }
        let is_slow = |hub: &&Hub| hub.link_mbit_per_s.is_some_and(|speed| speed <= link);
        match path.hubs.iter().find(is_slow) {
            Some(hub) => Self::Hub(hub.clone()),
            None if port.is_some() && path.hubs.is_empty() => Self::Port,
            None => Self::PortOrHub,
        }
    }
}

/// Above this speed a link has wires of its own. A port with those wires has two halves in sysfs, which are
/// peers.
const HIGH: f64 = 480.0;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sysfs::Sysfs;

    /// The limit of a device whose link has this speed, below a hub of another speed.
    fn limit(link: f64, above: f64, port: &[&str]) -> LinkLimit {
        let directory = tempfile::tempdir().unwrap();
        let hub = directory.path().join("usb1");
        let device = hub.join("1-1");
        fs::create_dir_all(&device).unwrap();
        fs::write(hub.join("speed"), format!("{above}\n")).unwrap();
        for part in port {
            fs::create_dir_all(device.join(part)).unwrap();
        }
        let device = Sysfs::at(directory.path()).node(&device).unwrap();
        LinkLimit::of(&device, &UsbPath::to(&device), link)
    }

    #[test]
    fn a_link_below_its_port_came_up_at_a_lower_speed() {
        let (port, both) = (&["port"][..], &["port", "port/peer"][..]);
        assert_eq!(limit(480.0, 480.0, both), LinkLimit::Contact, "the other half is faster");
        assert_eq!(limit(12.0, 480.0, port), LinkLimit::Contact, "the hub above is faster");
        assert_eq!(limit(480.0, 480.0, port), LinkLimit::Port);
        assert_eq!(limit(480.0, 5000.0, port), LinkLimit::Port, "high speed has no other half here");
        assert_eq!(limit(12.0, 12.0, port), LinkLimit::Port);
        assert_eq!(limit(5000.0, 5000.0, both), LinkLimit::Port, "it runs on the faster half");
        assert_eq!(limit(480.0, 480.0, &[]), LinkLimit::PortOrHub, "the kernel does not show the port");
    }
}
