//! What one experiment saw, under which conditions.

use flashscope_device::{ByteRange, Bytes};
use serde::{Deserialize, Serialize};

use super::align::AlignData;
use super::block_ends::BlockEndsData;
use super::ended::Ended;
use super::fat_area::FatAreaData;
use super::files::FilesData;
use super::methods::MethodsData;
use super::open_units::OpenUnitsData;
use super::speed::SpeedData;
use super::sustained::SustainedData;
use super::write_buffer::WriteBufferData;
use super::write_size::WriteSizeData;

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
