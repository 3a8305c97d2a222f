//! The way from the machine to a USB device: bus, ports, hubs, and which of them holds its link back.

use crate::sysfs::Node;

/// How a USB device hangs on the machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Way {
    /// The kernel's name of the device, e.g. `1-2.4`: bus 1, port 2 of it, port 4 of the hub there.
    pub name: String,
    /// The number of the bus.
    pub bus: Option<u32>,
    /// The number it got when it was plugged in: another one each time.
    pub number: Option<u32>,
    /// The ports, from the machine to the device.
    pub ports: Vec<u32>,
    /// The hubs between, from the machine to the device; none where it is plugged into the machine itself.
    pub hubs: Vec<Hub>,
}

/// A hub between the machine and a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Hub {
    /// The kernel's name, e.g. `1-2`.
    pub name: String,
    /// What it calls itself.
    pub product: Option<String>,
    /// The speed of its own link to the machine, Mbit/s.
    pub link_mbit_per_s: Option<f64>,
}

impl Way {
    /// The way to the device at `device`.
    pub fn to(device: &Node) -> Self {
        let name = device.name();
        let place = name.split_once('-').and_then(|(bus, ports)| Some((bus.parse().ok()?, ports.to_owned())));
        let (bus, ports) = place.map_or((None, String::new()), |(bus, ports)| (Some(bus), ports));
        let is_hub = |node: &Node| !is_root_hub(node) && node.text("idVendor").is_some();
        let mut hubs: Vec<Hub> =
            device.ancestors().skip(1).filter(is_hub).map(|node| Hub::at(&node)).collect();
        hubs.reverse();
        let ports = ports.split('.').filter_map(|port| port.parse().ok()).collect();
        Self { name, bus, number: device.number("devnum"), ports, hubs }
    }
}

impl Hub {
    fn at(node: &Node) -> Self {
        Self { name: node.name(), product: node.text("product"), link_mbit_per_s: node.number("speed") }
    }
}

/// The machine's own hub of a bus is called `usb1`; others have a hyphen.
fn is_root_hub(node: &Node) -> bool {
    !node.name().contains('-')
}

/// What keeps a link below what the device could do.
#[derive(Debug, Clone, PartialEq)]
pub enum Brake {
    /// A hub on the way is as slow as the link.
    Hub(Hub),
    /// The port of the machine, or of the hub, has no faster half.
    Port,
    /// The port has a faster half, but the link did not come up there.
    Contact,
    /// One of these; sysfs does not tell which.
    PortOrHub,
}

impl Brake {
    /// Of the device at `device`, whose link runs at `link` Mbit/s and could be faster.
    pub fn of(device: &Node, way: &Way, link: f64) -> Self {
        let port = device.below("port");
        let has_faster_half = port.as_ref().is_some_and(|port| port.below("peer").is_some());
        let above = device.ancestors().nth(1).and_then(|above| above.number::<f64>("speed"));
        if link <= HIGH && has_faster_half || link < HIGH && above.is_some_and(|above| above > link) {
            return Self::Contact;
        }
        let is_slow = |hub: &&Hub| hub.link_mbit_per_s.is_some_and(|speed| speed <= link);
        match way.hubs.iter().find(is_slow) {
            Some(hub) => Self::Hub(hub.clone()),
            None if port.is_some() && way.hubs.is_empty() => Self::Port,
            None => Self::PortOrHub,
        }
    }
}

/// Up to here, a faster link has wires of its own, and a port with them has two halves that name each other.
const HIGH: f64 = 480.0;
