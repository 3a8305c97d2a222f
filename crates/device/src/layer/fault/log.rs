//! The events of a faulty device, readable while the device is lent out.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::time::Instant;
use crate::units::{ByteRange, Bytes};

/// Events of one [`Faulty`](super::Faulty) device, in order. Clones share them.
#[derive(Debug, Default, Clone)]
pub struct FaultLog(Arc<Mutex<Vec<FaultEvent>>>);

/// A power cut or an unplugging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultEvent {
    /// When, on the faulty device's clock.
    pub at: Instant,
    /// True if the device was unplugged and stays away.
    pub is_gone: bool,
    /// The lost writes.
    pub lost: Loss,
}

/// Acknowledged writes whose data is lost.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The number of writes that lost data.
    pub requests: u64,
    /// The lost bytes.
    pub bytes: Bytes,
    /// The first lost ranges, in order of writing; at most [`Loss::RANGES_MAX`].
    pub ranges: Vec<ByteRange>,
    /// The number of requests in flight that never completed, or completed with an error.
    pub unanswered: u64,
}

impl FaultLog {
    /// The events until now.
    #[must_use]
    pub fn events(&self) -> Vec<FaultEvent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn note(&self, event: FaultEvent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

impl Loss {
    /// The largest number of ranges in a report. Guess: 8 ranges fit on three lines.
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
            let writes = if self.requests == 1 { "write" } else { "writes" };
            write!(formatter, "{} acknowledged {writes} lost {}", self.requests, self.bytes)?;
            let ranges: Vec<String> = self.ranges.iter().map(ToString::to_string).collect();
            let more = if self.requests as usize > self.ranges.len() { ", …" } else { "" };
            write!(formatter, " (first {}{more})", ranges.join(", "))?;
        }
        write!(formatter, "; requests in flight: {}", self.unanswered)
    }
}
