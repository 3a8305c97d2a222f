//! One measured rate: the typical time of equal requests, how it was taken, and from how many.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_infer::statistics::median;
use flashscope_record::observation::Times;

use crate::quantity;

/// What stands for many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Their mean: what they cost together.
    Mean,
    /// Their median: what one of them costs when nothing gets in its way.
    Median,
}

/// The typical time of equal requests over every cell that measured them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The size of each request.
    pub request: Bytes,
    /// What the times below are.
    pub statistic: Statistic,
    /// Time per request, seconds; finite and above zero.
    pub seconds: f64,
    /// The fastest cell's, seconds.
    pub seconds_low: f64,
    /// The slowest cell's, seconds.
    pub seconds_high: f64,
    /// How many cells measured it.
    pub cells: u32,
    /// How many requests, if every cell says so.
    pub requests: Option<u64>,
}

impl Rate {
    /// The mean of these times.
    pub fn of(request: Bytes, times: &Times) -> Option<Self> {
        let requests = match times {
            Times::Each(each) => Some(each.len() as u64),
            Times::Mean { requests, .. } => *requests,
        };
        Self::new(request, Statistic::Mean, times.mean_seconds()?, requests)
    }

    /// The median of these times.
    pub fn median(request: Bytes, each: &[Duration]) -> Option<Self> {
        let seconds: Vec<f64> = each.iter().map(Duration::as_secs_f64).collect();
        Self::new(request, Statistic::Median, median(&seconds)?, Some(each.len() as u64))
    }

    fn new(request: Bytes, statistic: Statistic, seconds: f64, requests: Option<u64>) -> Option<Self> {
        let (low, high) = (seconds, seconds);
        let rate =
            Self { request, statistic, seconds, seconds_low: low, seconds_high: high, cells: 1, requests };
        (seconds.is_finite() && seconds > 0.0).then_some(rate)
    }

    /// Both together, weighted by the number of requests where it is known.
    pub fn and(self, other: Self) -> Self {
        let weight =
            |rate: &Self| rate.requests.map_or(f64::from(rate.cells), |requests| requests.max(1) as f64);
        let (ours, theirs) = (weight(&self), weight(&other));
        Self {
            seconds: (self.seconds * ours + other.seconds * theirs) / (ours + theirs),
            seconds_low: self.seconds_low.min(other.seconds_low),
            seconds_high: self.seconds_high.max(other.seconds_high),
            cells: self.cells.saturating_add(other.cells),
            requests: self.requests.zip(other.requests).map(|(ours, theirs)| ours.saturating_add(theirs)),
            ..self
        }
    }

    /// Bytes per second.
    pub fn speed(&self) -> f64 {
        self.request.as_f64() / self.seconds
    }

    /// What the figure rests on: `mean of 128 writes`.
    pub fn basis(&self) -> String {
        let name = match self.statistic {
            Statistic::Mean => "mean",
            Statistic::Median => "median",
        };
        self.requests.map_or_else(
            || format!("a published {name}"),
            |requests| format!("{name} of {}", quantity::counted(requests, "write")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooled_means_are_weighted_by_their_requests() {
        let rate = |seconds, requests| Rate::new(Bytes::kib(4), Statistic::Mean, seconds, requests).unwrap();
        assert!((rate(1.0, Some(3)).and(rate(5.0, Some(1))).seconds - 2.0).abs() < 1e-9);
        assert!((rate(1.0, None).and(rate(5.0, None)).seconds - 3.0).abs() < 1e-9);
    }
}
