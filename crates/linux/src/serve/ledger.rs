//! The account of a served device: how much was asked, and how punctual the answers were.

use std::time::Duration;

use flashscope_device::{Bytes, Instant, OpKind};

/// What was served, and how punctually.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes read.
    pub bytes_read: Bytes,
    /// Bytes written.
    pub bytes_written: Bytes,
    /// Requests that failed.
    pub failed: u64,
    /// How late answers were against the device's own completion instants; `None` if answers were given at once, or none.
    pub error: Option<Punctuality>,
}

impl Served {
    /// All requests together.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.reads + self.writes + self.flushes + self.discards
    }

    /// Counts one request.
    pub(super) fn count(&mut self, kind: OpKind, length: Bytes, is_failed: bool) {
        match kind {
            OpKind::Read => {
                self.reads += 1;
                self.bytes_read += length;
            }
            OpKind::Write => {
                self.writes += 1;
                self.bytes_written += length;
            }
            OpKind::Flush => self.flushes += 1,
            OpKind::Discard => self.discards += 1,
            OpKind::Pause => {}
        }
        self.failed += u64::from(is_failed);
    }
}

/// How far the instants of the answers were from those that the device gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Punctuality {
    /// Half of the answers were no further off.
    pub median: Duration,
    /// 99 in 100 were no further off.
    pub percentile_99: Duration,
    /// The worst.
    pub max: Duration,
    /// Answers whose instant had passed before the host had them ready: the device was faster than this machine.
    pub late: u64,
}

/// The histogram's bins are this wide; percentiles are right to one bin.
const BIN_NS: u64 = 1_000;
/// Errors of this many bins and more share the last one: 20 ms.
const BINS: usize = 20_000;

/// Gathers the errors of answers in constant memory.
#[derive(Debug)]
pub struct Errors {
    bins: Vec<u64>,
    count: u64,
    max: Duration,
    late: u64,
}

impl Errors {
    /// None yet.
    pub fn new() -> Self {
        Self { bins: vec![0; BINS], count: 0, max: Duration::ZERO, late: 0 }
    }

    /// An answer that was due at `due`, ready at `ready` and given at `given`.
    pub fn note(&mut self, due: Instant, ready: Instant, given: Instant) {
        let error = given.since(due);
        let bin = usize::try_from(error.as_nanos() / u128::from(BIN_NS)).unwrap_or(usize::MAX);
        self.bins[bin.min(BINS - 1)] += 1;
        self.count += 1;
        self.max = self.max.max(error);
        self.late += u64::from(ready > due);
    }

    /// The errors in four numbers; `None` if there were none.
    pub fn summary(&self) -> Option<Punctuality> {
        (self.count > 0).then(|| Punctuality {
            median: self.quantile(50),
            percentile_99: self.quantile(99),
            max: self.max,
            late: self.late,
        })
    }

    /// The upper edge of the bin that `percent` of all errors do not exceed; in the last bin, the largest error.
    fn quantile(&self, percent: u64) -> Duration {
        let rank = (self.count * percent).div_ceil(100);
        let mut below = 0;
        let reached = |count: &u64| {
            below += count;
            below >= rank
        };
        match self.bins.iter().position(reached) {
            Some(bin) if bin + 1 < BINS => Duration::from_nanos(BIN_NS * (bin as u64 + 1)).min(self.max),
            _ => self.max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(errors_us: impl IntoIterator<Item = u64>) -> Errors {
        let mut errors = Errors::new();
        for error_us in errors_us {
            let due = Instant::from_nanos(5_000_000);
            let given = due + Duration::from_micros(error_us);
            errors.note(due, if error_us > 400 { given } else { due }, given);
        }
        errors
    }

    #[test]
    fn quantiles_are_right_to_one_bin() {
        let summary = noted(0..1000).summary().unwrap();
        assert_eq!(summary.median, Duration::from_micros(500));
        assert_eq!(summary.percentile_99, Duration::from_micros(990));
        assert_eq!((summary.max, summary.late), (Duration::from_micros(999), 599));
    }

    #[test]
    fn an_error_beyond_all_bins_is_the_largest_one() {
        let summary = noted([3_000_000, 3_000_000]).summary().unwrap();
        assert_eq!(summary.median, Duration::from_secs(3));
        assert_eq!(noted([]).summary(), None);
    }
}
