//! The diagnosis: which bottleneck limits a device, and the gain of removing it. Plain data; `report` writes
//! the sentences.

mod evidence;
mod reason;

pub use evidence::{DiagnosisEvidence, LinkUse, StallCause};
pub use reason::{Decider, DiagnosisReason};

use flashscope_device::Bytes;
use serde::Serialize;

/// A bottleneck is reported from this gain on. Guess: two runs of one copy differ by less.
pub const GAIN_REPORTED_MIN: f64 = 1.25;

/// A smaller gain counts as none. Guess: it is below the error of every measurement.
pub const GAIN_MIN: f64 = 1.02;

/// What may limit the speed of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bottleneck {
    /// The link between host and device.
    Link,
    /// The reader that a card is in.
    Reader,
    /// The driver, which splits requests into many commands.
    Driver,
    /// Writes smaller than a flash page.
    SmallWrites,
    /// A partition that begins inside a page.
    Alignment,
    /// A filesystem whose data begins inside a page, in an aligned partition.
    Filesystem,
    /// More erase blocks written round-robin than the controller keeps open.
    OpenUnits,
    /// An exhausted SLC cache, or garbage collection.
    SlcCache,
    /// The source of the data.
    DataSource,
    /// The page cache of the host. It limits nothing, but it makes writes look faster than they are.
    PageCache,
    /// The flash itself: its speed under the best conditions.
    Flash,
}

impl Bottleneck {
    /// The id in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Reader => "reader",
            Self::Driver => "driver",
            Self::SmallWrites => "small_writes",
            Self::Alignment => "alignment",
            Self::Filesystem => "filesystem",
            Self::OpenUnits => "open_units",
            Self::SlcCache => "slc_cache",
            Self::DataSource => "data_source",
            Self::PageCache => "page_cache",
            Self::Flash => "flash",
        }
    }
}

/// A bottleneck, and the gain of removing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// The speed-up of the everyday copy without it.
    pub gain: Gain,
    /// The measured figures.
    pub evidence: DiagnosisEvidence,
}

/// A bottleneck that was not tested.
#[derive(Debug, Clone, PartialEq)]
pub struct Untested {
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// Why it was not tested.
    pub reason: DiagnosisReason,
}

/// The answer of a diagnosis.
#[derive(Debug, Clone, PartialEq)]
pub enum Conclusion {
    /// This bottleneck has the largest gain; it is also the first of the costs.
    Bottleneck(Cost),
    /// The flash itself: no other bottleneck has a reportable gain.
    Flash(DiagnosisEvidence),
    /// Not known.
    Unknown {
        /// Why.
        reason: DiagnosisReason,
        /// The measurement that would decide it.
        would_decide: Decider,
    },
}

/// The diagnosis of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The bottleneck, or why it is not known.
    pub conclusion: Conclusion,
    /// Every tested bottleneck with a gain, in descending order of gain.
    pub costs: Vec<Cost>,
    /// The bottleneck of small files copied alone, if its gain is reportable.
    pub small_files: Option<Cost>,
    /// The bottlenecks that were not tested.
    pub untested: Vec<Untested>,
    /// Speeds that only the page cache has.
    pub cached_speeds: Vec<CachedSpeed>,
    /// The longest copy that the diagnosis covers; `None` without a limit.
    pub copy_max: Option<Bytes>,
    /// How the time of the everyday copy is divided, the bottlenecks by gain and the flash itself last. The
    /// shares sum to 1. Empty if no write was measured.
    pub time_shares: Vec<TimeShare>,
    /// The gain of copying small files as one archive, for everyday copies and for small files alone;
    /// `None` without one, and if no write was measured.
    pub archive: ArchiveGain,
}

/// The part of the time of the everyday copy that a bottleneck takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeShare {
    /// The bottleneck; the flash itself for the time that no other takes.
    pub bottleneck: Bottleneck,
    /// Its part of the time, from 0 to 1.
    pub share: f64,
}

/// The gain of copying small files as one archive.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct ArchiveGain {
    /// For the everyday copy.
    pub everyday: Option<Gain>,
    /// For small files alone.
    pub small_files: Option<Gain>,
}

impl Diagnosis {
    /// This conclusion, and nothing else known.
    #[must_use]
    pub const fn new(conclusion: Conclusion) -> Self {
        Self {
            conclusion,
            costs: Vec::new(),
            small_files: None,
            untested: Vec::new(),
            cached_speeds: Vec::new(),
            copy_max: None,
            time_shares: Vec::new(),
            archive: ArchiveGain { everyday: None, small_files: None },
        }
    }

    /// The bottleneck, if it is known.
    #[must_use]
    pub const fn bottleneck(&self) -> Option<Bottleneck> {
        match &self.conclusion {
            Conclusion::Bottleneck(cost) => Some(cost.bottleneck),
            Conclusion::Flash(_) => Some(Bottleneck::Flash),
            Conclusion::Unknown { .. } => None,
        }
    }

    /// The cost of this bottleneck; `None` if it was not tested or has no gain.
    #[must_use]
    pub fn cost(&self, bottleneck: Bottleneck) -> Option<&Cost> {
        self.costs.iter().find(|cost| cost.bottleneck == bottleneck)
    }

    /// The gain of removing this bottleneck, [`Gain::NONE`] if it was tested and costs nothing; `None` if it
    /// was not tested.
    #[must_use]
    pub fn gain(&self, bottleneck: Bottleneck) -> Option<Gain> {
        let is_untested = self.untested.iter().any(|untested| untested.bottleneck == bottleneck);
        let is_empty = self.costs.is_empty() && self.untested.is_empty() && self.bottleneck().is_none();
        let without_cost = (!is_untested && !is_empty).then_some(Gain::NONE);
        self.cost(bottleneck).map_or(without_cost, |cost| Some(cost.gain))
    }
}

/// The speed-up of a copy, a ratio: an interval, and the likely value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// The lower end; 1 is no gain.
    pub low: f64,
    /// The likely value.
    pub likely: f64,
    /// The upper end.
    pub high: f64,
}

impl Gain {
    /// No gain, within the error of measurement.
    pub const NONE: Self = Self { low: 1.0, likely: 1.0, high: GAIN_MIN };

    /// Whether even the upper end is no gain.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.high <= GAIN_MIN
    }
}

/// A reported speed that only the page cache has, not the device.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedSpeed {
    /// The cause: [`Bottleneck::PageCache`].
    pub bottleneck: Bottleneck,
    /// The reported speed over the durable speed of the same data.
    pub ratio: f64,
    /// The measured figures.
    pub evidence: DiagnosisEvidence,
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAIN: Gain = Gain { low: 1.5, likely: 2.0, high: 3.0 };

    #[test]
    fn bottlenecks_that_were_not_tested_have_no_gain() {
        let evidence = DiagnosisEvidence::Flash { single_bytes_per_s: 1.0, long_bytes_per_s: 1.0 };
        let cost = Cost { bottleneck: Bottleneck::SmallWrites, gain: GAIN, evidence: evidence.clone() };
        let untested = Untested { bottleneck: Bottleneck::Link, reason: DiagnosisReason::InMemory };
        let tested = Diagnosis {
            conclusion: Conclusion::Flash(evidence),
            costs: vec![cost],
            small_files: None,
            untested: vec![untested],
            cached_speeds: Vec::new(),
            copy_max: None,
            time_shares: Vec::new(),
            archive: ArchiveGain::default(),
        };
        assert_eq!(tested.gain(Bottleneck::SmallWrites), Some(GAIN));
        assert_eq!(tested.gain(Bottleneck::OpenUnits), Some(Gain::NONE));
        assert_eq!(tested.gain(Bottleneck::Link), None, "not tested");
        let reason = DiagnosisReason::InMemory;
        let conclusion = Conclusion::Unknown { reason, would_decide: Decider::WriteTests };
        let empty = Diagnosis { conclusion, costs: Vec::new(), untested: Vec::new(), ..tested };
        assert_eq!(empty.gain(Bottleneck::OpenUnits), None, "nothing was tested");
    }

    #[test]
    fn a_tested_bottleneck_without_a_cost_has_no_gain_whatever_else_is_known() {
        let evidence = DiagnosisEvidence::Flash { single_bytes_per_s: 1.0, long_bytes_per_s: 1.0 };
        let costs = [Cost { bottleneck: Bottleneck::SmallWrites, gain: GAIN, evidence: evidence.clone() }];
        let untested = [Untested { bottleneck: Bottleneck::Link, reason: DiagnosisReason::InMemory }];
        let unknown =
            Conclusion::Unknown { reason: DiagnosisReason::InMemory, would_decide: Decider::WriteTests };
        let gain = |conclusion: &Conclusion, costs: &[Cost], untested: &[Untested]| {
            let (costs, untested) = (costs.to_vec(), untested.to_vec());
            let diagnosis = Diagnosis { costs, untested, ..Diagnosis::new(conclusion.clone()) };
            diagnosis.gain(Bottleneck::OpenUnits)
        };
        assert_eq!(gain(&Conclusion::Flash(evidence), &[], &[]), Some(Gain::NONE), "only the flash");
        assert_eq!(gain(&unknown, &costs, &[]), Some(Gain::NONE), "another bottleneck costs time");
        assert_eq!(gain(&unknown, &[], &untested), Some(Gain::NONE), "another one was not tested");
        assert_eq!(gain(&unknown, &[], &[]), None, "nothing was tested");
    }
}
