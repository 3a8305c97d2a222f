//! Why a finding is unknown.

use flashscope_device::Bytes;

use super::{Caveat, Confidence, Evidence, FindingId, LogFault, Objection, Value};
use crate::measurement::{Measurement, Sample};
use crate::observation::{Contents, Refusal, StopReason};

/// Why random writes are slower with any number of blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SharedCost {
    /// All blocks share logs.
    SharedLogs,
    /// Every random write goes to a log.
    Log,
    /// Pages are mapped freely; garbage collection comes once per `every` bytes.
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
    /// The measurements ended early, and another reason.
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
        /// Their number, if it is stated.
        number: Option<usize>,
        /// What is counted.
        sample: Sample,
    },
    /// The most likely value is not sure enough.
    Likely {
        /// The value.
        value: Value,
        /// Its probability.
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
    /// It would be page-mapped, but neither a page nor an erase block was found.
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
    /// A boundary of this size is hardly that of an erase block.
    UnlikelyBlock {
        /// The boundary's size.
        size: Bytes,
        /// How much longer reads across it take, seconds.
        extra_s: f64,
        /// The limit that the size exceeds, or falls below.
        limit: Bytes,
    },
    /// Medians differ, but single reads do not.
    SingleReadsDisagree {
        /// The block that would fit.
        block: Option<Bytes>,
        /// The share of slow reads across the block's multiples, and elsewhere.
        slow: Option<(f64, f64)>,
    },
    /// Reads show no page boundary.
    NoPageInReads,
    /// Reads show pages of two planes inside a larger one.
    TwoPlanes {
        /// Half of the larger page.
        half: Bytes,
        /// How much longer reads across its odd multiples take, seconds.
        extra_s: f64,
    },
    /// Small writes take as long across boundaries as elsewhere.
    NoPageInWrites {
        /// Boundaries that were tried.
        boundaries: usize,
    },
    /// The write latency grows with every size.
    NoFlatSizes,
    /// Opening blocks merged nothing.
    NothingMerged {
        /// Offsets where a block was opened.
        offsets: usize,
    },
    /// The pairs of writes that merged share no erase-block size.
    PairsDisagree {
        /// Pairs of writes.
        pairs: usize,
    },
    /// The smallest request reaches the best speed.
    SmallestIsFastest(Bytes),
    /// The largest request is still much faster than half of it.
    LargestStillFaster(Bytes),
    /// Requests of this size were the fastest, and all at least twice as large much slower: a cache took the
    /// smaller ones.
    LargerMuchSlower(Bytes),
    /// Even the smallest number of blocks merges at every request.
    FewestMerge {
        /// That number.
        blocks: u32,
        /// The median time of a request, seconds.
        merge_s: f64,
        /// The largest request that merges nothing, if small ones do not.
        free_to: Option<Bytes>,
    },
    /// Writing slows down gradually with the number of blocks.
    SlowsGradually {
        /// The most blocks that can fit, where that shows.
        at_most: Option<u32>,
        /// The most blocks that are as fast as the fewest.
        as_fast: u32,
        /// A number of blocks that is slower.
        blocks: u32,
        /// How many times as long writes take there.
        factor: f64,
        /// The number of blocks it is compared with.
        fewest: u32,
        /// The largest number of blocks and its factor, if it is another.
        last: Option<(u32, f64)>,
    },
    /// At least this many fit; more were not tested.
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
    /// No tested number of blocks was too many.
    NoUpperCount,
    /// Random writes are slower with any number of blocks.
    PaysEverywhere(SharedCost),
    /// Slow writes occur with any number of blocks: they are stalls, not merges.
    StallsHideMerges,
    /// Others wrote to the device during each attempt to test random writes.
    OthersWrote,
    /// Beyond the open blocks, the time grows with the bytes: that is no merge.
    CostPerByte {
        /// The open blocks.
        fits: u32,
    },
    /// The extra time of a write beyond the open blocks fits neither eviction rule.
    BetweenRules {
        /// At least this many blocks fit.
        low: u32,
        /// At most this many fit.
        high: u32,
        /// The time of a merge, or the extra time of a request, seconds.
        extra_s: f64,
        /// The probability that every switch merges, if it was computed.
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
    /// Opening this block was fast once and slow another time.
    OpeningVaries(usize),
    /// Small writes differ between erase blocks by this factor, but not in the pattern of a
    /// FAT area.
    SmallWritesVary {
        /// The factor.
        factor: f64,
    },
    /// The stream reached no steady state.
    NotSettled {
        /// What was written.
        written: Bytes,
        /// The difference between its parts, as a share, if it was computed.
        spread: Option<f64>,
    },
    /// The stream was too short for a cache of a third of the capacity.
    StreamTooShort {
        /// What was written.
        written: Bytes,
    },
    /// The same run wrote other data before, which may have used up the cache.
    OtherWrites {
        /// What was written fast in the stream, 0 without a slow-down.
        fast: Bytes,
        /// The other data.
        other: Bytes,
    },
    /// The speed fell, but its normal variation is as large.
    SpeedVaries {
        /// What was written fast.
        fast: Bytes,
        /// The speed before, bytes per second.
        before_bytes_per_s: f64,
        /// The speed after, bytes per second.
        after_bytes_per_s: f64,
    },
    /// The fast start may be a write buffer.
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
    /// A stream that overwrites one file does not show it.
    StreamInFile {
        /// The file.
        file: Bytes,
    },
    /// The file holds too few blocks of this size.
    FileTooShort {
        /// What fits the times.
        size: Bytes,
        /// The file.
        file: Bytes,
    },
    /// The file begins at an offset that is no multiple of this.
    FileOffAlignment {
        /// What fits the times.
        size: Bytes,
        /// The offset of the file on the device.
        offset: Bytes,
    },
    /// The bursts were shorter than a write buffer may be.
    BurstTooShort {
        /// Writes in the longest burst.
        writes: usize,
        /// Size of each write.
        request: Bytes,
        /// Median time of a write, seconds.
        write_s: f64,
        /// The largest known write buffer.
        memory_max: Bytes,
    },
    /// The bytes that are fast after a pause grow with the pause: flash that was freed, not a write buffer.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_early_end_is_named_once() {
        let failed = StopReason::Failed { error: "no answer".to_owned() };
        let interrupted = StopReason::Interrupted { rounds: None };
        let ends = [&failed, &interrupted, &failed, &interrupted];
        let reason = ends.into_iter().fold(Reason::NoTime, |reason, stop| reason.ended_early(stop.clone()));
        let (stops, otherwise) = (vec![failed, interrupted], Box::new(Reason::NoTime));
        assert_eq!(reason, Reason::EndedEarly { stops, otherwise });
    }
}
