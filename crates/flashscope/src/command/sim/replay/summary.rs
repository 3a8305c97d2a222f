//! The result of a trace, recorded and replayed.

use std::time::Duration;

use flashscope_device::trace::Played;
use flashscope_device::{Bytes, OpKind};
use flashscope_sim::Statistics;

/// The same requests on two devices.
pub struct Comparison {
    /// The trace's file.
    pub trace: String,
    /// What was traced.
    pub label: String,
    /// The virtual stick's profile.
    pub stick: String,
    /// Its seed.
    pub seed: u64,
    /// On the traced device.
    pub recorded: Outcome,
    /// On the virtual stick.
    pub replayed: Outcome,
    /// What happened inside the virtual stick.
    pub statistics: Statistics,
    /// All requests.
    pub played: Vec<Played>,
}

/// The result on one device.
pub struct Outcome {
    /// From the first submission to the last completion.
    pub time: Duration,
    /// Bytes read and written by requests that succeeded.
    pub bytes: Bytes,
    /// By kind of request; missing kinds are left out.
    pub kinds: Vec<KindOutcome>,
}

/// The result of one kind of request.
pub struct KindOutcome {
    /// The kind.
    pub kind: OpKind,
    /// How many failed.
    pub failed: u64,
    /// The latencies, sorted.
    pub sorted: Vec<Duration>,
}

const KINDS: [OpKind; 4] = [OpKind::Read, OpKind::Write, OpKind::Flush, OpKind::Discard];

impl Outcome {
    /// On the traced device.
    pub fn recorded(played: &[Played], time: Duration) -> Self {
        Self::of(played, time, |one| {
            (one.recorded.completed_at.since(one.recorded.submitted_at), one.recorded.succeeded)
        })
    }

    /// On the virtual stick.
    pub fn replayed(played: &[Played], time: Duration) -> Self {
        Self::of(played, time, |one| (one.latency, one.succeeded))
    }

    fn of(played: &[Played], time: Duration, result_of: impl Fn(&Played) -> (Duration, bool)) -> Self {
        let transfers = |kind| matches!(kind, OpKind::Read | OpKind::Write);
        let moved = played.iter().filter(|one| transfers(one.recorded.kind) && result_of(one).1);
        let bytes = moved.fold(0u64, |sum, one| sum.saturating_add(one.recorded.range.length.get()));
        let kinds = KINDS.into_iter().map(|kind| {
            let mine = || played.iter().filter(move |one| one.recorded.kind == kind).map(&result_of);
            let mut sorted: Vec<Duration> = mine().map(|(latency, _)| latency).collect();
            sorted.sort_unstable();
            KindOutcome { kind, failed: mine().filter(|(_, succeeded)| !succeeded).count() as u64, sorted }
        });
        let kinds = kinds.filter(|outcome| !outcome.sorted.is_empty()).collect();
        Self { time, bytes: Bytes::new(bytes), kinds }
    }

    /// Bytes per second; `None` if no time passed.
    pub fn bytes_per_s(&self) -> Option<f64> {
        (!self.time.is_zero()).then(|| self.bytes.as_f64() / self.time.as_secs_f64())
    }
}

impl KindOutcome {
    /// The latency that `of_thousand` of 1000 requests do not exceed: the nearest rank (Hyndman and Fan,
    /// "Sample quantiles in statistical packages", 1996, definition 1).
    pub fn percentile(&self, of_thousand: usize) -> Duration {
        let rank = (self.sorted.len() * of_thousand).div_ceil(1000).max(1);
        self.sorted.get(rank - 1).copied().unwrap_or_default()
    }

    /// The mean latency.
    pub fn mean(&self) -> Duration {
        let sum: Duration = self.sorted.iter().sum();
        sum.checked_div(u32::try_from(self.sorted.len()).unwrap_or(u32::MAX)).unwrap_or_default()
    }

    /// The longest latency.
    pub fn longest(&self) -> Duration {
        self.sorted.last().copied().unwrap_or_default()
    }
}

impl Comparison {
    /// Bytes programmed into the flash for each byte that was written; `None` if nothing was.
    pub fn write_amplification(&self) -> Option<f64> {
        let Statistics { bytes_written, bytes_programmed, .. } = self.statistics;
        (!bytes_written.is_zero()).then(|| bytes_programmed.as_f64() / bytes_written.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_latencies() {
        let outcome = |count: u64| KindOutcome {
            kind: OpKind::Read,
            failed: 0,
            sorted: (1..=count).map(Duration::from_micros).collect(),
        };
        let of = |count| [500, 900, 990, 999].map(|part| outcome(count).percentile(part).as_micros());
        assert_eq!(of(1), [1, 1, 1, 1]);
        assert_eq!(of(10), [5, 9, 10, 10]);
        assert_eq!(of(1000), [500, 900, 990, 999]);
        assert_eq!(outcome(4).mean(), Duration::from_nanos(2500));
    }
}
