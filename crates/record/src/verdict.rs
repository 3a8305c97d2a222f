//! The verdict of a check: the one value from which first screen, page and JSON are written.

use flashscope_device::Bytes;

use crate::diagnosis::{Diagnosis, Gain};
use crate::observation::{Direction, Order};

/// The sequential write speed that the mark U3 guarantees (SD Association).
pub const U3_BYTES_PER_S: f64 = 30e6;

/// The verdict of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The answer in one word.
    pub state: VerdictState,
    /// Four speeds: sequential read and write, random read and write.
    pub numbers: [SpeedNumber; 4],
    /// The bottleneck, its costs, and where the time goes.
    pub diagnosis: Diagnosis,
    /// What to do, the largest gain first; at most three.
    pub actions: Vec<Action>,
}

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictState {
    /// The device stores less than it announces.
    FalseCapacity,
    /// Data did not read back as the tests wrote it.
    LosesData,
    /// Requests failed: the device may be failing.
    Failing,
    /// Sequential writes are poor, or a bottleneck costs time and they are not good.
    Slow,
    /// Only random writes are poor.
    SlowSmallWrites,
    /// Neither slow nor fast.
    Usual,
    /// All speeds are good, and no bottleneck costs time.
    Fast,
    /// Writes were not measured, or they decide nothing.
    Unknown,
}

impl VerdictState {
    /// Whether nothing should be stored on the device.
    #[must_use]
    pub const fn is_alarm(self) -> bool {
        matches!(self, Self::FalseCapacity | Self::LosesData | Self::Failing)
    }

    /// The id in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FalseCapacity => "false_capacity",
            Self::LosesData => "loses_data",
            Self::Failing => "failing",
            Self::Slow => "slow",
            Self::SlowSmallWrites => "slow_small_writes",
            Self::Usual => "usual",
            Self::Fast => "fast",
            Self::Unknown => "unknown",
        }
    }
}

/// One of the four speeds.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedNumber {
    /// Reads or writes.
    pub direction: Direction,
    /// Sequential or random.
    pub order: Order,
    /// The size of a request.
    pub request: Bytes,
    /// The speed; `None` if it was not measured.
    pub speed: Option<MeasuredSpeed>,
    /// What it is judged by.
    pub yardstick: Yardstick,
}

impl SpeedNumber {
    /// The mark of the speed; `None` if it was not measured, and for the page cache.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        let speed = self.speed.filter(|speed| !speed.is_cached)?;
        Some(self.yardstick.mark(&speed))
    }
}

/// A measured speed, bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredSpeed {
    /// The likely value.
    pub bytes_per_s: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether it is the page cache's, not the device's.
    pub is_cached: bool,
}

/// A mark for the kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// At least the upper threshold.
    Good,
    /// Between both.
    Usual,
    /// Below the lower threshold.
    Poor,
}

impl Mark {
    /// The word in reports and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Usual => "usual",
            Self::Poor => "poor",
        }
    }
}

/// What a speed is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yardstick {
    /// A speed below this is poor, bytes per second.
    pub poor_below: f64,
    /// A speed from this on is good, bytes per second.
    pub good_from: f64,
    /// The name of the yardstick: `A1 asks 500`.
    pub name: &'static str,
}

impl Yardstick {
    /// The mark of a speed: the better one if the speed reaches its threshold within the interval, at most
    /// [`MARGIN`] above the likely value.
    #[must_use]
    pub fn mark(&self, speed: &MeasuredSpeed) -> Mark {
        let reached = speed.high.min(speed.bytes_per_s * MARGIN).max(speed.bytes_per_s);
        match reached {
            reached if reached >= self.good_from => Mark::Good,
            reached if reached >= self.poor_below => Mark::Usual,
            _ => Mark::Poor,
        }
    }
}

/// The most by which a speed may miss a threshold and still reach it within its interval. Devices are built
/// to reach the thresholds, which are those of classes: their speeds lie there, and a run on either side.
/// Guess: a wider interval is no reason for a better mark.
const MARGIN: f64 = 1.05;

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// What.
    pub kind: ActionKind,
    /// The speed-up; `None` for an action that only measures or saves data.
    pub gain: Option<Gain>,
    /// Which copies get faster.
    pub scope: GainScope,
}

/// What other layouts gain over the present one when many files are written, predicted on the virtual twin
/// of the device.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PredictedGains {
    /// The present filesystem, with its partition on an erase-block boundary; `None` if it is on one, or
    /// nothing was predicted.
    pub aligned: Option<Gain>,
    /// ext4, made for the erase block; `None` if it is the present filesystem, or nothing was predicted.
    pub ext4: Option<Gain>,
}

/// Which copies an action makes faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GainScope {
    /// The everyday copy: large files, some small ones.
    Everyday,
    /// Small files alone.
    SmallFiles,
}

impl GainScope {
    /// The id in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Everyday => "everyday_copy",
            Self::SmallFiles => "small_files",
        }
    }
}

/// Something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionKind {
    /// Use only the part that stores data, of this size.
    UseTrueSize(Bytes),
    /// Return it: the part that stores data is too small to use.
    Return,
    /// Find out whether the capacity is true.
    VerifyCapacity,
    /// Copy the data off: requests failed.
    BackUp,
    /// Keep no data on it that is nowhere else: requests failed, and what it held was overwritten.
    KeepNoData,
    /// Plug it into a faster port, or without the hub.
    FasterPort,
    /// Use a faster card reader.
    FasterReader,
    /// Let the kernel send larger commands.
    LargerCommands,
    /// Partition and format it on erase-block boundaries.
    Realign,
    /// Format it with ext4, on erase-block boundaries.
    UseExt4,
    /// Copy folders of small files as one archive.
    Archive,
    /// Keep each copy below the size of the SLC cache, and let the device idle between copies.
    RestBetweenCopies(Bytes),
    /// Name the stick itself: a disk of this machine was measured.
    NameStick,
    /// Measure writing: only reads were measured.
    MeasureWrites,
    /// Measure a long stream of writes.
    MeasureLongStream,
}

impl ActionKind {
    /// The id in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UseTrueSize(_) => "use_true_size",
            Self::Return => "return",
            Self::VerifyCapacity => "verify_capacity",
            Self::BackUp => "back_up",
            Self::KeepNoData => "keep_no_data",
            Self::FasterPort => "faster_port",
            Self::FasterReader => "faster_reader",
            Self::LargerCommands => "larger_commands",
            Self::Realign => "realign",
            Self::UseExt4 => "use_ext4",
            Self::Archive => "archive",
            Self::RestBetweenCopies(_) => "rest_between_copies",
            Self::NameStick => "name_stick",
            Self::MeasureWrites => "measure_writes",
            Self::MeasureLongStream => "measure_long_stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_falls_only_if_the_interval_excludes_the_better_one() {
        let yardstick = Yardstick { poor_below: 10e6, good_from: 30e6, name: "" };
        let mark = |bytes_per_s: f64, high: f64| {
            yardstick.mark(&MeasuredSpeed { bytes_per_s, low: bytes_per_s / 2.0, high, is_cached: false })
        };
        assert_eq!([mark(30e6, 30e6), mark(29.2e6, 30.6e6)], [Mark::Good; 2]);
        assert_eq!(
            [mark(29.2e6, 29.8e6), mark(20e6, 60e6)],
            [Mark::Usual; 2],
            "a wide interval says nothing"
        );
        assert_eq!([mark(9.7e6, 10.1e6), mark(10e6, 10e6)], [Mark::Usual; 2]);
        assert_eq!([mark(9.7e6, 9.9e6), mark(5e6, 20e6)], [Mark::Poor; 2]);
    }
}
