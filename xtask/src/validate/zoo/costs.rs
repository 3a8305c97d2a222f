//! The cost of surveys: median, 90th percentile, maximum.

use flashscope_device::layer::Cost;
use serde::Serialize;

use super::measure::{Requests, Surveyed, device_seconds};

/// The distribution of a quantity over all specimens.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The maximum.
    pub max: f64,
    /// The index of the specimen with the maximum.
    pub worst: u64,
}

impl Spread {
    /// The distribution of these values; each has the index of its specimen.
    pub fn of(values: impl Iterator<Item = (u64, f64)>) -> Self {
        let mut sorted: Vec<(u64, f64)> = values.collect();
        sorted.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        let at = |tenths: usize| {
            let rank = (sorted.len() * tenths).div_ceil(10).max(1);
            sorted.get(rank - 1).copied().unwrap_or_default()
        };
        let (worst, max) = at(10);
        Self { median: at(5).1, p90: at(9).1, max, worst }
    }
}

/// The cost of one kind of survey.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// Read requests.
    pub reads: Spread,
    /// Write requests.
    pub writes: Spread,
    /// Bytes read.
    pub bytes_read: Spread,
    /// Bytes written.
    pub bytes_written: Spread,
    /// Device time, seconds.
    pub device_seconds: Spread,
    /// Write requests of *open-units* alone.
    pub open_units_writes: Spread,
}

impl Costs {
    /// The cost of one survey of each specimen, given with its index.
    #[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^53")]
    pub fn of<'a>(surveys: impl Iterator<Item = (u64, &'a Surveyed)> + Clone) -> Self {
        let each = |figure: fn(&Cost) -> f64| {
            Spread::of(surveys.clone().map(|(index, survey)| (index, figure(&survey.cost))))
        };
        let writes = |requests: &Requests| requests.writes as f64;
        let open_units =
            surveys.clone().filter_map(|(index, survey)| Some((index, survey.requests.get("open-units")?)));
        Self {
            reads: each(|cost| cost.reads as f64),
            writes: each(|cost| cost.writes as f64),
            bytes_read: each(|cost| cost.bytes_read.as_f64()),
            bytes_written: each(|cost| cost.bytes_written.as_f64()),
            device_seconds: each(device_seconds),
            open_units_writes: Spread::of(open_units.map(|(index, requests)| (index, writes(requests)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_the_sample() {
        let spread = Spread::of((1..=10u32).map(|nth| (u64::from(100 + nth), f64::from(nth))));
        assert_eq!(
            [spread.median, spread.p90, spread.max].map(f64::to_bits),
            [5.0f64, 9.0, 10.0].map(f64::to_bits)
        );
        assert_eq!(spread.worst, 110, "the specimen with the maximum");
        assert_eq!(Spread::of(std::iter::empty()).max.to_bits(), 0.0f64.to_bits());
    }
}
