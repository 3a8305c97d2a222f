//! How a device is plugged in, and what lies on it, as the host knows it: plain data.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

/// What the host knows of a device without measuring it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// The link it hangs on; `None` if that is not known.
    #[serde(default)]
    pub link: Option<Link>,
    /// The largest request that the host makes; longer ones are cut.
    #[serde(default)]
    pub request_max: Option<Bytes>,
    /// The driver that talks to it; `None` if that is not known.
    #[serde(default)]
    pub driver: Option<Driver>,
    /// Where partitions and their data begin, on the whole device; empty if that is not known.
    #[serde(default)]
    pub volumes: Vec<Volume>,
    /// Whether it lies in memory (tmpfs): then nothing of any storage is measured.
    #[serde(default)]
    pub in_memory: bool,
}

/// A link, and what it carries in practice, bytes per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// What it is, e.g. `USB at 480 Mbit/s`.
    pub name: String,
    /// The least that it carries where it is the limit, and the most.
    pub carries: (f64, f64),
    /// The same of the fastest that the device could do elsewhere, if that is faster, and its name.
    #[serde(default)]
    pub could: Option<(String, (f64, f64))>,
    /// What keeps it from being faster, and what to try, in words.
    #[serde(default)]
    pub brake: Option<String>,
    /// Whether the link belongs to a card reader, so that another reader is another link.
    #[serde(default)]
    pub is_readers: bool,
}

/// The driver between the kernel and a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// What the kernel calls it, e.g. `usb-storage`.
    pub name: String,
    /// Whether the device also speaks UAS, which takes several commands at a time, and this driver does not.
    #[serde(default)]
    pub leaves_uas: bool,
}

/// A partition, or a filesystem on the whole device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// What the kernel calls it, e.g. `sdb1`.
    pub name: String,
    /// Where it begins.
    pub start: Bytes,
    /// Where its first cluster begins, from its start, if its filesystem is known.
    #[serde(default)]
    pub data_start: Option<Bytes>,
}

/// What links carry in practice: 1 MB/s at full speed, 30 to 42 MB/s at high speed, 400 to 450 MB/s at 5 Gbit/s, and in the same
/// proportion above (USB 3.2, chapter 6: 128 of 132 bits there are data).
const CARRIES: [(f64, (f64, f64)); 5] = [
    (12.0, (0.9e6, 1.216e6)),
    (480.0, (30e6, 42e6)),
    (5000.0, (400e6, 450e6)),
    (10_000.0, (800e6, 1090e6)),
    (20_000.0, (1600e6, 2180e6)),
];

/// What a card does over the fastest bus of most readers and cards, UHS-I at 104 MHz: 92 % of 104 MB/s at most.
const CARD_MAX: f64 = 96e6;

impl Link {
    /// A USB link of this speed, of a device that could do the other at least; `None` for a speed that no storage uses.
    #[must_use]
    pub fn usb(mbit_per_s: f64, could_mbit_per_s: Option<f64>) -> Option<Self> {
        let carries = |mbit: f64| CARRIES.iter().find(|(known, _)| (known - mbit).abs() < 0.5);
        let name = |mbit: f64| format!("USB at {mbit} Mbit/s");
        let faster = could_mbit_per_s.filter(|could| *could > mbit_per_s);
        let could = faster.and_then(|could| Some((name(could), carries(could)?.1)));
        Some(Self {
            name: name(mbit_per_s),
            carries: carries(mbit_per_s)?.1,
            could,
            brake: None,
            is_readers: false,
        })
    }

    /// The most that could come through elsewhere, bytes per second; `None` if the device could do no more, as far as is known.
    #[must_use]
    pub fn elsewhere(&self) -> Option<f64> {
        let could = self.could.as_ref().map(|(_, (_, most))| *most);
        could.or(self.is_readers.then_some(CARD_MAX)).filter(|most| *most > self.carries.1)
    }

    /// Whether its numbers are such as links have.
    pub fn is_sound(&self) -> bool {
        let is_sound =
            |(low, high): (f64, f64)| low.is_finite() && high.is_finite() && 0.0 < low && low <= high;
        is_sound(self.carries) && self.could.as_ref().is_none_or(|(_, could)| is_sound(*could))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_faster_link_is_one_that_could_be() {
        let link = Link::usb(480.0, Some(5000.0)).unwrap();
        let could = link.could.as_ref().unwrap();
        assert_eq!((link.carries, could.0.as_str()), ((30e6, 42e6), "USB at 5000 Mbit/s"));
        assert_eq!(Link::usb(5000.0, Some(480.0)).unwrap().could, None);
        let alone = Link::usb(480.0, None).unwrap();
        let card = Link { is_readers: true, ..alone.clone() };
        assert_eq!([link.elsewhere(), alone.elsewhere(), card.elsewhere()], [Some(450e6), None, Some(96e6)]);
        for odd in [1.5, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Link::usb(odd, Some(odd)), None);
        }
    }
}
