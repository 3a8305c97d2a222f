//! Statistics of a served device: the requests, and how late the replies were.

use std::time::Duration;

use flashscope_device::{Bytes, Instant, OpKind};

/// The requests, and how late the replies were.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ServeStatistics {
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
    /// Failed requests.
    pub failed: u64,
    /// The delay of the replies after the device's completion instants; `None` for immediate replies, or
    /// without replies.
    pub error: Option<Lateness>,
}

impl ServeStatistics {
    /// All requests.
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

/// The delay of replies after the device's completion instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lateness {
    /// The median.
    pub median: Duration,
    /// The 99th percentile.
    pub percentile_99: Duration,
    /// The maximum.
    pub max: Duration,
    /// Replies whose instant had passed before the host had them ready: the device was faster than this
    /// machine.
    pub late: u64,
}

/// The width of a histogram bin, nanoseconds. Percentiles are exact to one bin.
const BIN_NS: u64 = 1_000;
/// The number of bins. The last one holds delays of 20 ms and more.
const BINS: usize = 20_000;

/// Collects the delays of replies in constant memory.
#[derive(Debug)]
pub struct LatenessHistogram {
    bins: Vec<u64>,
    count: u64,
    max: Duration,
    late: u64,
}

impl LatenessHistogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self { bins: vec![0; BINS], count: 0, max: Duration::ZERO, late: 0 }
    }

    /// Adds a reply that was due at `due`, ready at `ready` and sent at `given`.
    pub fn note(&mut self, due: Instant, ready: Instant, sent: Instant) {
        let error = sent.since(due);
        let bin = usize::try_from(error.as_nanos() / u128::from(BIN_NS)).unwrap_or(usize::MAX);
        self.bins[bin.min(BINS - 1)] += 1;
        self.count += 1;
        self.max = self.max.max(error);
        self.late += u64::from(ready > due);
    }

    /// The summary of the delays; `None` without replies.
    pub fn summary(&self) -> Option<Lateness> {
        (self.count > 0).then(|| Lateness {
            median: self.quantile(50),
            percentile_99: self.quantile(99),
            max: self.max,
            late: self.late,
        })
    }

    /// The upper edge of the bin that `percent` of all delays do not exceed; in the last bin, the maximum.
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

    fn noted(errors_us: impl IntoIterator<Item = u64>) -> LatenessHistogram {
        let mut lateness = LatenessHistogram::new();
        for error_us in errors_us {
            let due = Instant::from_nanos(5_000_000);
            let sent = due + Duration::from_micros(error_us);
            lateness.note(due, if error_us > 400 { sent } else { due }, sent);
        }
        lateness
    }

    #[test]
    fn quantiles_are_exact_to_one_bin() {
        let summary = noted(0..1000).summary().unwrap();
        assert_eq!(summary.median, Duration::from_micros(500));
        assert_eq!(summary.percentile_99, Duration::from_micros(990));
        assert_eq!((summary.max, summary.late), (Duration::from_micros(999), 599));
    }

    #[test]
    fn delay_beyond_all_bins_is_the_maximum() {
        let summary = noted([3_000_000, 3_000_000]).summary().unwrap();
        assert_eq!(summary.median, Duration::from_secs(3));
        assert_eq!(noted([]).summary(), None);
    }
}
