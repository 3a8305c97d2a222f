//! How an experiment ended.

use flashscope_device::layer::Limit;
use flashscope_device::{Bytes, DeviceError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use crate::would_decide::WouldDecide;

/// How an experiment ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It is complete.
    Complete,
    /// It ended early.
    Early {
        /// The reason.
        reason: StopReason,
        /// The kind of cause; older run files do not have it.
        #[serde(default)]
        cause: Cause,
    },
    /// It could not start, for example on a read-only device.
    NotStarted {
        /// Why.
        reason: Refusal,
        /// The condition under which it starts; older run files do not have it.
        #[serde(default, deserialize_with = "crate::would_decide::list")]
        would_decide: Vec<WouldDecide>,
    },
}

/// What ended an experiment early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum StopReason {
    /// The budget is used up.
    Budget {
        /// The limit that was reached.
        limit: Limit,
    },
    /// The user asked to stop.
    Interrupted {
        /// Rounds that were complete, where a bench measures in rounds.
        rounds: Option<u64>,
    },
    /// Requests failed one after another.
    RequestsFailed {
        /// Their number.
        number: u32,
        /// The error message of the last one.
        last: String,
    },
    /// Others wrote to the device too often.
    OthersWrite {
        /// Writes that were left out because others wrote at the same time.
        left_out: u32,
    },
    /// The device, or the system, failed.
    Failed {
        /// The error message.
        error: String,
    },
    /// The log was interrupted.
    LogInterrupted {
        /// The last row.
        row: Bytes,
    },
    /// The log ends before its last row.
    LogCutShort {
        /// The last row.
        row: Bytes,
        /// The row that its command asked for.
        wanted: Bytes,
    },
    /// The sentence of a run file of format 1.
    #[serde(untagged)]
    Recorded(String),
}

impl From<&DeviceError> for StopReason {
    fn from(error: &DeviceError) -> Self {
        match error {
            DeviceError::BudgetSpent { limit } => Self::Budget { limit: *limit },
            DeviceError::Interrupted => Self::Interrupted { rounds: None },
            error => Self::Failed { error: error.to_string() },
        }
    }
}

/// The kind of cause that ended an experiment early.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The budget of requests, bytes or time is used up.
    Budget,
    /// The user asked to stop.
    Interrupt,
    /// The device is gone, or fails too often.
    Device,
    /// Others wrote to the device too often.
    OtherWrites,
    /// The log that it was read from ends there.
    Log,
    /// It is not known.
    #[default]
    Unknown,
}

impl Cause {
    /// What would have decided more, if that is known.
    #[must_use]
    pub fn would_decide(self) -> Option<WouldDecide> {
        match self {
            Self::Budget => Some(WouldDecide::Larger(crate::finding::Quantity::Budget)),
            Self::Interrupt => Some(WouldDecide::WholeMeasurement),
            Self::Device => Some(WouldDecide::OtherPort),
            Self::OtherWrites => Some(WouldDecide::WholeDevice),
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
