//! The everyday copy: the workload that layers are compared by, and what each part of it takes on the device as it is.
//!
//! Of all bytes, eight tenths are large files, longer than any cache; seventeen hundredths are files of 64 KiB and more, such as
//! photos; a hundredth is written 4 KiB at a time; and two hundredths into five places in turn: directory, allocation table and
//! several files. All of it is written in one go, on a device whose caches are full.

use flashscope_device::Bytes;

use flashscope_record::diagnosis::{Layer, Unweighed, Why};

use crate::diagnosis::seen::Seen;
use crate::diagnosis::{alignment, open_units, slc_cache};

/// The share of bytes in large files, in requests of 1 MiB one behind the other.
pub const LONG: f64 = 0.8;
/// The share in files of medium size, in requests of 64 KiB one behind the other.
pub const MEDIUM: f64 = 0.17;
/// The share that is written 4 KiB at a time, one behind the other.
pub const SMALL: f64 = 0.01;
/// The share that is written 32 KiB, a cluster, at a time into several places in turn.
pub const IN_TURN: f64 = 0.02;
/// How many places these are.
pub const PLACES: u32 = 5;

/// How much of the bytes of a copy each part is, in their order.
pub type Shares = [f64; 4];
/// Those of the everyday copy.
pub const EVERYDAY: Shares = [LONG, MEDIUM, SMALL, IN_TURN];
/// Those of small files alone: what they are of the everyday copy.
pub const SMALL_FILES: Shares = [0.0, 0.0, SMALL, IN_TURN];

/// A part of the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Long,
    Medium,
    Small,
    InTurn,
}

impl Part {
    pub const ALL: [Self; 4] = [Self::Long, Self::Medium, Self::Small, Self::InTurn];

    /// The size of its requests.
    pub const fn request(self) -> Bytes {
        match self {
            Self::Long => Bytes::mib(1),
            Self::Medium => Bytes::kib(64),
            Self::InTurn => Bytes::kib(32),
            Self::Small => Bytes::kib(4),
        }
    }
}

/// What a byte of a part takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Seconds.
    pub seconds: f64,
    /// By which factor that may be less or more.
    pub factor: f64,
}

/// Times of two runs differ by as much: drift, and where in a block they began.
const RUN_TO_RUN: f64 = 1.06;

impl Pace {
    pub const fn of(seconds: f64) -> Self {
        Self { seconds, factor: RUN_TO_RUN }
    }
}

/// What a byte of each part takes on the device as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload {
    paces: [Pace; 4],
    /// What stalls of collection add to each byte, whichever part it belongs to.
    pub stalls: f64,
}

impl Workload {
    /// With these seconds for a byte of each part.
    #[cfg(test)]
    pub fn of(seconds: [f64; 4]) -> Self {
        Self { paces: seconds.map(Pace::of), stalls: 0.0 }
    }

    pub const fn pace(&self, part: Part) -> Pace {
        self.paces[part as usize]
    }
}

/// The copy as the measurements have it, and which layers they leave open.
pub fn measured(seen: &Seen<'_>) -> (Workload, Vec<Unweighed>) {
    let mut unweighed = Vec::new();
    let mut or_open = |layer, result: Result<Pace, Why>, otherwise: Pace| {
        result.unwrap_or_else(|reason| {
            unweighed.push(Unweighed { layer, reason });
            otherwise
        })
    };
    let of_ladder = |part: Part| Pace::of(seen.ladder.seconds_per_byte(part.request()));
    let long = or_open(Layer::SlcCache, slc_cache::pace(seen), of_ladder(Part::Long));
    let in_turn = or_open(Layer::OpenUnits, open_units::pace(seen), of_ladder(Part::InTurn));
    let paces = [long, of_ladder(Part::Medium), of_ladder(Part::Small), in_turn];
    let extra = alignment::extra(seen);
    let stalls = slc_cache::stalls(seen);
    let with_extra = |part: Part| {
        let pace = paces[part as usize];
        // The speed in the long run has its stalls in it; single writes that were held up are left out of the others.
        let stalls = if part == Part::Long { 0.0 } else { stalls };
        let aligned = extra.as_ref().map_or(0.0, |extra| extra.likely(part));
        Pace { seconds: pace.seconds + aligned + stalls, ..pace }
    };
    (Workload { paces: Part::ALL.map(with_extra), stalls }, unweighed)
}
