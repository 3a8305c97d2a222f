//! How an experiment ended, and what ended it early.

use flashscope_device::DeviceError;
use serde::{Deserialize, Serialize};

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
