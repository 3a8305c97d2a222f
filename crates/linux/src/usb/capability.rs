//! The speed capability of a USB device, independent of its port and its current link.

use std::fmt;

use super::{bos, descriptors};
use crate::sysfs::Node;

/// The fastest link of a device, in Mbit/s of one lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Capability {
    /// Exactly this speed.
    Exact {
        /// Mbit/s.
        mbit_per_s: f64,
    },
    /// At least this speed; whether the device can do more is unknown.
    AtLeast {
        /// Mbit/s.
        mbit_per_s: f64,
        /// Why more is unknown.
        unknown: UnknownReason,
    },
}

/// Why a capability is not exactly known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownReason {
    /// The device reports USB 2.10 on a USB 2 link. Devices with SuperSpeed do so (USB 3.2 specification,
    /// 9.2.6.6), and some without. Its BOS would decide.
    MaybeSuperSpeed,
    /// The device reports USB 2.00 on a full-speed link: high speed is optional.
    MaybeHighSpeed,
    /// The device has SuperSpeed, and its BOS with the exact speeds cannot be read.
    MaybeSuperSpeedPlus,
    /// The device reports no version.
    NoVersion,
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MaybeSuperSpeed => {
                "it reports USB 2.10 or newer, as USB 3 sticks do on a USB 2 link, and some USB 2 sticks in every port; \
                 Linux 6.10 and newer show it (its BOS descriptor)"
            }
            Self::MaybeHighSpeed => "it reports USB 2.00, where 480 Mbit/s is optional",
            Self::MaybeSuperSpeedPlus => {
                "its BOS descriptor, which lists its speeds, cannot be read here (Linux 6.10 and newer show it)"
            }
            Self::NoVersion => "it reports no USB version",
        })
    }
}

const FULL: f64 = 12.0;
const HIGH: f64 = 480.0;
const SUPER: f64 = 5000.0;

impl Capability {
    /// The capability of the device at `device`, whose current link speed is `link` Mbit/s.
    pub fn of(device: &Node, link: f64) -> Self {
        let named = device.bytes("bos_descriptors").and_then(|bytes| bos::speed_max_mbit_per_s(&bytes));
        let of_descriptor = device.bytes("descriptors").and_then(|bytes| descriptors::version(&bytes));
        Self::from_descriptors(named, of_descriptor.or_else(|| version(&device.text("version")?)), link)
    }

    /// The capability from the highest speed in the BOS, if there is one, and from the version that the
    /// device reports on this link.
    fn from_descriptors(named: Option<Option<f64>>, version: Option<u16>, link: f64) -> Self {
        if let Some(Some(named)) = named {
            return Self::Exact { mbit_per_s: named.max(link) };
        }
        let at_least = |mbit_per_s: f64, unknown| Self::AtLeast { mbit_per_s, unknown };
        let has_bos = named.is_some();
        match version {
            None => at_least(link, UnknownReason::NoVersion),
            Some(0x0300) => Self::Exact { mbit_per_s: SUPER.max(link) },
            Some(0x0301..) => at_least(SUPER.max(link), UnknownReason::MaybeSuperSpeedPlus),
            Some(0x0210..) if !has_bos => at_least(link, UnknownReason::MaybeSuperSpeed),
            Some(0x0200..) if link < HIGH => at_least(link, UnknownReason::MaybeHighSpeed),
            Some(0x0200..) => Self::Exact { mbit_per_s: HIGH.max(link) },
            Some(_) => Self::Exact { mbit_per_s: FULL.max(link) },
        }
    }

    /// The lower bound of its speed, Mbit/s.
    #[must_use]
    pub const fn at_least_mbit_per_s(&self) -> f64 {
        match self {
            Self::Exact { mbit_per_s } | Self::AtLeast { mbit_per_s, .. } => *mbit_per_s,
        }
    }
}

/// Parses the file `version`: ` 2.10` for 0x0210.
fn version(text: &str) -> Option<u16> {
    let (major, minor) = text.split_once('.')?;
    let hexadecimal = |text: &str| u16::from_str_radix(text, 16).ok();
    let minor = hexadecimal(minor).filter(|_| minor.len() == 2)?;
    hexadecimal(major)?.checked_mul(0x100)?.checked_add(minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: fn(f64) -> Capability = |mbit_per_s| Capability::Exact { mbit_per_s };

    #[test]
    fn bos_decides_where_there_is_one() {
        assert_eq!(Capability::from_descriptors(Some(Some(5000.0)), Some(0x0210), 480.0), KNOWN(5000.0));
        assert_eq!(Capability::from_descriptors(Some(Some(10_000.0)), Some(0x0320), 5000.0), KNOWN(10_000.0));
        assert_eq!(Capability::from_descriptors(Some(None), Some(0x0210), 480.0), KNOWN(480.0));
        assert_eq!(
            Capability::from_descriptors(Some(Some(10_000.0)), Some(0x0320), 20_000.0),
            KNOWN(20_000.0)
        );
    }

    #[test]
    fn version_decides_where_it_is_unambiguous() {
        assert_eq!(Capability::from_descriptors(None, Some(0x0200), 480.0), KNOWN(480.0));
        assert_eq!(Capability::from_descriptors(None, Some(0x0110), 12.0), KNOWN(12.0));
        assert_eq!(Capability::from_descriptors(None, Some(0x0300), 480.0), KNOWN(5000.0));
        for (version, link, least, unknown) in [
            (Some(0x0210), 480.0, 480.0, UnknownReason::MaybeSuperSpeed),
            (Some(0x0200), 12.0, 12.0, UnknownReason::MaybeHighSpeed),
            (Some(0x0320), 5000.0, 5000.0, UnknownReason::MaybeSuperSpeedPlus),
            (Some(0x0320), 480.0, 5000.0, UnknownReason::MaybeSuperSpeedPlus),
            (None, 480.0, 480.0, UnknownReason::NoVersion),
        ] {
            assert_eq!(
                Capability::from_descriptors(None, version, link),
                Capability::AtLeast { mbit_per_s: least, unknown }
            );
        }
    }

    #[test]
    fn version_text_is_parsed() {
        assert_eq!(
            [version("2.10"), version("3.00"), version("1.10")],
            [Some(0x0210), Some(0x0300), Some(0x0110)]
        );
        assert_eq!([version("2"), version("2.1"), version("a.b"), version("ffff.00")], [None; 4]);
    }
}
