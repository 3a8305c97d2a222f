//! What was seen, unjudged: enough to infer again without the device.

mod files;
mod methods;
mod speed;

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceError};
use serde::{Deserialize, Serialize};

use crate::inference::statistics::median;

pub use self::files::{ColdBy, FilesData, FilesPart, FilesRound, FlushTime, Instead, Traffic};
pub use self::methods::{Claim, MethodsData, Way};
pub use self::speed::{Direction, LinkLimit, ReadBack, SpeedCase, SpeedCell, SpeedData};

/// Everything one experiment saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observations {
    /// What was seen.
    pub data: Data,
    /// Under which conditions.
    pub conditions: Conditions,
    /// How the experiment ended. Data seen before an early end is kept.
    pub ended: Ended,
}

/// What holds for all of an experiment's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Where the data comes from.
    pub source: Source,
    /// The device's capacity, if known.
    pub capacity: Option<Bytes>,
    /// The part of the device that was used, if known.
    pub region: Option<ByteRange>,
    /// The seed of every random choice.
    pub seed: u64,
}

/// Where observations come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Measured here, request by request.
    Measured,
    /// Read from a log that another program printed: means of several requests, two to four digits.
    Published {
        /// The program, as far as its output tells.
        program: String,
        /// Two devices that the log names, where it is of more than one: which table is of which is not known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        devices: Vec<String>,
    },
}

/// How an experiment ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// With everything it wanted to see.
    Complete,
    /// Early, and why.
    Early {
        /// One sentence.
        reason: String,
        /// What ended it; run files of before did not say.
        #[serde(default)]
        cause: Cause,
    },
    /// It could not begin, and why: device not writable, region too small.
    NotStarted {
        /// One sentence.
        reason: String,
        /// What would let it begin; empty in run files of before, which did not say.
        #[serde(default)]
        would_decide: String,
    },
}

/// What ended an experiment early.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The budget of requests, bytes or time is spent.
    Budget,
    /// The person asked to stop.
    Interrupt,
    /// The device is gone, or fails too often.
    Device,
    /// The log that it was read from ends there.
    Log,
    /// It is not known.
    #[default]
    Unknown,
}

impl Cause {
    /// What would have told more, if the cause tells.
    #[must_use]
    pub const fn would_decide(self) -> Option<&'static str> {
        match self {
            Self::Budget => Some("a larger budget (--write-budget, --time-budget)"),
            Self::Interrupt => Some("the whole measurement, without an interruption"),
            Self::Device => Some("the device at another port or reader, if it still answers there"),
            Self::Log | Self::Unknown => None,
        }
    }
}

impl From<&DeviceError> for Cause {
    fn from(error: &DeviceError) -> Self {
        match error {
            DeviceError::BudgetSpent { .. } => Self::Budget,
            DeviceError::Interrupted => Self::Interrupt,
            _ => Self::Device,
        }
    }
}

/// What was seen, by experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "experiment", rename_all = "kebab-case")]
pub enum Data {
    /// Reads beside and across boundaries.
    Align(AlignData),
    /// Writes into several erase blocks in turn.
    OpenUnits(OpenUnitsData),
    /// Writes of every size.
    WriteSize(WriteSizeData),
    /// The same writes in each of the first erase blocks.
    FatArea(FatAreaData),
    /// Large writes one behind the other, until caches are full.
    Sustained(SustainedData),
    /// Small writes one behind the other, after pauses.
    WriteBuffer(WriteBufferData),
    /// Writes on both sides of places where erase blocks may end.
    BlockEnds(BlockEndsData),
    /// Equal requests that went on for a while, of several kinds.
    Speed(SpeedData),
    /// Many small files beside one large file.
    Files(FilesData),
    /// The same bytes in the ways in which people write them.
    Methods(MethodsData),
}

impl Data {
    /// Whether this tells how fast a device is, and not how it is built.
    #[must_use]
    pub const fn is_of_speed(&self) -> bool {
        matches!(self, Self::Speed(_) | Self::Sustained(_) | Self::Files(_) | Self::Methods(_))
    }
}

/// Reads before, across and after boundaries of candidate sizes.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlignData {
    /// How much each read reads; `None` if a log does not say.
    pub read: Option<Bytes>,
    /// One sample per boundary and round (published: one per candidate, already averaged).
    pub samples: Vec<AlignSample>,
    /// What the device holds, by places here and there.
    #[serde(default)]
    pub contents: Contents,
}

/// What places here and there hold: a controller may answer without touching flash where nothing was ever written, or where
/// all was trimmed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// How many places were looked at.
    pub looked_at: u32,
    /// How many of them hold nothing but 0x00, or nothing but 0xFF.
    pub blank: u32,
}

impl Contents {
    /// Whether most places are blank; `None` if nobody looked.
    #[must_use]
    pub const fn mostly_blank(self) -> Option<bool> {
        match self.looked_at {
            0 => None,
            looked_at => Some(self.blank > looked_at / 2),
        }
    }
}

impl std::fmt::Display for Contents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} of {} places looked at hold nothing but 0x00 or 0xFF",
            self.blank, self.looked_at
        )
    }
}

/// Three reads at one boundary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AlignSample {
    /// The candidate size: the boundary is an odd multiple of it.
    pub candidate: Bytes,
    /// The boundary's offset; `None` in an averaged sample.
    pub boundary: Option<Bytes>,
    /// The read that ends at the boundary.
    pub before: Duration,
    /// The read that straddles it.
    pub across: Duration,
    /// The read that begins at it.
    pub after: Duration,
}

impl AlignSample {
    /// How much longer the read across took than those beside it, in seconds; may be negative.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.across.as_secs_f64() - (self.before.as_secs_f64() + self.after.as_secs_f64()) / 2.0
    }
}

/// The order of writes inside an erase block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// From the start to the end.
    Linear,
    /// Shuffled.
    Random,
}

impl Order {
    /// The order as a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Random => "random",
        }
    }
}

/// Times of equal requests: each one, or what a log says of all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Times {
    /// The latency of each request, in order.
    Each(Vec<Duration>),
    /// The mean over this many requests, if the log lets us know how many.
    Mean {
        /// Time per request.
        per_request: Duration,
        /// How many requests, if known.
        requests: Option<u64>,
    },
}

impl Times {
    /// The mean time per request, seconds; `None` without requests.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a count of requests is far below 2^53")]
    pub fn mean_seconds(&self) -> Option<f64> {
        match self {
            Self::Each(each) if each.is_empty() => None,
            Self::Each(each) => Some(each.iter().map(Duration::as_secs_f64).sum::<f64>() / each.len() as f64),
            Self::Mean { per_request, .. } => Some(per_request.as_secs_f64()),
        }
    }

    /// The latency of each request, in order; none where single times are not known.
    #[must_use]
    pub fn each(&self) -> &[Duration] {
        match self {
            Self::Each(each) => each,
            Self::Mean { .. } => &[],
        }
    }

    /// The median time of a request, seconds; `None` where single times are not known.
    #[must_use]
    pub fn median_seconds(&self) -> Option<f64> {
        match self {
            Self::Each(each) => median(&each.iter().map(Duration::as_secs_f64).collect::<Vec<_>>()),
            Self::Mean { .. } => None,
        }
    }
}

/// Writes into several erase blocks in turn.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenUnitsData {
    /// The erase block that was assumed.
    pub erase_block: Bytes,
    /// One per combination that was tried, in that order.
    pub cells: Vec<OpenUnitsCell>,
    /// Linear writes into one unit between the searches: whether the device is still as fast as at the start.
    #[serde(default)]
    pub controls: Vec<Times>,
    /// A search in linear order with requests that pay no merge, whatever the number of units, before the one in `cells` began anew
    /// with smaller ones.
    #[serde(default)]
    pub free: Vec<OpenUnitsCell>,
    /// A search in linear order in which whatever did not go on behind the write before it took longer by little, before the one in
    /// `cells` began anew with two units in turn.
    #[serde(default)]
    pub appended: Vec<OpenUnitsCell>,
    /// A search in linear order whose number was too small, since something else held a place throughout, before the one in `cells` began
    /// anew.
    #[serde(default)]
    pub outgrown: Vec<OpenUnitsCell>,
    /// A search in linear order that ended undecided, before the one in `cells` went on with smaller requests.
    #[serde(default)]
    pub larger: Vec<OpenUnitsCell>,
    /// Whether each of those smaller requests in linear order was led by one over the place before it; the times are those of both.
    #[serde(default)]
    pub led: bool,
    /// The search once more, in linear order and with requests of a page, over data that was written just before.
    #[serde(default)]
    pub rewritten: Vec<OpenUnitsCell>,
    /// Writes out of order into the part of one unit that was written just before.
    #[serde(default)]
    pub out_of_order: Vec<Duration>,
    /// Groups of pages of one unit, written in order and then once more from the last to the first.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// One unit after the other written from its start, with larger and larger requests, where no number of units was too many.
    #[serde(default)]
    pub one_run: Vec<OpenUnitsCell>,
    /// Pages of one unit written from its end to its start, each apart from the others.
    #[serde(default)]
    pub scattered: Vec<Duration>,
    /// Units begun out of order where any unit may have to go, each once another that may have been open was written whole: one of these
    /// holds a place no more, so that each finds one until all are taken.
    #[serde(default)]
    pub given_back: Vec<OpenUnitsCell>,
    /// Units that were open in order and then written twice out of order, the quicker one of both writes first; and behind them fresh ones,
    /// begun out of order.
    #[serde(default)]
    pub gone_on: Vec<OpenUnitsCell>,
    /// Units that were begun out of order, outside the search, and behind each one of the search that was begun in order.
    #[serde(default)]
    pub apart: Vec<BegunApart>,
    /// Writes at the starts of units, where no unit was open before the first of each pair.
    #[serde(default)]
    pub beginnings: Vec<Beginnings>,
}

/// As many pages as a log maps at once at most, at a multiple of their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Behind the group before it.
    pub in_order: Duration,
    /// Over that, once the group behind it was written anew.
    pub backward: Duration,
}

/// Two units that were written to their ends, or nearly, and are then begun anew one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginnings {
    /// A write into the first one that has nothing to put aside: its first, or one that goes on behind that.
    pub alone: Duration,
    /// The first write into the other, while the first one is unfinished.
    pub behind: Duration,
}

/// A unit that was begun out of order, and one that was begun in order behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunApart {
    /// The slower one of two writes out of order into a fresh unit.
    pub apart: Duration,
    /// The first write at the start of another.
    pub in_order: Duration,
}

/// One combination of order, number of units and request size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenUnitsCell {
    /// Order inside each unit.
    pub order: Order,
    /// How many erase blocks were written in turn.
    pub open_units: u32,
    /// The size of each write.
    pub request: Bytes,
    /// Their times.
    pub times: Times,
    /// Into which unit each write went, counted in the order in which this order's units were taken; empty: write i went
    /// to unit i modulo `open_units`.
    #[serde(default)]
    pub units: Vec<u32>,
    /// Units that became full, and took turns no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
}

/// A unit that took turns had no place left when its turn came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Which unit.
    pub unit: u32,
    /// After how many writes of its cell.
    pub after: usize,
}

impl OpenUnitsCell {
    /// Writes into so many units in turn: write i went to unit i modulo `open_units`, and none became full.
    #[must_use]
    pub const fn in_turn((order, open_units, request): (Order, u32, Bytes), times: Times) -> Self {
        Self { order, open_units, request, times, units: Vec::new(), passed_over: Vec::new() }
    }

    /// Keeps one write, in the last of these cells if it belongs there.
    pub fn keep(
        cells: &mut Vec<Self>,
        (order, open_units, request): (Order, u32, Bytes),
        unit: u32,
        latency: Duration,
    ) {
        let here =
            |cell: &&mut Self| (cell.order, cell.open_units, cell.request) == (order, open_units, request);
        match cells.last_mut().filter(here) {
            Some(Self { times: Times::Each(each), units, .. }) => {
                each.push(latency);
                units.push(unit);
            }
            _ => {
                let times = Times::Each(vec![latency]);
                cells.push(Self { units: vec![unit], ..Self::in_turn((order, open_units, request), times) });
            }
        }
    }

    /// This unit has no place left for the write that comes next in this order.
    pub fn pass_over(cells: &mut [Self], order: Order, unit: u32) {
        if let Some(cell) = cells.iter_mut().rfind(|cell| cell.order == order) {
            cell.passed_over.push(PassedOver { unit, after: cell.units.len() });
        }
    }

    /// Each write that was timed by itself: into which unit, and how long it took.
    pub fn writes(&self) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let each = match &self.times {
            Times::Each(each) => each.as_slice(),
            Times::Mean { .. } => &[],
        };
        let in_turn = |index: usize| u32::try_from(index).unwrap_or(u32::MAX) % self.open_units.max(1);
        each.iter().enumerate().map(move |(index, latency)| {
            (self.units.get(index).copied().unwrap_or_else(|| in_turn(index)), *latency)
        })
    }
}

/// Writes of every size, to one place at a time.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteSizeData {
    /// The erase block that was assumed, if one was known.
    pub erase_block: Option<Bytes>,
    /// Small writes across places where a page may end.
    #[serde(default)]
    pub edges: Vec<PageEdge>,
    /// Whether each of those was followed by a flush, which counts to its time: the device holds writes in memory.
    #[serde(default)]
    pub edges_flushed: bool,
    /// One per size and order, in the order in which they were written; a size may come again.
    pub cells: Vec<WriteSizeCell>,
    /// Writes of one of those sizes once more, behind all others: whether the device is still as fast.
    #[serde(default)]
    pub control: Option<WriteSizeCell>,
}

/// Three small writes of one size, each behind the other; the second reaches across an offset where a page may end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PageEdge {
    /// The offset in the middle of the second write.
    pub edge: Bytes,
    /// How much each write writes.
    pub write: Bytes,
    /// The write before it.
    pub before: Duration,
    /// The write across it.
    pub across: Duration,
    /// The write behind it.
    pub after: Duration,
}

/// The writes of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteSizeCell {
    /// Order of the writes.
    pub order: Order,
    /// Size of each write.
    pub request: Bytes,
    /// Where the first write began, counted from a multiple of the erase block; the others follow it without a gap.
    /// `None` if that is not known.
    #[serde(default)]
    pub start: Option<Bytes>,
    /// Their times, in order.
    pub times: Times,
}

/// Writes on both sides of places where erase blocks may end.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockEndsData {
    /// The size of the writes that are timed.
    pub request: Bytes,
    /// The page, if it was known.
    pub page: Option<Bytes>,
    /// What took the controller's places before, in the order in which they were opened.
    pub openings: Vec<Opening>,
    /// What was tried then.
    pub crossings: Vec<Crossing>,
}

/// Two writes into an erase block of its own, of which the first opened it, each with a flush behind it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Where it lies.
    pub offset: Bytes,
    /// The write that opened it.
    pub first: Duration,
    /// The write behind that one.
    pub second: Duration,
}

/// Two writes one behind the other, each with a flush behind it, into a place that was opened just before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// Where the first ends and the second begins.
    pub offset: Bytes,
    /// The write that ends there.
    pub before: Duration,
    /// The write that begins there.
    pub after: Duration,
}

impl Crossing {
    /// Both writes together.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.before + self.after
    }
}

/// The same writes in each of the first erase blocks.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct FatAreaData {
    /// The erase block that was assumed.
    pub erase_block: Bytes,
    /// What the search for open units told of merges; `None` in a published table.
    #[serde(default)]
    pub merges: Option<Merges>,
    /// Blocks that were begun one after the other, once more of them than can be open.
    #[serde(default)]
    pub begun: Vec<BegunBlock>,
    /// Writes at the start of each of the first blocks, by block: each while another block was begun and not finished.
    /// Only where one run is taken in order.
    #[serde(default)]
    pub beginnings: Vec<Vec<Duration>>,
    /// Writes of the same size into one ordinary erase block alone, in linear order: what a write without a merge takes.
    #[serde(default)]
    pub baseline: Option<Times>,
    /// The same at the end: whether the device has changed meanwhile.
    #[serde(default)]
    pub control: Option<Times>,
    /// One per unit and request size.
    pub cells: Vec<FatAreaCell>,
}

/// An erase block that was not open before this write into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunBlock {
    /// Which of the first blocks, counted from the start of the device; `None`: an ordinary one.
    pub unit: Option<u32>,
    /// What the write took.
    pub time: Duration,
}

/// What is known of merges.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Merges {
    /// How likely each switch merges with one block too many, rather than some.
    pub every_switch: f64,
    /// What a merge takes beside the write.
    pub takes: Option<Duration>,
    /// Whether only one run is taken in order.
    pub is_one_run: bool,
    /// Of so many erase blocks one at least is not open.
    #[serde(default)]
    pub too_many: Option<u32>,
}

/// The writes of one size in one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FatAreaCell {
    /// The unit, counted from the start of the device.
    pub unit: u32,
    /// Order inside the unit.
    pub order: Order,
    /// Size of each write.
    pub request: Bytes,
    /// Their times, in order.
    pub times: Times,
}

/// Large writes one behind the other, until caches are full and the speed has settled.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct SustainedData {
    /// The size of each write.
    pub request: Bytes,
    /// The writes in their order, several at a time.
    pub pieces: Vec<Piece>,
    /// Single writes that took several times as long as those just before them.
    #[serde(default)]
    pub long: Vec<LongWrite>,
    /// Writes that went on behind pauses.
    #[serde(default)]
    pub resumed: Vec<Resumed>,
    /// Whether the writes lie apart, spread evenly over the device, each with a flush that counts to its time.
    #[serde(default)]
    pub is_spread: bool,
}

/// So many writes that took long are kept at most: more of them tell nothing more.
pub const LONG_WRITES_MAX: usize = 4096;

/// A write in a stream that took several times as long as those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongWrite {
    /// Everything that was written until it ended, itself included.
    pub written: Bytes,
    /// How long it took.
    pub took: Duration,
    /// What all writes until then took, itself included.
    pub ended: Duration,
}

/// A stream that went on behind a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// How long nothing was asked for.
    pub pause: Duration,
    /// The writes behind it.
    pub pieces: Vec<Piece>,
}

/// Some writes one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// How many; those that failed are left out.
    pub requests: u32,
    /// What they took together.
    pub time: Duration,
}

impl SustainedData {
    /// Everything that was written.
    #[must_use]
    pub fn written(&self) -> Bytes {
        self.bytes_of(&self.pieces)
    }

    /// What these pieces of the stream, or of one behind a pause, hold.
    #[must_use]
    pub fn bytes_of(&self, pieces: &[Piece]) -> Bytes {
        self.request * pieces.iter().map(|piece| u64::from(piece.requests)).sum()
    }
}

/// Bursts of small writes, each after a pause.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteBufferData {
    /// The size of each write.
    pub request: Bytes,
    /// In the order in which they were made.
    pub bursts: Vec<Burst>,
}

/// A pause, and the writes after it, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// How long nothing was asked for.
    pub pause: Duration,
    /// The latency of each write, in order.
    pub each: Vec<Duration>,
}
