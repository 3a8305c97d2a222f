//! How an experiment ended.

use flashscope_record::observation::{Cause, Ended};
use flashscope_report::words;
use schemars::JsonSchema;
use serde::Serialize;

/// How an experiment ended. What it measured before an early end is kept.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedDocument {
    /// It measured everything it set out to measure.
    Complete,
    /// It ended early.
    Early {
        /// Why, in one sentence.
        reason: String,
        /// What ended it.
        cause: CauseDocument,
    },
    /// It could not start.
    NotStarted {
        /// Why, in one sentence.
        reason: String,
        /// What would let it start; empty if unknown.
        would_decide: String,
    },
}

/// What ended an experiment early.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseDocument {
    /// The budget of requests, bytes or time was spent.
    Budget,
    /// Ctrl-C.
    Interrupt,
    /// The device is gone, or too many requests failed.
    Device,
    /// The filesystem, or another program, wrote too often.
    OtherWrites,
    /// The imported log ends there.
    Log,
    /// Unknown.
    Unknown,
}

impl From<&Ended> for EndedDocument {
    fn from(ended: &Ended) -> Self {
        match ended {
            Ended::Complete => Self::Complete,
            Ended::Early { reason, cause } => {
                Self::Early { reason: words::stop(reason), cause: (*cause).into() }
            }
            Ended::NotStarted { reason, would_decide } => Self::NotStarted {
                reason: words::refusal(reason),
                would_decide: words::would_decide(would_decide),
            },
        }
    }
}

impl From<Cause> for CauseDocument {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Budget => Self::Budget,
            Cause::Interrupt => Self::Interrupt,
            Cause::Device => Self::Device,
            Cause::OtherWrites => Self::OtherWrites,
            Cause::Log => Self::Log,
            Cause::Unknown => Self::Unknown,
        }
    }
}
