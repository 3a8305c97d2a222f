//! How a device is attached to the host, and the partitions on it. Plain data.

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::claims::Claims;

/// What the host knows about a device without measuring it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// Its link; `None` if it is not known.
    #[serde(default)]
    pub link: Option<Link>,
    /// The largest request that the host sends as one command; larger ones are split.
    #[serde(default)]
    pub request_max: Option<Bytes>,
    /// Its driver; `None` if it is not known.
    #[serde(default)]
    pub driver: Option<Driver>,
    /// The partitions and filesystems, by offset on the whole device; empty if they are not known.
    #[serde(default)]
    pub volumes: Vec<Volume>,
    /// Whether it lies in memory (tmpfs), so that no storage device is measured.
    #[serde(default)]
    pub in_memory: bool,
    /// The disk of this machine that it lies on, e.g. `vda`, if that is no stick or card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_disk: Option<String>,
    /// What it claims about its speed.
    #[serde(default, skip_serializing_if = "Claims::is_empty")]
    pub claims: Claims,
}

impl Attachment {
    /// The largest volume whose filesystem is known.
    #[must_use]
    pub fn largest_volume(&self) -> Option<&Volume> {
        let known = self.volumes.iter().filter(|volume| volume.filesystem.is_some());
        known.max_by_key(|volume| volume.size)
    }
}

/// The link between host and device, or between a reader of its own and a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Its kind and speed.
    #[serde(rename = "name")]
    pub kind: LinkKind,
    /// The practical speed range of a full link of this kind, bytes per second.
    #[serde(rename = "carries")]
    pub bytes_per_s: (f64, f64),
    /// The fastest link that the device supports, if it is faster than this one.
    #[serde(default, rename = "could")]
    pub device_fastest: Option<LinkRange>,
    /// Why the link is slower than the device, if that is known.
    #[serde(default, rename = "brake")]
    pub slow_cause: Option<SlowLinkCause>,
    /// Whether the link is that of a card reader, so that another reader is another link.
    #[serde(default, rename = "is_readers")]
    pub is_card_reader: bool,
}

/// A kind of link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// USB.
    Usb {
        /// The speed of the link, Mbit/s.
        mbit_per_s: f64,
    },
    /// The bus of a card in a slot without USB.
    CardBus {
        /// The kernel's name of the bus mode, e.g. `sd high-speed`.
        mode: String,
    },
    /// Any other link, by its name, e.g. `UHS-I`. Older run files hold only names.
    #[serde(untagged)]
    Named(String),
}

/// The practical speed range of a full link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(LinkKind, (f64, f64))", into = "(LinkKind, (f64, f64))")]
pub struct LinkRange {
    /// The kind of link.
    pub kind: LinkKind,
    /// The least and the most, bytes per second.
    pub bytes_per_s: (f64, f64),
}

impl From<(LinkKind, (f64, f64))> for LinkRange {
    fn from((kind, bytes_per_s): (LinkKind, (f64, f64))) -> Self {
        Self { kind, bytes_per_s }
    }
}

impl From<LinkRange> for (LinkKind, (f64, f64)) {
    fn from(range: LinkRange) -> Self {
        (range.kind, range.bytes_per_s)
    }
}

/// Why a link is slower than the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlowLinkCause {
    /// A hub on the path is as slow as the link.
    Hub {
        /// The kernel's name of the hub, e.g. `1-2`.
        name: String,
        /// The product name of the hub.
        product: Option<String>,
    },
    /// The port itself is slower.
    Port,
    /// The port is faster, but the link came up at a lower speed.
    Contact,
    /// The port or the hub; the kernel does not show which.
    PortOrHub,
    /// The cause and the advice, as older run files store them.
    #[serde(untagged)]
    Text(String),
}

/// The driver between the kernel and a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    /// The kernel's name, e.g. `usb-storage`.
    pub name: String,
    /// Whether the device supports UAS, which queues commands, and this driver does not use it.
    #[serde(default, rename = "leaves_uas")]
    pub is_uas_unused: bool,
}

/// A partition, or a filesystem on the whole device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Volume {
    /// The kernel's name, e.g. `sdb1`; `partition 1` or the file's name for an image file.
    pub name: String,
    /// Its offset.
    pub start: Bytes,
    /// The offset of its first cluster from `start`, if its filesystem is known.
    #[serde(default)]
    pub data_start: Option<Bytes>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// The kernel's name of its filesystem, e.g. `vfat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// The cluster or block of its filesystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Bytes>,
    /// The size of its filesystem's groups or sections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Bytes>,
    /// The stripe that its filesystem was made for; zero for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<Bytes>,
    /// Whether its filesystem keeps a journal, if it can have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_journal: Option<bool>,
    /// The options it is mounted with, e.g. `sync`; empty if it is not mounted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount_options: Vec<String>,
    /// Where it is mounted for writing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_point: Option<String>,
}

/// USB speed, Mbit/s, and what a full link carries in practice, bytes per second: 1 MB/s at full speed, 30 to
/// 42 MB/s at high speed, 400 to 450 MB/s at 5 Gbit/s, and in proportion above (USB 3.2, chapter 6: 128 of
/// 132 bits are data there).
const USB_BYTES_PER_S: [(f64, (f64, f64)); 5] = [
    (12.0, (0.9e6, 1.216e6)),
    (480.0, (30e6, 42e6)),
    (5000.0, (400e6, 450e6)),
    (10_000.0, (800e6, 1090e6)),
    (20_000.0, (1600e6, 2180e6)),
];

/// The most that a card carries over UHS-I at 104 MHz, the fastest bus of most readers and cards: 92 % of 104
/// MB/s.
const CARD_MAX_BYTES_PER_S: f64 = 96e6;

impl Link {
    /// A USB link of this speed, of a device that supports at least the other speed; `None` for a speed that
    /// no storage uses.
    #[must_use]
    pub fn usb(mbit_per_s: f64, device_mbit_per_s: Option<f64>) -> Option<Self> {
        let faster = device_mbit_per_s.filter(|device| *device > mbit_per_s);
        let LinkRange { kind, bytes_per_s } = LinkRange::usb(mbit_per_s)?;
        Some(Self {
            kind,
            bytes_per_s,
            device_fastest: faster.and_then(LinkRange::usb),
            slow_cause: None,
            is_card_reader: false,
        })
    }

    /// Its kind, and what it carries in practice.
    #[must_use]
    pub fn range(&self) -> LinkRange {
        LinkRange { kind: self.kind.clone(), bytes_per_s: self.bytes_per_s }
    }

    /// The most that a faster port or reader would carry, bytes per second; `None` if none is known to be
    /// faster.
    #[must_use]
    pub fn faster_bytes_per_s(&self) -> Option<f64> {
        let device = self.device_fastest.as_ref().map(|range| range.bytes_per_s.1);
        let fastest = device.or(self.is_card_reader.then_some(CARD_MAX_BYTES_PER_S));
        fastest.filter(|most| *most > self.bytes_per_s.1)
    }

    /// Whether its numbers are possible: positive, finite, and in order.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let is_valid =
            |(low, high): (f64, f64)| low.is_finite() && high.is_finite() && 0.0 < low && low <= high;
        is_valid(self.bytes_per_s)
            && self.device_fastest.as_ref().is_none_or(|range| is_valid(range.bytes_per_s))
    }
}

impl LinkRange {
    fn usb(mbit_per_s: f64) -> Option<Self> {
        let known = USB_BYTES_PER_S.iter().find(|(known, _)| (known - mbit_per_s).abs() < 0.5);
        known.map(|(_, bytes_per_s)| Self { kind: LinkKind::Usb { mbit_per_s }, bytes_per_s: *bytes_per_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_fastest_is_set_only_if_it_is_faster_than_the_link() {
        let link = Link::usb(480.0, Some(5000.0)).unwrap();
        let fastest = link.device_fastest.as_ref().unwrap();
        assert_eq!((link.bytes_per_s, &fastest.kind), ((30e6, 42e6), &LinkKind::Usb { mbit_per_s: 5000.0 }));
        assert_eq!(Link::usb(5000.0, Some(480.0)).unwrap().device_fastest, None);
        let alone = Link::usb(480.0, None).unwrap();
        let card = Link { is_card_reader: true, ..alone.clone() };
        let faster = [link, alone, card].map(|link| link.faster_bytes_per_s());
        assert_eq!(faster, [Some(450e6), None, Some(96e6)]);
        for odd in [1.5, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Link::usb(odd, Some(odd)), None);
        }
    }

    #[test]
    fn links_with_impossible_numbers_are_not_valid() {
        let link = |low, high| Link { bytes_per_s: (low, high), ..Link::usb(480.0, None).unwrap() };
        assert!(link(1e6, 1e6).is_valid() && link(1e6, 2e6).is_valid());
        for (low, high) in [(0.0, 1e6), (-1.0, 1e6), (2e6, 1e6), (1e6, f64::INFINITY), (f64::NAN, 1e6)] {
            assert!(!link(low, high).is_valid(), "{low} {high}");
        }
        let mut faster = Link::usb(480.0, Some(5000.0)).unwrap();
        assert!(faster.is_valid());
        faster.device_fastest.as_mut().unwrap().bytes_per_s = (5e8, 4e8);
        assert!(!faster.is_valid());
    }

    #[test]
    fn links_of_older_run_files_are_read() {
        let old = r#"{"name": "USB at 480 Mbit/s", "carries": [3e7, 4.2e7], "brake": "plugged into a USB 2 port",
            "could": ["USB at 5000 Mbit/s", [4e8, 4.5e8]], "is_readers": true}"#;
        let link: Link = serde_json::from_str(old).unwrap();
        assert_eq!(link.kind, LinkKind::Named("USB at 480 Mbit/s".to_owned()));
        assert_eq!(link.faster_bytes_per_s(), Some(4.5e8));
        assert_eq!(link.slow_cause, Some(SlowLinkCause::Text("plugged into a USB 2 port".to_owned())));
        assert!(link.is_card_reader);
    }

    #[test]
    fn volumes_of_older_run_files_are_read_and_written_unchanged() {
        let old = r#"{"name":"sdb1","start":4194304,"data_start":null}"#;
        let volume: Volume = serde_json::from_str(old).unwrap();
        assert_eq!((volume.start, volume.filesystem.as_deref()), (Bytes::mib(4), None));
        assert_eq!(serde_json::to_string(&volume).unwrap(), old);
    }

    #[test]
    fn a_stored_link_is_read_back_unchanged() {
        let hub = SlowLinkCause::Hub { name: "1-2".to_owned(), product: None };
        for slow_cause in [hub, SlowLinkCause::Port] {
            let link = Link { slow_cause: Some(slow_cause), ..Link::usb(480.0, Some(5000.0)).unwrap() };
            let text = serde_json::to_string(&link).unwrap();
            assert_eq!(serde_json::from_str::<Link>(&text).unwrap(), link, "{text}");
        }
        let bus = LinkKind::CardBus { mode: "sd high-speed".to_owned() };
        assert_eq!(serde_json::from_str::<LinkKind>(&serde_json::to_string(&bus).unwrap()).unwrap(), bus);
    }

    #[test]
    fn a_device_at_its_own_speed_has_no_faster_link_but_a_card_in_a_reader_may() {
        for mbit_per_s in [480.0, 5000.0] {
            let link = Link::usb(mbit_per_s, Some(mbit_per_s)).unwrap();
            assert_eq!((&link.device_fastest, link.faster_bytes_per_s()), (&None, None), "{mbit_per_s}");
        }
        let reader = Link { is_card_reader: true, ..Link::usb(480.0, Some(480.0)).unwrap() };
        assert_eq!(reader.faster_bytes_per_s(), Some(96e6), "the reader is slow, not the card");
    }
}
