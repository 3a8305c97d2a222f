//! What is concluded from observations: a value with its interval and confidence, or an honest unknown.

use std::fmt;

use flashscope_device::Bytes;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::figure::{exact_speed, time};

/// What a finding is about. Its text form is the `id` of `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingId {
    /// The unit the controller erases and maps (SD: allocation unit), bytes.
    EraseBlockBytes,
    /// The effective page: below it, a write costs as much as the page, bytes.
    PageBytes,
    /// How many erase blocks can be written in turn, each from start to end, without a merge.
    OpenUnitsLinear,
    /// The same with random order inside each block.
    OpenUnitsRandom,
    /// The region at the start of the device that is mapped finely for the file allocation table, bytes; 0: none.
    FatAreaBytes,
    /// The smallest request that is written at full efficiency, bytes.
    WriteUnitBytes,
    /// The class of the flash translation layer.
    FtlClass,
    /// What closing an erase block costs that is not full: a copy of it, seconds.
    MergeSeconds,
    /// Whether reads across a boundary of pages or erase blocks take longer.
    ReadBoundarySignal,
    /// What is written fast before writing slows down: flash cells that hold one bit for a while, bytes; 0: none.
    SlcCacheBytes,
    /// How fast writing in sequence is once nothing helps any more, bytes per second.
    SustainedWriteBytesPerS,
    /// Memory in the controller that takes writes before the flash does, bytes; 0: none.
    WriteBufferBytes,
}

impl FindingId {
    /// All ids, in the order of a report.
    pub const ALL: [Self; 12] = [
        Self::EraseBlockBytes,
        Self::PageBytes,
        Self::WriteUnitBytes,
        Self::OpenUnitsLinear,
        Self::OpenUnitsRandom,
        Self::FatAreaBytes,
        Self::FtlClass,
        Self::MergeSeconds,
        Self::ReadBoundarySignal,
        Self::SlcCacheBytes,
        Self::SustainedWriteBytesPerS,
        Self::WriteBufferBytes,
    ];

    /// The id as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EraseBlockBytes => "erase_block_bytes",
            Self::PageBytes => "page_bytes",
            Self::OpenUnitsLinear => "open_units_linear",
            Self::OpenUnitsRandom => "open_units_random",
            Self::FatAreaBytes => "fat_area_bytes",
            Self::WriteUnitBytes => "write_unit_bytes",
            Self::FtlClass => "ftl_class",
            Self::MergeSeconds => "merge_seconds",
            Self::ReadBoundarySignal => "read_boundary_signal",
            Self::SlcCacheBytes => "slc_cache_bytes",
            Self::SustainedWriteBytesPerS => "sustained_write_bytes_per_s",
            Self::WriteBufferBytes => "write_buffer_bytes",
        }
    }

    /// The name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::EraseBlockBytes => "erase block",
            Self::PageBytes => "effective page",
            Self::OpenUnitsLinear => "open units, linear",
            Self::OpenUnitsRandom => "open units, random",
            Self::FatAreaBytes => "FAT area",
            Self::WriteUnitBytes => "write unit",
            Self::FtlClass => "flash translation layer",
            Self::MergeSeconds => "merge",
            Self::ReadBoundarySignal => "boundaries in reads",
            Self::SlcCacheBytes => "SLC cache",
            Self::SustainedWriteBytesPerS => "sustained writing",
            Self::WriteBufferBytes => "write buffer",
        }
    }

    /// The unit of the value as it stands in JSON.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::EraseBlockBytes
            | Self::PageBytes
            | Self::FatAreaBytes
            | Self::WriteUnitBytes
            | Self::SlcCacheBytes
            | Self::WriteBufferBytes => "bytes",
            Self::OpenUnitsLinear | Self::OpenUnitsRandom => "erase blocks",
            Self::FtlClass => "class",
            Self::MergeSeconds => "seconds",
            Self::ReadBoundarySignal => "yes or no",
            Self::SustainedWriteBytesPerS => "bytes per second",
        }
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// How sure a finding is: the probability that the truth lies in its interval, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Confidence(f64);

impl Confidence {
    /// This probability in thousandths, clamped to what a measurement may claim: never certain, never less than nothing.
    #[must_use]
    pub const fn new(probability: f64) -> Self {
        let clamped = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 0.999) };
        Self((clamped * 1000.0).round() / 1000.0)
    }

    /// The probability.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// In words: `very sure` from 0.99, `sure` from 0.95, `fairly sure` from 0.8, `likely` below.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self.0 {
            p if p >= 0.99 => "very sure",
            p if p >= 0.95 => "sure",
            p if p >= 0.8 => "fairly sure",
            _ => "likely",
        }
    }
}

/// The class of a flash translation layer, as seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FtlClass {
    /// Takes linear writes only: random order inside a block costs a merge per request.
    LinearOnly,
    /// Keeps some erase blocks open, in any order inside; one more costs a constant merge per request.
    OpenBlock,
    /// Maps erase blocks as wholes, and takes writes in logs of which one holds a run in order and the others anything.
    HybridLog,
    /// Writes into a log: the cost beyond its open blocks grows step by step.
    LogStructured,
    /// Maps single pages, wherever there is space; what is slow is collecting it, once for every so many bytes.
    PageMapped,
}

impl FtlClass {
    /// The class as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LinearOnly => "linear-only",
            Self::OpenBlock => "open-block",
            Self::HybridLog => "hybrid-log",
            Self::LogStructured => "log-structured",
            Self::PageMapped => "page-mapped",
        }
    }
}

/// The value of a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A size.
    Bytes(Bytes),
    /// A number of erase blocks.
    Count(u32),
    /// A class; below the given request size another rule holds ("log-structured above 16 KiB requests").
    Class {
        /// The class.
        class: FtlClass,
        /// The largest request that takes another path, if one does.
        above: Option<Bytes>,
    },
    /// A time, seconds.
    Seconds(f64),
    /// A speed, bytes per second.
    BytesPerSecond(f64),
    /// Whether something shows; if it does, by how many seconds.
    Shows(Option<f64>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bytes(bytes) => serializer.serialize_u64(bytes.get()),
            Self::Count(count) => serializer.serialize_u32(*count),
            Self::Class { class, .. } => serializer.serialize_str(class.as_str()),
            Self::Seconds(number) => serializer.serialize_f64(*number),
            Self::BytesPerSecond(number) => serializer.serialize_f64(number.round()),
            Self::Shows(extra_seconds) => serializer.serialize_str(yes_or_no(extra_seconds.is_some())),
        }
    }
}

/// A yes or no as it stands in JSON.
const fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Bytes(Bytes::ZERO) => "none".to_owned(),
            Self::Bytes(bytes) => bytes.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Class { class, above: None } => class.as_str().to_owned(),
            Self::Class { class, above: Some(size) } => format!("{} above {size} requests", class.as_str()),
            Self::Seconds(seconds) => time(*seconds),
            Self::BytesPerSecond(rate) => exact_speed(*rate),
            Self::Shows(Some(extra_seconds)) => format!("yes, {} longer", time(*extra_seconds)),
            Self::Shows(None) => "no".to_owned(),
        };
        formatter.pad(&text)
    }
}

/// What a finding says.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A value, with the interval that holds the truth with the given confidence.
    Found {
        /// The best value.
        value: Value,
        /// The interval's lower end (a class has itself).
        low: Value,
        /// The interval's upper end.
        high: Value,
        /// How sure.
        confidence: Confidence,
    },
    /// Not known, and why.
    Unknown {
        /// Why it is not known.
        reason: String,
        /// What would decide it; empty if nothing we can do.
        would_decide: String,
    },
}

/// One conclusion. There is no finding without an interval and a confidence, and no unknown without its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub id: FindingId,
    /// What it says.
    pub outcome: Outcome,
    /// One sentence with the measured figures behind it.
    pub evidence: String,
    /// What may make it wrong, one sentence each.
    pub caveats: Vec<String>,
}

impl Finding {
    /// A finding whose interval is the value itself.
    #[must_use]
    pub fn exact(id: FindingId, value: Value, confidence: Confidence, evidence: impl Into<String>) -> Self {
        let outcome = Outcome::Found { value, low: value, high: value, confidence };
        Self { id, outcome, evidence: evidence.into(), caveats: Vec::new() }
    }

    /// An unknown.
    #[must_use]
    pub fn unknown(id: FindingId, reason: impl Into<String>, would_decide: impl Into<String>) -> Self {
        let outcome = Outcome::Unknown { reason: reason.into(), would_decide: would_decide.into() };
        Self { id, outcome, evidence: String::new(), caveats: Vec::new() }
    }

    /// The same finding with this interval.
    #[must_use]
    pub fn within(mut self, low: Value, high: Value) -> Self {
        if let Outcome::Found { low: l, high: h, .. } = &mut self.outcome {
            (*l, *h) = (low, high);
        }
        self
    }

    /// The same finding with one more caveat.
    #[must_use]
    pub fn with_caveat(mut self, caveat: impl Into<String>) -> Self {
        self.caveats.push(caveat.into());
        self
    }

    /// The value, if found.
    #[must_use]
    pub const fn value(&self) -> Option<Value> {
        match self.outcome {
            Outcome::Found { value, .. } => Some(value),
            Outcome::Unknown { .. } => None,
        }
    }

    /// The size, if one was found.
    #[must_use]
    pub const fn bytes(&self) -> Option<Bytes> {
        match self.value() {
            Some(Value::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The number, if one was found.
    #[must_use]
    pub const fn count(&self) -> Option<u32> {
        match self.value() {
            Some(Value::Count(count)) => Some(count),
            _ => None,
        }
    }

    /// The confidence; zero for an unknown.
    #[must_use]
    pub const fn confidence(&self) -> Confidence {
        match self.outcome {
            Outcome::Found { confidence, .. } => confidence,
            Outcome::Unknown { .. } => Confidence::new(0.0),
        }
    }
}

/// The form of `--json`: `id`, `status`, `value`, `unit`, `low`, `high`, `confidence`, `evidence`, `caveats`;
/// an unknown has nulls, a `reason` and `would_decide`.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Finding", 12)?;
        json.serialize_field("id", self.id.as_str())?;
        json.serialize_field("unit", self.id.unit())?;
        match &self.outcome {
            Outcome::Found { value, low, high, confidence } => {
                json.serialize_field("status", "found")?;
                json.serialize_field("value", value)?;
                json.serialize_field("low", low)?;
                json.serialize_field("high", high)?;
                json.serialize_field("confidence", confidence)?;
                json.serialize_field("text", &value.to_string())?;
            }
            Outcome::Unknown { reason, would_decide } => {
                json.serialize_field("status", "unknown")?;
                for null in ["value", "low", "high", "confidence"] {
                    json.serialize_field(null, &None::<u64>)?;
                }
                json.serialize_field("reason", reason)?;
                json.serialize_field("would_decide", would_decide)?;
            }
        }
        json.serialize_field("evidence", &self.evidence)?;
        json.serialize_field("caveats", &self.caveats)?;
        json.end()
    }
}
