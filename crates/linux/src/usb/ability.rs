//! What a USB device could do on the best of ports: not what the port can do, and not what the link does now.

use std::fmt;

use super::{bos, descriptors};
use crate::sysfs::Node;

/// The fastest link that a device could have, in Mbit/s of one lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ability {
    /// It says so.
    Known {
        /// Mbit/s.
        mbit_per_s: f64,
    },
    /// So much at least; whether it can do more is not to be seen.
    AtLeast {
        /// Mbit/s.
        mbit_per_s: f64,
        /// Why that is all there is to say.
        unknown: Unknown,
    },
}

/// Why it cannot be said what a device could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// On a USB 2 link a device with SuperSpeed names version 2.10 (USB 3.2 specification, 9.2.6.6), but so do some without;
    /// its BOS would tell them apart.
    MaybeSuperSpeed,
    /// A device of USB 2.00 on a full-speed link: high speed is its own choice.
    MaybeHighSpeed,
    /// A device with SuperSpeed: its BOS would say which of its speeds.
    MaybeSuperSpeedPlus,
    /// It names no version.
    NoVersion,
}

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MaybeSuperSpeed => {
                "it names USB 2.10 or the like, as USB 3 sticks do in a USB 2 port, and some USB 2 sticks everywhere; \
                 a USB 3 port would tell, or Linux 6.10 and newer (its BOS descriptor)"
            }
            Self::MaybeHighSpeed => "it names USB 2.00, which allows 480 and does not ask for it; a USB 2 port would tell",
            Self::MaybeSuperSpeedPlus => {
                "its BOS descriptor, which names its speeds, is not to be read here (Linux 6.10 and newer show it)"
            }
            Self::NoVersion => "it names no USB version",
        })
    }
}

const FULL: f64 = 12.0;
const HIGH: f64 = 480.0;
const SUPER: f64 = 5000.0;

impl Ability {
    /// Of the device at `device`, whose link runs at `link` Mbit/s now.
    pub fn of(device: &Node, link: f64) -> Self {
        let named = device.bytes("bos_descriptors").and_then(|bytes| bos::speed_max_mbit_per_s(&bytes));
        let of_descriptor = device.bytes("descriptors").and_then(|bytes| descriptors::version(&bytes));
        Self::judged(named, of_descriptor.or_else(|| version(&device.text("version")?)), link)
    }

    /// From the highest speed that the BOS names, if there is one, and from the version that the device names on this link.
    fn judged(named: Option<Option<f64>>, version: Option<u16>, link: f64) -> Self {
        if let Some(Some(named)) = named {
            return Self::Known { mbit_per_s: named.max(link) };
        }
        let at_least = |mbit_per_s: f64, unknown| Self::AtLeast { mbit_per_s, unknown };
        let has_bos = named.is_some();
        match version {
            None => at_least(link, Unknown::NoVersion),
            Some(0x0300) => Self::Known { mbit_per_s: SUPER.max(link) },
            Some(0x0301..) => at_least(SUPER.max(link), Unknown::MaybeSuperSpeedPlus),
            Some(0x0210..) if !has_bos => at_least(link, Unknown::MaybeSuperSpeed),
            Some(0x0200..) if link < HIGH => at_least(link, Unknown::MaybeHighSpeed),
            Some(0x0200..) => Self::Known { mbit_per_s: HIGH.max(link) },
            Some(_) => Self::Known { mbit_per_s: FULL.max(link) },
        }
    }

    /// The least that it can do, Mbit/s.
    #[must_use]
    pub const fn at_least_mbit_per_s(&self) -> f64 {
        match self {
            Self::Known { mbit_per_s } | Self::AtLeast { mbit_per_s, .. } => *mbit_per_s,
        }
    }
}

/// The file `version`: ` 2.10` for 0x0210.
fn version(text: &str) -> Option<u16> {
    let (major, minor) = text.split_once('.')?;
    let hexadecimal = |text: &str| u16::from_str_radix(text, 16).ok();
    let minor = hexadecimal(minor).filter(|_| minor.len() == 2)?;
    hexadecimal(major)?.checked_mul(0x100)?.checked_add(minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: fn(f64) -> Ability = |mbit_per_s| Ability::Known { mbit_per_s };

    #[test]
    fn the_store_decides_where_there_is_one() {
        assert_eq!(Ability::judged(Some(Some(5000.0)), Some(0x0210), 480.0), KNOWN(5000.0));
        assert_eq!(Ability::judged(Some(Some(10_000.0)), Some(0x0320), 5000.0), KNOWN(10_000.0));
        assert_eq!(Ability::judged(Some(None), Some(0x0210), 480.0), KNOWN(480.0));
        assert_eq!(Ability::judged(Some(Some(10_000.0)), Some(0x0320), 20_000.0), KNOWN(20_000.0));
    }

    #[test]
    fn the_version_decides_where_it_can() {
        assert_eq!(Ability::judged(None, Some(0x0200), 480.0), KNOWN(480.0));
        assert_eq!(Ability::judged(None, Some(0x0110), 12.0), KNOWN(12.0));
        assert_eq!(Ability::judged(None, Some(0x0300), 480.0), KNOWN(5000.0));
        for (version, link, least, unknown) in [
            (Some(0x0210), 480.0, 480.0, Unknown::MaybeSuperSpeed),
            (Some(0x0200), 12.0, 12.0, Unknown::MaybeHighSpeed),
            (Some(0x0320), 5000.0, 5000.0, Unknown::MaybeSuperSpeedPlus),
            (Some(0x0320), 480.0, 5000.0, Unknown::MaybeSuperSpeedPlus),
            (None, 480.0, 480.0, Unknown::NoVersion),
        ] {
            assert_eq!(Ability::judged(None, version, link), Ability::AtLeast { mbit_per_s: least, unknown });
        }
    }

    #[test]
    fn versions_are_read_from_text_as_well() {
        assert_eq!(
            [version("2.10"), version("3.00"), version("1.10")],
            [Some(0x0210), Some(0x0300), Some(0x0110)]
        );
        assert_eq!([version("2"), version("2.1"), version("a.b"), version("ffff.00")], [None; 4]);
    }
}
