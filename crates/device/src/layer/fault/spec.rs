//! Descriptions of faults, as data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units::{ByteRange, Bytes};

/// One fault of a device. `docs/simulator.md` describes its text form (`FromStr`, `Display`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FaultSpec {
    /// The device holds less than it reports.
    Counterfeit(CounterfeitSpec),
    /// A share of the reads fails.
    ReadErrors(ErrorSpec),
    /// A share of the writes fails.
    WriteErrors(ErrorSpec),
    /// A share of the sectors reads back wrong, without an error.
    WrongReads(WrongReadSpec),
    /// The device is unplugged and stays away.
    Unplug(CutSpec),
    /// The power fails and returns.
    PowerCut(CutSpec),
    /// The device wears out: latency and error rate grow with every byte written.
    Dying(DyingSpec),
}

/// A drive that reports more than it holds.
///
/// An address is first taken modulo `wrap`. The data is dropped if the result is `real` or more. These
/// parameters describe good, bad, limbo, wrap-around and chain drives, as in the self-test of f3probe (M.
/// Machado, f3, Fight Flash Fraud).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterfeitSpec {
    /// The real capacity; 0 if it stores nothing.
    pub real: Bytes,
    /// The size after which addresses wrap to 0; `None` if they do not.
    pub wrap: Option<Bytes>,
    /// The reported capacity; `None`: that of the device below.
    pub fake: Option<Bytes>,
    /// The data that reads of dropped sectors return.
    pub reads: DroppedReads,
    /// A cache that returns recently dropped data.
    pub cache: Option<DroppedDataCache>,
    /// The logical block; `None`: that of the device below.
    pub block: Option<Bytes>,
}

/// The data that a read of dropped sectors returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DroppedReads {
    /// Zero bytes.
    Zeros,
    /// Bytes of 0xff, as in erased flash.
    Ones,
    /// Pseudo-random data that looks like old files; constant for each sector.
    Garbage,
}

/// A direct-mapped cache for dropped data: the slot of an address is the address modulo the cache's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedDataCache {
    /// The size of the cache.
    pub size: Bytes,
    /// Whether it compares addresses.
    pub lookup: Lookup,
}

/// Whether a cache compares addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// It returns data only for the address that was written.
    Strict,
    /// It returns the data of the slot for any address that maps to it.
    Loose,
}

/// The share of requests of one kind that fail with a medium error, optionally in one range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorSpec {
    /// The share of failing requests: above 0, at most 1.
    pub share: f64,
    /// Only requests that overlap this range fail; `None`: the whole device.
    pub range: Option<ByteRange>,
}

/// The sectors that read back wrong. The seed selects them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WrongReadSpec {
    /// Their share: above 0, at most 1.
    pub share: f64,
    /// Only sectors in this range; `None`: the whole device.
    pub range: Option<ByteRange>,
    /// Only the first reads of each, this many; `None`: all.
    pub times: Option<u32>,
}

/// When the power is cut, and which writes are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutSpec {
    /// When the power is cut.
    pub trigger: Trigger,
    /// The size of the volatile write cache.
    pub cache: Bytes,
    /// Which cached writes survive.
    pub survivors: Survivors,
}

/// When the power is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// After this number of requests.
    Requests(u64),
    /// After this number of bytes read and written.
    Transferred(Bytes),
    /// At this device time.
    At(Duration),
}

/// Which writes in a volatile cache survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survivors {
    /// No write survives.
    None,
    /// A random draw decides for each write: all of it survives, nothing, or its first sectors. The draws do
    /// not depend on the order of the writes.
    Some,
}

/// How a device wears out: error rate and delay grow linearly with the bytes written, from zero to their full
/// value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DyingSpec {
    /// Bytes written before the first effect.
    pub after: Bytes,
    /// Further bytes until error rate and delay have their full value.
    pub over: Bytes,
    /// The full error rate of reads and writes, from 0 to 1.
    pub errors: f64,
    /// The mean of the full delay per request (exponential distribution).
    pub delay: Duration,
}

impl CounterfeitSpec {
    /// A drive with this real capacity, and defaults otherwise.
    #[must_use]
    pub const fn holding(real: Bytes) -> Self {
        Self { real, wrap: None, fake: None, reads: DroppedReads::Zeros, cache: None, block: None }
    }
}

impl FaultSpec {
    /// The names of the faults in texts.
    pub const NAMES: [&str; 9] = [
        "wrap",
        "limbo",
        "chain",
        "read-errors",
        "write-errors",
        "wrong-reads",
        "unplug",
        "power-cut",
        "dying",
    ];

    /// The name of this fault in texts.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Counterfeit(spec) if spec.wrap == Some(spec.real) => "wrap",
            Self::Counterfeit(CounterfeitSpec { wrap: Some(_), .. }) => "chain",
            Self::Counterfeit(_) => "limbo",
            Self::ReadErrors(_) => "read-errors",
            Self::WriteErrors(_) => "write-errors",
            Self::WrongReads(_) => "wrong-reads",
            Self::Unplug(_) => "unplug",
            Self::PowerCut(_) => "power-cut",
            Self::Dying(_) => "dying",
        }
    }
}
