//! What the device is, in a few words each.

use flashscope_device::SECTOR;
use flashscope_record::attachment::{LinkKind, Volume};

use crate::words::diagnosis::link_name;
use crate::{Report, printable};

/// The name, the capacity, the link, and the first filesystem.
pub fn facts(report: &Report<'_>) -> Vec<String> {
    let run = report.run;
    let name = printable(&run.device_name);
    let target = printable(&run.target);
    let name = match (run.is_of_a_virtual_stick(), name.is_empty()) {
        (true, _) | (false, true) => target,
        (false, false) => format!("{name} ({target})"),
    };
    let capacity = run.announced_capacity();
    let link = run.attachment.link.as_ref().map(|link| link_text(&link.kind));
    let volume = run.attachment.volumes.first().map(volume);
    let facts = [capacity.map(|capacity| capacity.to_string()), link, volume];
    std::iter::once(name).chain(facts.into_iter().flatten().map(|fact| printable(&fact))).collect()
}

/// `USB, 5 Gbit/s`.
fn link_text(kind: &LinkKind) -> String {
    match kind {
        LinkKind::Usb { mbit_per_s } if *mbit_per_s >= 1000.0 => {
            format!("USB, {} Gbit/s", mbit_per_s / 1000.0)
        }
        LinkKind::Usb { mbit_per_s } => format!("USB, {mbit_per_s} Mbit/s"),
        LinkKind::CardBus { mode } | LinkKind::Named(mode) => {
            card_bus(mode).unwrap_or_else(|| link_name(kind))
        }
    }
}

/// `SD bus, high-speed`, of the kernel's `sd high-speed`, or of the `sd-high-speed` of a virtual stick.
fn card_bus(mode: &str) -> Option<String> {
    let mode = mode.strip_prefix("sd ").or_else(|| mode.strip_prefix("sd-"))?;
    let is_abbreviation =
        |word: &str| ["uhs", "sdr", "ddr", "spi"].iter().any(|start| word.starts_with(start));
    let word = |word: &str| if is_abbreviation(word) { word.to_uppercase() } else { word.to_owned() };
    let words: Vec<String> = mode.split(' ').map(word).collect();
    Some(format!("SD bus, {}", words.join(" ")))
}

/// `exfat at sector 63`.
fn volume(volume: &Volume) -> String {
    let filesystem = volume.filesystem.as_deref().unwrap_or("partition");
    format!("{filesystem} at sector {}", volume.start / SECTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_cards_have_words_and_no_ids() {
        let card = |mode: &str| link_text(&LinkKind::CardBus { mode: mode.to_owned() });
        assert_eq!(
            [card("sd high-speed"), card("sd uhs SDR104")],
            ["SD bus, high-speed", "SD bus, UHS SDR104"]
        );
        assert_eq!(card("mmc HS200"), "the card's bus (mmc HS200)");
        let named = |name: &str| link_text(&LinkKind::Named(name.to_owned()));
        assert_eq!([named("sd-high-speed"), named("sd-sdr104")], ["SD bus, high-speed", "SD bus, SDR104"]);
        let usb = |mbit_per_s: f64| link_text(&LinkKind::Usb { mbit_per_s });
        let texts = ["USB, 480 Mbit/s", "USB, 1 Gbit/s", "USB, 5 Gbit/s"];
        assert_eq!([480.0, 1000.0, 5000.0].map(usb), texts);
    }
}
