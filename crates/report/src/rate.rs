//! A measured rate: the typical latency of equal requests, its statistic, and the number of requests.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_infer::statistics::median;
use flashscope_record::observation::Times;

use crate::quantity;

/// The statistic of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The mean: includes every merge and stall.
    Mean,
    /// The median: the latency of an undisturbed request.
    Median,
}

/// The typical latency of equal requests, pooled over all cells that measured them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The request size.
    pub request: Bytes,
    /// The statistic of the latencies below.
    pub statistic: Statistic,
    /// Latency of a request, seconds; finite and above zero.
    pub seconds: f64,
    /// The fastest cell's latency, seconds.
    pub seconds_low: f64,
    /// The slowest cell's latency, seconds.
    pub seconds_high: f64,
    /// The number of cells.
    pub cells: u32,
    /// The number of requests; `None` if a cell does not give it.
    pub requests: Option<u64>,
}

impl Rate {
    /// The mean of these latencies.
    pub fn mean(request: Bytes, times: &Times) -> Option<Self> {
        let requests = match times {
            Times::Each(each) => Some(each.len() as u64),
            Times::Mean { requests, .. } => *requests,
        };
        Self::new(request, Statistic::Mean, times.mean_seconds()?, requests)
    }

    /// The median of these latencies.
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

    /// Both rates pooled, weighted by their numbers of requests where these are known.
    pub fn pooled_with(self, other: Self) -> Self {
        let weight =
            |rate: &Self| rate.requests.map_or(f64::from(rate.cells), |requests| requests.max(1) as f64);
        let (own_weight, other_weight) = (weight(&self), weight(&other));
        Self {
            seconds: (self.seconds * own_weight + other.seconds * other_weight) / (own_weight + other_weight),
            seconds_low: self.seconds_low.min(other.seconds_low),
            seconds_high: self.seconds_high.max(other.seconds_high),
            cells: self.cells.saturating_add(other.cells),
            requests: self.requests.zip(other.requests).map(|(own, others)| own.saturating_add(others)),
            ..self
        }
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.request.as_f64() / self.seconds
    }

    /// The statistic and the number of requests: `mean of 128 writes`.
    pub fn basis(&self) -> String {
        let name = match self.statistic {
            Statistic::Mean => "mean",
            Statistic::Median => "median",
        };
        self.requests.map_or_else(
            || format!("published {name}"),
            |requests| format!("{name} of {}", quantity::counted(requests, "write")),
        )
    }

    /// Latency, throughput and basis: `4.10 ms, 15.7 MB/s (mean of 128 writes)`.
    pub fn to_text(self) -> String {
        let (latency, speed) = (quantity::seconds(self.seconds), quantity::speed(self.bytes_per_s()));
        format!("{latency}, {speed} ({})", self.basis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooled_means_are_weighted_by_their_requests() {
        let rate = |seconds, requests| Rate::new(Bytes::kib(4), Statistic::Mean, seconds, requests).unwrap();
        assert!((rate(1.0, Some(3)).pooled_with(rate(5.0, Some(1))).seconds - 2.0).abs() < 1e-9);
        assert!((rate(1.0, Some(1)).pooled_with(rate(5.0, Some(3))).seconds - 4.0).abs() < 1e-9);
        assert!((rate(1.0, None).pooled_with(rate(5.0, None)).seconds - 3.0).abs() < 1e-9);
    }
}
