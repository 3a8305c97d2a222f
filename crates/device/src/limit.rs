//! The limit of a budget that allows no further request.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// The limit of a budget that allows no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The number of reads.
    Reads(u64),
    /// The bytes written.
    Written {
        /// The limit.
        limit: Bytes,
        /// The bytes that remain.
        left: Bytes,
        /// The write that is larger.
        write: Bytes,
    },
    /// The device time.
    DeviceTime {
        /// The limit.
        #[serde(with = "crate::duration_ns")]
        #[schemars(with = "u64")]
        limit: Duration,
        /// The time that remains.
        #[serde(with = "crate::duration_ns")]
        #[schemars(with = "u64")]
        left: Duration,
        /// The pause that is longer; 0 if nothing is left.
        #[serde(with = "crate::duration_ns")]
        #[schemars(with = "u64")]
        pause: Duration,
    },
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reads(limit) => write!(formatter, "{limit} reads"),
            Self::Written { limit, left: Bytes::ZERO, .. } => write!(formatter, "{limit} written"),
            Self::Written { limit, left, write } => {
                write!(formatter, "a write of {write} would exceed it, {left} of {limit} are left")
            }
            Self::DeviceTime { limit, left: Duration::ZERO, .. } => {
                write!(formatter, "{} s of device time", limit.as_secs_f64())
            }
            Self::DeviceTime { limit, left, pause } => write!(
                formatter,
                "a pause of {} s would exceed it, {:.1} s of {} s are left",
                pause.as_secs_f64(),
                left.as_secs_f64(),
                limit.as_secs_f64()
            ),
        }
    }
}
