//! Sentences about how a disk is attached by USB.

use flashscope_linux::{Capability, LinkLimit, Quirk, QuirkSource, UnknownReason, Usb, VirtualBus};
use flashscope_record::attachment::LinkKind;
use flashscope_report::words::diagnosis::slow_cause_text;

use crate::target::slow_cause;

fn slow(limit: &LinkLimit, mbit_per_s: f64) -> String {
    slow_cause_text(&slow_cause(limit), &LinkKind::Usb { mbit_per_s })
}

/// The speed of the link, and the capability of the device.
pub fn link(usb: &Usb) -> String {
    let Some(link) = usb.link_mbit_per_s else { return "speed unknown: not in sysfs".to_owned() };
    match usb.path.virtual_bus {
        Some(VirtualBus::Network) => {
            return format!(
                "the network: the device is plugged into another machine, which limits it; the virtual port reports {link} Mbit/s"
            );
        }
        Some(VirtualBus::Gadget) => {
            return format!("memory: a gadget of this machine; the virtual port reports {link} Mbit/s");
        }
        None => {}
    }
    let speed = match usb.lanes {
        Some(lanes) if lanes > 1 => format!("{link} Mbit/s on {lanes} lanes"),
        _ => format!("{link} Mbit/s"),
    };
    match (&usb.capability, &usb.link_limit) {
        (Some(Capability::Exact { mbit_per_s }), Some(limit)) => {
            format!("{link} of {mbit_per_s} Mbit/s: {}", slow(limit, link))
        }
        (Some(Capability::AtLeast { mbit_per_s, .. }), Some(limit)) => {
            format!("{link} of at least {mbit_per_s} Mbit/s: {}", slow(limit, link))
        }
        (Some(Capability::AtLeast { unknown, .. }), None) => {
            format!("{speed}; unknown whether it is capable of more: {unknown}{}", advice(usb, *unknown))
        }
        _ => format!("{speed}, the full speed of the device"),
    }
}

/// What would show whether a device is capable of more. In a port that is faster than the link, another port
/// would not.
fn advice(usb: &Usb, unknown: UnknownReason) -> String {
    let Some(port) = usb.port_mbit_per_s.filter(|_| usb.may_be_held_back()) else {
        return match unknown {
            UnknownReason::MaybeSuperSpeed => "; a USB 3 port would show it",
            UnknownReason::MaybeHighSpeed => "; a USB 2 port would show it",
            UnknownReason::MaybeSuperSpeedPlus | UnknownReason::NoVersion => "",
        }
        .to_owned();
    };
    let hub = if usb.path.hubs.is_empty() { "" } else { ", or without the hub" };
    match unknown {
        UnknownReason::MaybeSuperSpeed => format!(
            ". Its port has a SuperSpeed half of {port} Mbit/s: if this is a USB 3 stick, its contacts or the cable failed. \
             Plug it in again, swiftly and to the stop, try another cable{hub}"
        ),
        UnknownReason::MaybeHighSpeed => format!(
            ". Its port offers {port} Mbit/s: the handshake for more failed, or the device is that slow. \
             Plug it in again, try another cable{hub}"
        ),
        UnknownReason::MaybeSuperSpeedPlus | UnknownReason::NoVersion => String::new(),
    }
}

/// Where it is plugged in.
pub fn path(usb: &Usb) -> String {
    let Some(bus) = usb.path.bus else { return usb.path.name.clone() };
    let ports: Vec<String> = usb.path.ports.iter().map(ToString::to_string).collect();
    let hubs: Vec<String> = usb.path.hubs.iter().map(hub).collect();
    let hubs =
        if hubs.is_empty() { "no hub".to_owned() } else { format!("through {}", hubs.join(", then ")) };
    if let Some(virtual_bus) = usb.path.virtual_bus {
        let what = match virtual_bus {
            VirtualBus::Network => "over the network (USB/IP",
            VirtualBus::Gadget => "a gadget of this machine (",
        };
        let separator = if what.ends_with('(') { "" } else { ", " };
        return format!("{what}{separator}{}), virtual bus {bus}", virtual_bus.driver());
    }
    format!("bus {bus}, port {}, {hubs}", ports.join("."))
}

fn hub(hub: &flashscope_linux::Hub) -> String {
    let product = hub.product.as_deref().unwrap_or("no name");
    let link = hub.link_mbit_per_s.map_or_else(String::new, |link| format!(", {link} Mbit/s"));
    format!("hub {} ({product}{link})", hub.name)
}

/// The driver, and the quirk in force.
pub fn driver(usb: &Usb) -> String {
    match (usb.driver.as_deref(), usb.offers_uas) {
        (Some("usb-storage"), Some(true)) => format!(
            "usb-storage, queue depth 1; the device also supports uas, with a larger queue depth: {}",
            usb.quirk.as_ref().filter(|quirk| quirk.ignores_uas()).map_or_else(
                || {
                    "the kernel has a quirk of its own against it, or lacks the module (try modprobe uas and plug it in again; see dmesg)"
                        .to_owned()
                },
                quirk_text
            )
        ),
        (Some("usb-storage"), _) if usb.quirk.is_some() => format!(
            "usb-storage, queue depth 1{}",
            usb.quirk.as_ref().map_or_else(String::new, |quirk| format!("; {}", quirk_text(quirk)))
        ),
        (Some("usb-storage"), _) => "usb-storage, queue depth 1".to_owned(),
        (Some("uas"), _) => "uas, several commands queued".to_owned(),
        (Some(other), _) => other.to_owned(),
        (None, _) => "unknown: not in sysfs".to_owned(),
    }
}

/// A quirk, where it comes from, and what undoing it risks.
fn quirk_text(quirk: &Quirk) -> String {
    let source = match &quirk.source {
        QuirkSource::CommandLine => "the kernel's command line".to_owned(),
        QuirkSource::File(path) => path.display().to_string(),
        QuirkSource::Parameter => "/sys/module/usb_storage/parameters/quirks alone".to_owned(),
    };
    let risk = if quirk.ignores_uas() {
        "without it uas drives the device, which may hang, reset or lose data with some bridges: back up first, and watch dmesg"
    } else {
        "without it the device may fail or lose data: back up first, and watch dmesg"
    };
    format!("the quirk {} is set for it in {source}; {risk}", quirk.flags)
}
