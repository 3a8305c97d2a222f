//! Why a finding is unknown.

use flashscope_device::Bytes;

use super::{Caveat, Confidence, Evidence, FindingId, LogFault, Objection, Value};
use crate::measurement::{Measurement, Sample};
use crate::observation::{Contents, Refusal, StopReason};

/// Why random writes pay into however many blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SharedCost {
    /// All blocks share logs.
    SharedLogs,
    /// A log takes each write where it stands.
    Log,
    /// Pages go to any free space; garbage collection comes after this many bytes.
    Collection {
        /// Bytes written from one collection to the next.
        every: Bytes,
        /// How long a collection takes, seconds.
        extra_s: f64,
    },
}

/// Why a finding is unknown.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Nothing of this was measured.
    NotMeasured(Measurement),
    /// The measurement could not start.
    NotStarted(Refusal),
    /// The measurements ended early; and the reason besides.
    EndedEarly {
        /// What ended them.
        stops: Vec<StopReason>,
        /// What was known until then.
        otherwise: Box<Reason>,
    },
    /// All of these.
    All(Vec<Reason>),
    /// The measured times cannot be those of flash.
    Objection(Objection),
    /// The log does not decide it.
    Log(LogFault),
    /// Too few of these were measured.
    TooFew {
        /// How many, where that says something.
        number: Option<usize>,
        /// Of what.
        sample: Sample,
    },
    /// The most likely value is not sure enough.
    Likely {
        /// The value.
        value: Value,
        /// How likely it is.
        confidence: Confidence,
        /// The figures behind it.
        because: Option<Evidence>,
    },
    /// Several sizes fit, each with its probability if that was computed.
    SeveralFit(Vec<(Bytes, Option<f64>)>),
    /// It depends on another finding that is not known.
    DependsOn(FindingId),
    /// Reads show a page, but not whether writes work in a multiple of it.
    PageFromReads(Option<Evidence>),
    /// The value holds only if the assumed erase block does.
    IfAssumed {
        /// The value.
        value: Value,
        /// The assumption.
        assumption: Caveat,
    },
    /// It would be page-mapped, but neither a page nor an erase block shows.
    NoSignOfFlash,
    /// The device is mostly blank: a controller may answer reads without touching flash.
    MostlyBlank(Contents),
    /// The same writes took another time later.
    SpeedChanged {
        /// At first, seconds.
        first_s: f64,
        /// At the end, seconds.
        last_s: f64,
    },
    /// No hypothesis explains the reads.
    NothingFits,
    /// Differences between reads are within the noise.
    WithinNoise {
        /// The smallest boundary that was compared, where only some were.
        boundaries_from: Option<Bytes>,
        /// Median time of a read, seconds.
        read_s: f64,
        /// The noise, seconds.
        noise_s: f64,
    },
    /// The step in reads is too small to be a boundary.
    SmallStep {
        /// Median time of a read, seconds.
        read_s: f64,
        /// The step, seconds.
        step_s: f64,
    },
    /// Medians differ, but single reads do not.
    SingleReadsDisagree {
        /// The block that would fit.
        block: Option<Bytes>,
        /// The share of slow reads across the block's multiples, and elsewhere.
        slow: Option<(f64, f64)>,
    },
    /// Reads show no boundary of pages.
    NoPageInReads,
    /// Reads show pages of two planes inside a larger one.
    TwoPlanes {
        /// Half of the larger page.
        half: Bytes,
        /// How much longer reads across its odd multiples take, seconds.
        extra_s: f64,
    },
    /// Small writes take as long across boundaries as beside them.
    NoPageInWrites {
        /// Boundaries that were tried.
        boundaries: usize,
    },
    /// The time of writes grows with their size throughout.
    NoFlatSizes,
    /// Opening blocks merged nothing.
    NothingMerged {
        /// Offsets where a block was opened.
        offsets: usize,
    },
    /// Pairs of writes that merged meet at no multiples of one size.
    PairsDisagree {
        /// Pairs of writes.
        pairs: usize,
    },
    /// The smallest request reaches the best speed.
    SmallestIsFastest(Bytes),
    /// The largest request is still much faster than half of it.
    LargestStillFaster(Bytes),
    /// Even the smallest number of blocks merges at every request.
    FewestMerge(u32),
    /// Writing slows down gradually with the number of blocks.
    SlowsGradually {
        /// The most blocks that can fit, where that shows.
        at_most: Option<u32>,
        /// A number of blocks that is slower.
        blocks: u32,
        /// How many times as long writes take there.
        factor: f64,
        /// The number of blocks it is compared with.
        fewest: u32,
    },
    /// At least this many fit; more were not tried.
    AtLeast(u32),
    /// No merge showed up to this number of blocks.
    NoMergeUpTo(u32),
    /// The number lies between these.
    BetweenCounts {
        /// Blocks that were seen open at once.
        open_at_once: u32,
        /// At least.
        low: u32,
        /// At most.
        high: u32,
    },
    /// No number of blocks was found that is too many.
    NoUpperCount,
    /// Random writes pay into however many blocks.
    PaysEverywhere(SharedCost),
    /// Slow writes come whatever the number of blocks: they are no merges.
    StallsHideMerges,
    /// Beyond the open blocks, every byte takes longer: that is no merge.
    CostPerByte {
        /// The open blocks.
        fits: u32,
    },
    /// What a write pays beyond the open blocks lies between two rules.
    BetweenRules {
        /// At least this many blocks fit.
        low: u32,
        /// At most this many fit.
        high: u32,
        /// What a merge, or the extra cost of a request, takes, seconds.
        extra_s: f64,
        /// The probability that every switch pays, where that was computed.
        every_switch: Option<f64>,
    },
    /// Merges differ too much to be of one kind.
    MergesDiffer(Evidence),
    /// Opening ordinary blocks did not evict others each time.
    NothingEvicted,
    /// The first blocks use no slot; the area's end was not reached.
    FatAreaEndNotReached {
        /// Blocks that were tried.
        blocks: u32,
    },
    /// A block is fast to open at one time, slow at another.
    OpeningVaries(usize),
    /// Small writes differ between erase blocks by this factor, but not as a FAT area would make them.
    SmallWritesVary {
        /// The factor.
        factor: f64,
    },
    /// The stream has no steady speed: how much its parts differ, if that was computed.
    NotSettled {
        /// What was written.
        written: Bytes,
        /// How much the parts differ, as a share.
        spread: Option<f64>,
    },
    /// The stream was too short for a cache of a third of the capacity.
    StreamTooShort {
        /// What was written.
        written: Bytes,
    },
    /// The speed fell, but it varies as much by itself.
    SpeedVaries {
        /// What was written fast.
        fast: Bytes,
        /// The speed before, bytes per second.
        before_bytes_per_s: f64,
        /// The speed after, bytes per second.
        after_bytes_per_s: f64,
    },
    /// The fast start may be memory of the controller.
    MayBeMemory {
        /// What was written fast.
        fast: Bytes,
        /// The speed before, bytes per second.
        before_bytes_per_s: f64,
        /// The speed after, bytes per second.
        after_bytes_per_s: f64,
        /// The largest size that the write buffer may have, if one was found.
        buffer: Option<Bytes>,
    },
    /// Only some of the bursts were fast at first.
    SomeBurstsFast {
        /// The bursts that were.
        fast: usize,
        /// All bursts.
        bursts: usize,
    },
    /// The writes took no time at all.
    NoTime,
    /// The bursts were shorter than the memory may be.
    BurstTooShort {
        /// Writes in the longest burst.
        writes: usize,
        /// Size of each write.
        request: Bytes,
        /// Median time of a write, seconds.
        write_s: f64,
        /// The largest memory of a controller.
        memory_max: Bytes,
    },
    /// What is fast after a pause grows with the pause: flash freed meanwhile, not memory.
    GrowsWithPause {
        /// After a short pause.
        short: Bytes,
        /// After a long pause.
        long: Bytes,
    },
}

impl Reason {
    /// Both reasons.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut all = if let Self::All(all) = self { all } else { vec![self] };
        all.push(other);
        Self::All(all)
    }

    /// The same reason, for a measurement that ended early as well. Each stop counts once.
    #[must_use]
    pub fn ended_early(self, stop: StopReason) -> Self {
        match self {
            Self::EndedEarly { mut stops, otherwise } => {
                if !stops.contains(&stop) {
                    stops.push(stop);
                }
                Self::EndedEarly { stops, otherwise }
            }
            otherwise => Self::EndedEarly { stops: vec![stop], otherwise: Box::new(otherwise) },
        }
    }

    /// The reason apart from an early end.
    #[must_use]
    pub fn apart_from_early_end(&self) -> &Self {
        match self {
            Self::EndedEarly { otherwise, .. } => otherwise,
            reason => reason,
        }
    }
}
