//! What one experiment saw, under which conditions.

use flashscope_device::{ByteRange, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ended::Ended;
use super::experiments::Data;
use crate::limits::{Checked, Impossible, size};

/// The observations of one experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observations {
    /// The data.
    pub data: Data,
    /// The conditions.
    pub conditions: Conditions,
    /// How the experiment ended. Data seen before an early end is kept.
    pub ended: Ended,
}

impl Observations {
    /// Checks every number against the limits of a run file.
    ///
    /// # Errors
    /// The first number outside its limits.
    pub fn check(&self) -> Result<(), Impossible> {
        self.conditions.check().map_err(|error| error.inside("conditions"))?;
        self.data.facts().check().map_err(|error| error.inside("data"))
    }
}

/// Whether only a file of flashscope's own was used, instead of the whole device.
#[must_use]
pub fn is_in_file(observations: &[Observations]) -> bool {
    observations.iter().any(|seen| seen.conditions.is_in_file)
}

/// The conditions of all data of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// The source of the data.
    pub source: Source,
    /// The device's capacity, if known.
    pub capacity: Option<Bytes>,
    /// The part of the device that was used, if known.
    pub region: Option<ByteRange>,
    /// Whether only a file of flashscope's own was used. All offsets then count from the region's start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_file: bool,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Conditions {
    fn check(&self) -> Checked {
        size("capacity", self.capacity.unwrap_or_default())?;
        let region = self.region;
        size("region.offset", region.map_or(Bytes::ZERO, |region| region.offset))?;
        size("region.length", region.map_or(Bytes::ZERO, |region| region.length))
    }
}

/// The source of observations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Measured here, request by request.
    Measured,
    /// Read from a log that another program printed: means of several requests, two to four digits.
    Published {
        /// The program, as far as its output names it.
        program: String,
        /// Two devices that the log names, where it is of more than one: which table is of which is not
        /// known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        devices: Vec<String>,
    },
}
