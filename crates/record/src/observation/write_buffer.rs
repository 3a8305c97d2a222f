//! Small sequential writes after pauses.

use std::time::Duration;

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

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
    #[serde(with = "crate::duration_ns")]
    pub pause: Duration,
    /// The latency of each write, in order.
    #[serde(with = "crate::duration_ns::list")]
    pub each: Vec<Duration>,
}
