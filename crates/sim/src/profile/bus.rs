//! Buses between host and stick: the ceiling of each, and its default figures.

use std::fmt;
use std::str::FromStr;

use flashscope_device::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A bus, in the mode that host and stick agreed on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Bus {
    /// USB full speed, 12 Mbit/s.
    UsbFull,
    /// USB high speed, 480 Mbit/s.
    #[default]
    UsbHigh,
    /// USB `SuperSpeed`, 5 Gbit/s.
    UsbSuper5,
    /// USB `SuperSpeed`+, 10 Gbit/s.
    UsbSuper10,
    /// SD over SPI: one line of 25 MHz.
    SdSpi,
    /// SD default speed: four lines of 25 MHz.
    SdDefault,
    /// SD high speed: four lines of 50 MHz.
    SdHighSpeed,
    /// SD UHS-I: four lines of 100 MHz.
    SdSdr50,
    /// SD UHS-I: four lines of 50 MHz, double data rate.
    SdDdr50,
    /// SD UHS-I: four lines of 208 MHz.
    SdSdr104,
}

/// Rates and overheads of a bus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusFigures {
    /// The most payload that the packet format allows, 10^6 bytes per second.
    pub ceiling_megabytes_per_s: f64,
    /// The payload rate in practice, 10^6 bytes per second.
    pub megabytes_per_s: f64,
    /// Overhead of a command before and after its data, us.
    pub command_us: f64,
    /// The largest command: the host splits larger requests.
    pub max_command: Bytes,
}

impl Bus {
    /// All buses, slowest first in each family.
    pub const ALL: [Self; 10] = [
        Self::UsbFull,
        Self::UsbHigh,
        Self::UsbSuper5,
        Self::UsbSuper10,
        Self::SdSpi,
        Self::SdDefault,
        Self::SdHighSpeed,
        Self::SdSdr50,
        Self::SdDdr50,
        Self::SdSdr104,
    ];

    /// Its name in profiles and targets.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UsbFull => "usb-full",
            Self::UsbHigh => "usb-high",
            Self::UsbSuper5 => "usb-super-5",
            Self::UsbSuper10 => "usb-super-10",
            Self::SdSpi => "sd-spi",
            Self::SdDefault => "sd-default",
            Self::SdHighSpeed => "sd-high-speed",
            Self::SdSdr50 => "sd-sdr50",
            Self::SdDdr50 => "sd-ddr50",
            Self::SdSdr104 => "sd-sdr104",
        }
    }

    /// True for the USB buses.
    #[must_use]
    pub const fn is_usb(self) -> bool {
        matches!(self, Self::UsbFull | Self::UsbHigh | Self::UsbSuper5 | Self::UsbSuper10)
    }

    /// The nominal signalling rate of USB, 10^6 bits per second; `None` for SD.
    #[must_use]
    pub const fn usb_mbit_per_s(self) -> Option<f64> {
        match self {
            Self::UsbFull => Some(12.0),
            Self::UsbHigh => Some(480.0),
            Self::UsbSuper5 => Some(5000.0),
            Self::UsbSuper10 => Some(10_000.0),
            _ => None,
        }
    }

    /// The figures of the bus. The sources of the ceilings:
    ///
    /// - USB 2.0, section 5.8.4: 19 bulk packets of 64 bytes in a frame of 1 ms at full speed, 13 of 512
    ///   bytes in a microframe of 125 us at high speed.
    /// - USB 3.2, chapters 6 and 7: 10 bits for 8 at 5 Gbit/s, 132 for 128 at 10 Gbit/s; each packet of 1024
    ///   bytes has 20 bytes of header before it and 12 bytes of framing and checksum around it.
    /// - SD Physical Layer Simplified Specification, chapters 3, 4 and 7: each line carries a start bit, 16
    ///   bits of checksum and an end bit with its share of 512 bytes; over SPI, a token and two bytes of
    ///   checksum.
    ///
    /// Rates in practice: about 1 MB/s at full speed, 30 to 42 MB/s at high speed, 400 to 450 MB/s at 5
    /// Gbit/s, 7.2 Gbit/s at 10 Gbit/s (first devices); SD 92 % of the clock. A bulk-only command is three
    /// transfers: 31 bytes out, the data, 13 bytes back. At full and high speed it takes at least one frame
    /// or microframe. On SD it is 350 clocks of commands and responses plus 20 us in the host (assumed).
    /// Linux usb-storage splits requests at 240 sectors below `SuperSpeed` and at 2048 from there on; SD
    /// hosts typically at 512 KiB.
    #[must_use]
    pub const fn figures(self) -> BusFigures {
        let (ceiling_megabytes_per_s, megabytes_per_s, command_us, max_command) = match self {
            Self::UsbFull => (1.216, 1.0, 1000.0, Bytes::kib(120)),
            Self::UsbHigh => (53.248, 38.0, 125.0, Bytes::kib(120)),
            Self::UsbSuper5 => (484.8, 425.0, 30.0, Bytes::mib(1)),
            Self::UsbSuper10 => (1175.4, 900.0, 30.0, Bytes::mib(1)),
            Self::SdSpi => (3.106, 2.87, 34.0, SD_COMMAND_MAX),
            Self::SdDefault => (12.28, 11.5, 34.0, SD_COMMAND_MAX),
            Self::SdHighSpeed => (24.56, 23.0, 27.0, SD_COMMAND_MAX),
            Self::SdSdr50 => (49.13, 46.0, 23.5, SD_COMMAND_MAX),
            Self::SdDdr50 => (49.13, 46.0, 27.0, SD_COMMAND_MAX),
            Self::SdSdr104 => (102.2, 95.7, 21.7, SD_COMMAND_MAX),
        };
        BusFigures { ceiling_megabytes_per_s, megabytes_per_s, command_us, max_command }
    }
}

// The usual limit of SD hosts.
const SD_COMMAND_MAX: Bytes = Bytes::kib(512);

impl fmt::Display for Bus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// An unknown bus name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a bus; the buses are {}", name.escape_debug(), Bus::ALL.map(Bus::name).join(", "))]
pub struct UnknownBus {
    name: String,
}

impl FromStr for Bus {
    type Err = UnknownBus;

    fn from_str(name: &str) -> Result<Self, UnknownBus> {
        let bus = Self::ALL.into_iter().find(|bus| bus.name() == name);
        bus.ok_or_else(|| UnknownBus { name: name.chars().take(40).collect() })
    }
}

impl Serialize for Bus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Bus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
