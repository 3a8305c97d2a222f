//! What would decide an unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::finding_id::FindingId;
use crate::measurement::{Measurement, Sample};

/// Something of which more or less would decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The device.
    Device,
    /// The budget of bytes, requests or time.
    Budget,
    /// The erase block that is assumed.
    EraseBlock,
    /// The requests.
    Requests,
    /// The samples of a stream.
    Samples,
    /// The number of erase blocks.
    BlockCount,
    /// The bursts of writes.
    Bursts,
    /// The pauses between bursts.
    Pauses,
    /// The stream of writes.
    Stream,
}

/// What would decide an unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WouldDecide {
    /// Write tests (`--erase`).
    WriteTests,
    /// This measurement.
    Measure(Measurement),
    /// More of these.
    More(Sample),
    /// A larger one of these.
    Larger(Quantity),
    /// A smaller one of these.
    Smaller(Quantity),
    /// Whatever decides this finding.
    Finding(FindingId),
    /// A fill of the device before reading.
    Fill,
    /// A quieter machine.
    QuieterMachine,
    /// A faster port or reader.
    FasterPort,
    /// The device at another port or reader, if it still answers there.
    OtherPort,
    /// The whole measurement, without an interruption.
    WholeMeasurement,
    /// The whole device, instead of a file on it.
    WholeDevice,
    /// The same measurement after the device was idle.
    Rest,
    /// The same measurement after the device cooled down.
    CoolDown,
    /// A machine with a working clock.
    RunningClock,
    /// The device itself, without a cache or another program in between.
    DeviceAlone,
    /// New tables of a log, of one card in one state.
    TablesAgain,
    /// A complete log.
    CompleteLog,
    /// A log of each device.
    LogOfEachDevice,
    /// The number of blocks of a log (`--open-au-nr`).
    BlockCountOfLog,
    /// Larger commands of the driver.
    LargerCommands,
    /// A link whose speed the kernel knows.
    KnownLink,
    /// A real stick instead of memory.
    RealStick,
    /// Of a virtual stick: another seed, or less noise.
    OtherSeed,
    /// Of a virtual stick: a faster link.
    FasterVirtualLink,
    /// The sentence of a run file of format 1.
    #[serde(untagged)]
    Recorded(String),
}

/// Reads a list, or the one sentence of a run file of format 1, which may be empty.
pub(crate) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<WouldDecide>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Sentence(String),
        List(Vec<WouldDecide>),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Sentence(text) if text.is_empty() => Vec::new(),
        Stored::Sentence(text) => vec![WouldDecide::Recorded(text)],
        Stored::List(list) => list,
    })
}
