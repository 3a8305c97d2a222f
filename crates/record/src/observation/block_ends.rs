//! Writes on both sides of offsets where erase blocks may end.

use std::time::Duration;

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

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
    #[serde(with = "crate::duration_ns")]
    pub first: Duration,
    /// The write behind that one.
    #[serde(with = "crate::duration_ns")]
    pub second: Duration,
}

/// Two writes one behind the other, each with a flush behind it, into a place that was opened just before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// Where the first ends and the second begins.
    pub offset: Bytes,
    /// The write that ends there.
    #[serde(with = "crate::duration_ns")]
    pub before: Duration,
    /// The write that begins there.
    #[serde(with = "crate::duration_ns")]
    pub after: Duration,
}

impl Crossing {
    /// Both writes together.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.before + self.after
    }
}
