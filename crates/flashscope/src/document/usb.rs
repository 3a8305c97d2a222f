//! What USB reports about a disk.

use flashscope_linux::{Capability, Hub, Quirk, QuirkSource, Usb, VirtualBus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::text::usb as text;

/// What USB reports about a disk.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UsbDocument {
    /// The vendor id, four hexadecimal digits.
    pub vendor_id: String,
    /// The product id, four hexadecimal digits.
    pub product_id: String,
    /// The USB version that the device reports.
    pub version: Option<String>,
    /// The speed of the link now, Mbit/s.
    pub link_mbit_per_s: Option<f64>,
    /// The number of lanes in each direction; null if the kernel does not show it.
    pub lanes: Option<u32>,
    /// The fastest link that the port offers, Mbit/s; null if the kernel does not show it.
    pub port_mbit_per_s: Option<f64>,
    /// The virtual bus it is plugged into; null for hardware of this machine.
    pub virtual_bus: Option<VirtualBusDocument>,
    /// The quirk that was set for it on this machine; null without one.
    pub quirk: Option<QuirkDocument>,
    /// The speed that the device is capable of, Mbit/s.
    pub could_mbit_per_s: Option<f64>,
    /// Whether that capability is exact.
    pub could_status: CapabilityStatus,
    /// Whether the link is slower than the device; null if unknown.
    pub held_back: Option<bool>,
    /// The link in words.
    pub link: String,
    /// The kernel driver.
    pub driver: Option<String>,
    /// Whether the device offers UAS.
    pub offers_uas: Option<bool>,
    /// The kernel's name of the port, for example `1-2.4`.
    pub path: String,
    /// The number of the bus.
    pub bus_number: Option<u32>,
    /// The ports, from the machine to the device.
    pub ports: Vec<u32>,
    /// The hubs between the machine and the device.
    pub hubs: Vec<HubDocument>,
}

/// A bus that a driver makes up.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VirtualBusDocument {
    /// USB/IP: the device is plugged into another machine.
    Network,
    /// A gadget of this machine.
    Gadget,
}

/// A quirk of usb-storage.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuirkDocument {
    /// Its flags, one letter each; `u` ignores UAS.
    pub flags: String,
    /// Where it was set: `command line`, `parameter`, or the path of a file of modprobe.
    pub source: String,
}

/// What is known about the capability of a device.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub enum CapabilityStatus {
    /// The value is exact.
    #[serde(rename = "known")]
    Known,
    /// The value is a lower bound.
    #[serde(rename = "at least")]
    AtLeast,
    /// There is no value.
    #[serde(rename = "unknown")]
    Unknown,
}

/// A USB hub.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubDocument {
    /// The kernel's name of its port.
    pub name: String,
    /// The product name it reports.
    pub product: Option<String>,
    /// The speed of its own link, Mbit/s.
    pub link_mbit_per_s: Option<f64>,
}

impl From<&Usb> for UsbDocument {
    fn from(usb: &Usb) -> Self {
        let (could_status, could_mbit_per_s) = match usb.capability {
            Some(Capability::Exact { mbit_per_s }) => (CapabilityStatus::Known, Some(mbit_per_s)),
            Some(Capability::AtLeast { mbit_per_s, .. }) => (CapabilityStatus::AtLeast, Some(mbit_per_s)),
            None => (CapabilityStatus::Unknown, None),
        };
        Self {
            vendor_id: format!("{:04x}", usb.vendor_id),
            product_id: format!("{:04x}", usb.product_id),
            version: usb.version.clone(),
            link_mbit_per_s: usb.link_mbit_per_s,
            lanes: usb.lanes,
            port_mbit_per_s: usb.port_mbit_per_s,
            virtual_bus: usb.path.virtual_bus.map(VirtualBusDocument::from),
            quirk: usb.quirk.as_ref().map(QuirkDocument::from),
            could_mbit_per_s,
            could_status,
            held_back: usb.is_held_back(),
            link: text::link(usb),
            driver: usb.driver.clone(),
            offers_uas: usb.offers_uas,
            path: usb.path.name.clone(),
            bus_number: usb.path.bus,
            ports: usb.path.ports.clone(),
            hubs: usb.path.hubs.iter().map(HubDocument::from).collect(),
        }
    }
}

impl From<VirtualBus> for VirtualBusDocument {
    fn from(bus: VirtualBus) -> Self {
        match bus {
            VirtualBus::Network => Self::Network,
            VirtualBus::Gadget => Self::Gadget,
        }
    }
}

impl From<&Quirk> for QuirkDocument {
    fn from(quirk: &Quirk) -> Self {
        let source = match &quirk.source {
            QuirkSource::CommandLine => "command line".to_owned(),
            QuirkSource::Parameter => "parameter".to_owned(),
            QuirkSource::File(path) => path.display().to_string(),
        };
        Self { flags: quirk.flags.clone(), source }
    }
}

impl From<&Hub> for HubDocument {
    fn from(hub: &Hub) -> Self {
        Self { name: hub.name.clone(), product: hub.product.clone(), link_mbit_per_s: hub.link_mbit_per_s }
    }
}
