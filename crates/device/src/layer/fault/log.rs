//! What happened to a faulty device, for whoever holds the log while the device is in other hands.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// Events of one [`Faulty`](super::Faulty) device, in order. Clones share them.
#[derive(Debug, Default, Clone)]
pub struct FaultLog(Arc<Mutex<Vec<FaultEvent>>>);

/// Something that happened once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultEvent {
    /// When, on the faulty device's clock.
    pub at: Instant,
    /// True if the device stays away.
    pub is_gone: bool,
    /// What that cost.
    pub lost: Loss,
}

/// Writes that were acknowledged and are not there.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Loss {
    /// How many writes lost all or some of their data.
    pub requests: u64,
    /// How much data they lost.
    pub bytes: Bytes,
    /// The first ranges lost, in the order of writing; at most [`Loss::RANGES_MAX`].
    pub ranges: Vec<ByteRange>,
    /// How many requests were under way and never answered, or answered with an error.
    pub unanswered: u64,
}

impl FaultLog {
    /// What happened so far.
    #[must_use]
    pub fn events(&self) -> Vec<FaultEvent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn note(&self, event: FaultEvent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

impl Loss {
    /// A report names so many ranges.
    pub const RANGES_MAX: usize = 8;

    pub(super) fn count(&mut self, range: ByteRange) {
        self.requests += 1;
        self.bytes += range.length;
        if self.ranges.len() < Self::RANGES_MAX {
            self.ranges.push(range);
        }
    }
}

impl fmt::Display for FaultEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_gone { "the device was unplugged" } else { "the power failed and came back" };
        write!(formatter, "{what} at {}: {}", self.at, self.lost)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.requests == 0 {
            write!(formatter, "no acknowledged write was lost")?;
        } else {
            write!(formatter, "{} acknowledged writes lost {}", self.requests, self.bytes)?;
            let ranges: Vec<String> = self.ranges.iter().map(ToString::to_string).collect();
            let more = if self.requests as usize > self.ranges.len() { ", …" } else { "" };
            write!(formatter, " (first {}{more})", ranges.join(", "))?;
        }
        write!(formatter, "; requests under way: {}", self.unanswered)
    }
}
