//! The write speed of each allocation unit of a sequential stream.
//!
//! SD Physical Layer Simplified Specification 4.10, sections 4.13.1.3, 4.13.2.2 and 4.13.3.3: the
//! performance of a class is the minimum of the average over each complete allocation unit. Of units larger
//! than 4 MB, each 4 MB is one measurement. The first unit does not count: the card may prepare for 1 s.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::observation::{Data, Direction, Order, SpeedCell, SustainedData};
use flashscope_record::run_file::RunFile;

/// The longest measurement: the standard's sub-unit. It is also the largest allocation unit of cards up to
/// 32 GB (table 4-47), so that it serves where the unit is not known.
pub const SUB_UNIT: Bytes = Bytes::mib(4);
/// The fewest units that decide. Guess: fewer do not meet the first garbage collection.
const UNITS_MIN: usize = 8;
/// The largest allocation unit (table 4-46): a stream may begin within one that is not known.
const UNIT_MAX: Bytes = Bytes::mib(64);
/// The smallest request that shows sequential speed: two recording units of class 10 (table 4-56).
const REQUEST_MIN: Bytes = Bytes::mib(1);

/// The speeds of the allocation units of one stream, bytes per second.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitSpeeds {
    /// The bytes of each measurement at least: the allocation unit, or 4 MiB of it.
    pub unit: Bytes,
    /// The speeds, the lowest first; at least one.
    sorted: Vec<f64>,
}

impl UnitSpeeds {
    /// The lowest speed, which decides.
    #[must_use]
    pub fn lowest(&self) -> f64 {
        self.sorted.first().copied().unwrap_or_default()
    }

    /// The median.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.sorted.get(self.sorted.len() / 2).copied().unwrap_or_default()
    }

    /// The mean over the whole stream: each unit has as many bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sorted.len() as f64
            / self.sorted.iter().map(|speed| 1.0 / speed).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// How many were measured.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.sorted.len()
    }

    /// How many were slower than this.
    #[must_use]
    pub fn below(&self, bytes_per_s: f64) -> usize {
        self.sorted.partition_point(|speed| *speed < bytes_per_s)
    }

    /// Whether they are enough to decide about this speed: few are if all of them are slower.
    pub(super) fn are_enough(&self, bytes_per_s: f64) -> bool {
        self.sorted.len() >= UNITS_MIN || self.below(bytes_per_s) == self.sorted.len()
    }
}

/// The speeds of the units of the run's sequential writes: of the row with each latency, or else of the long
/// stream, whose pieces may be longer than a unit. `None` without any.
pub fn unit_speeds(run: &RunFile) -> Option<UnitSpeeds> {
    let reported = run.attachment.claims.allocation_unit.filter(|unit| !unit.is_zero());
    let unit = reported.unwrap_or(SUB_UNIT).min(SUB_UNIT).max(REQUEST_MIN);
    let data = || run.observations.iter().rev().map(|seen| &seen.data);
    let row = data().find_map(|data| match data {
        Data::Speed(data) if !data.is_buffered => data.cells.iter().rev().find(|cell| is_stream(cell)),
        _ => None,
    });
    let stream = || {
        data().find_map(|data| match data {
            Data::Sustained(data) if !data.is_spread => Some(data),
            _ => None,
        })
    };
    // A row begins with a unit of any size that is possible.
    let (parts, first) = match row {
        Some(row) => (requests(row), unit),
        None => (pieces(stream()?), UNIT_MAX),
    };
    let whole: Bytes = parts.iter().map(|(length, _)| *length).sum();
    let first = reported.unwrap_or(first).max(unit).min(whole / 2);
    let mut sorted = speeds(&parts, unit, first);
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then_some(UnitSpeeds { unit, sorted })
}

fn is_stream(cell: &SpeedCell) -> bool {
    let case = cell.case;
    (case.direction, case.order) == (Direction::Write, Order::Linear) && case.request >= REQUEST_MIN
}

/// Each request, and the time from the end of the one before it.
fn requests(cell: &SpeedCell) -> Vec<(Bytes, Duration)> {
    let before = std::iter::once(&0).chain(&cell.ended_ns);
    let took =
        before.zip(&cell.ended_ns).map(|(before, end)| Duration::from_nanos(end.saturating_sub(*before)));
    took.map(|took| (cell.case.request, took)).collect()
}

fn pieces(data: &SustainedData) -> Vec<(Bytes, Duration)> {
    data.pieces.iter().map(|piece| (data.request * u64::from(piece.requests), piece.time)).collect()
}

/// The speeds of successive units, after the first `left_out` bytes.
fn speeds(parts: &[(Bytes, Duration)], unit: Bytes, left_out: Bytes) -> Vec<f64> {
    let mut speeds = Vec::new();
    let (mut skipped, mut bytes, mut time) = (Bytes::ZERO, Bytes::ZERO, Duration::ZERO);
    for (length, took) in parts {
        if skipped < left_out {
            skipped += *length;
            continue;
        }
        bytes += *length;
        time += *took;
        if bytes >= unit {
            speeds.extend((!time.is_zero()).then(|| bytes.as_f64() / time.as_secs_f64()));
            (bytes, time) = (Bytes::ZERO, Duration::ZERO);
        }
    }
    speeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowest_unit_decides_and_the_first_is_left_out() {
        let mib = |ms: u64| (Bytes::mib(1), Duration::from_millis(ms));
        let mut parts = vec![mib(1000); 4];
        parts.extend(vec![mib(50); 8]);
        parts.extend([mib(50), mib(350), mib(50), mib(50)]);
        parts.extend([mib(9999)]);
        let mut sorted = speeds(&parts, Bytes::mib(4), Bytes::mib(4));
        sorted.sort_by(f64::total_cmp);
        let units = UnitSpeeds { unit: Bytes::mib(4), sorted };
        let per_s = |ms: f64| Bytes::mib(4).as_f64() / ms * 1e3;
        assert_eq!((units.count(), units.are_enough(1.0), units.are_enough(1e9)), (3, false, true));
        assert!((units.lowest() - per_s(500.0)).abs() < 1.0 && (units.median() - per_s(200.0)).abs() < 1.0);
        assert_eq!((units.below(per_s(400.0)), units.below(1.0)), (1, 0));
        assert_eq!(units.below(units.lowest()), 0, "a unit is not slower than itself");
    }
}
