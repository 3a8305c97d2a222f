//! What can be wrong with a device, as data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units::{ByteRange, Bytes};

/// One thing that is wrong with a device. Its text form (`FromStr`, `Display`) is described in `docs/simulator.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FaultSpec {
    /// It holds less than it claims.
    Counterfeit(CounterfeitSpec),
    /// Some reads fail.
    ReadErrors(ErrorSpec),
    /// Some writes fail.
    WriteErrors(ErrorSpec),
    /// It is pulled out and stays away.
    Unplug(CutSpec),
    /// Its power fails and comes back.
    PowerCut(CutSpec),
    /// It gets slower and fails more often with every byte written.
    Dying(DyingSpec),
}

/// A drive that claims more than it holds.
///
/// An address is first taken modulo `wrap`, and what then lies behind `real` is dropped. Good,
/// bad, limbo, wrap-around and chain drives are all made of these parameters, as in the drives that the self-test of f3probe
/// emulates (M. Machado, f3, Fight Flash Fraud).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterfeitSpec {
    /// How much it really holds; 0: nothing at all.
    pub real: Bytes,
    /// Where addresses start over; `None`: nowhere.
    pub wrap: Option<Bytes>,
    /// How much it claims to hold; `None`: what the device below claims.
    pub fake: Option<Bytes>,
    /// What reads of dropped data give.
    pub reads: DroppedReads,
    /// A cache that gives freshly dropped data back all the same.
    pub cache: Option<GhostCache>,
    /// The logical block; `None`: that of the device below.
    pub block: Option<Bytes>,
}

/// What a read of dropped data gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DroppedReads {
    /// Zero bytes.
    Zeros,
    /// Bytes of 0xff, as erased flash has them.
    Ones,
    /// What looks like somebody's old data; always the same in the same place.
    Garbage,
}

/// A cache for data that is dropped. An address has one place in it, the address modulo the cache's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GhostCache {
    /// How much it holds.
    pub size: Bytes,
    /// Whether it knows whose data it holds.
    pub lookup: Lookup,
}

/// Whether a cache knows whose data it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// It gives data back for the address it was written to.
    Strict,
    /// It gives whatever lies in an address's place, whoever wrote it.
    Loose,
}

/// Which requests of one kind fail with a medium error: a share of those that touch a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorSpec {
    /// Above 0 and up to 1.
    pub share: f64,
    /// `None`: everywhere.
    pub range: Option<ByteRange>,
}

/// When the power goes, and what that costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutSpec {
    /// When.
    pub trigger: Trigger,
    /// How much of what was written since the last flush is still in memory that forgets.
    pub cache: Bytes,
    /// What becomes of that.
    pub survivors: Survivors,
}

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// Once the device has taken this many requests.
    Requests(u64),
    /// Once this much was read and written.
    Moved(Bytes),
    /// At this device time.
    At(Duration),
}

/// What a power cut leaves of the writes in a volatile cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survivors {
    /// Nothing.
    None,
    /// Chance decides of each: all of it, nothing, or its first sectors. A cache need not write back in order.
    Some,
}

/// How a device dies: errors and delays grow in proportion to what was written, from nothing to their full measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DyingSpec {
    /// How much can be written before it begins.
    pub after: Bytes,
    /// How much more brings errors and delays to their full measure.
    pub over: Bytes,
    /// The share of reads and writes that fail in the end, from 0 to 1.
    pub errors: f64,
    /// How much longer a request takes in the end, on average (exponential).
    pub delay: Duration,
}

impl CounterfeitSpec {
    /// A drive of this size with nothing else to it.
    #[must_use]
    pub const fn holding(real: Bytes) -> Self {
        Self { real, wrap: None, fake: None, reads: DroppedReads::Zeros, cache: None, block: None }
    }
}

impl FaultSpec {
    /// The names of the faults in texts.
    pub const NAMES: [&str; 8] =
        ["wrap", "limbo", "chain", "read-errors", "write-errors", "unplug", "power-cut", "dying"];

    /// The name of this fault in texts.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Counterfeit(spec) if spec.wrap == Some(spec.real) => "wrap",
            Self::Counterfeit(CounterfeitSpec { wrap: Some(_), .. }) => "chain",
            Self::Counterfeit(_) => "limbo",
            Self::ReadErrors(_) => "read-errors",
            Self::WriteErrors(_) => "write-errors",
            Self::Unplug(_) => "unplug",
            Self::PowerCut(_) => "power-cut",
            Self::Dying(_) => "dying",
        }
    }
}
