//! The stalls of a long copy: a section of the twin's profile instead of a part of measured writes.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_infer::diagnosis::CopyStalls;
use flashscope_record::observation::{Data, Order, Times};
use flashscope_record::run_file::RunFile;
use flashscope_sim::Profile;
use flashscope_sim::profile::{Background, Basis, Stall};

/// Idle time before the twin works in the background, us. Guess: no test of `check` shows such work, and
/// replays have no idle time.
const IDLE_AFTER_US: f64 = 1e6;
/// A write stalled if it took more than this share of a stall too long. Guess: the middle between none and
/// one.
const STALLED_MIN: f64 = 0.5;

/// `profile` with these stalls, where a long stream takes less without them than it took on the stick.
///
/// They fill the difference, so that nothing counts twice that the times of writes include.
pub fn with_stalls(profile: Profile, stalls: CopyStalls) -> Profile {
    let without_s = 1.0 / profile.sustained_write_per_s().as_f64();
    let missing_s = (stalls.seconds_per_byte - without_s) * stalls.period.as_f64();
    let duration_us = (missing_s.min(stalls.seconds_max) * 1e6).round();
    let stall = Stall { every: stalls.period, duration_us, duration_max_us: None };
    let background =
        Background { basis: Basis::Fitted, idle_after_us: IDLE_AFTER_US, unit_us: 0.0, stall: Some(stall) };
    let twin = Profile { background: Some(background), ..profile.clone() };
    if twin.check().is_ok() { twin } else { profile }
}

/// The run without the sequential writes into one erase block that stalled: a stall in a row of a few writes
/// would be a part of the time of each.
pub fn without_stalled(run: &RunFile, stalls: CopyStalls) -> RunFile {
    let mut calm = Calm { margin_s: stalls.seconds_max * STALLED_MIN, shortest_s: BTreeMap::new() };
    let mut run = run.clone();
    for seen in &mut run.observations {
        let mut rows: Vec<(Bytes, &mut Times)> = match &mut seen.data {
            Data::WriteSize(data) => {
                let rows = data.cells.iter_mut().filter(|cell| cell.order == Order::Linear);
                rows.map(|cell| (cell.request, &mut cell.times)).collect()
            }
            Data::OpenUnits(data) => {
                let is_one_run = |order, units| order == Order::Linear && units == 1;
                let rows = data.cells.iter_mut().filter(|cell| is_one_run(cell.order, cell.open_units));
                rows.map(|cell| (cell.request, &mut cell.times)).collect()
            }
            _ => continue,
        };
        rows.sort_by_key(|(request, _)| *request);
        for (request, times) in rows {
            if let Times::Each(each) = times {
                calm.keep(request, each);
            }
        }
    }
    run
}

/// The shortest write of each size without a stall, seconds.
#[derive(Debug)]
struct Calm {
    /// A write that takes this much longer stalled, seconds.
    margin_s: f64,
    shortest_s: BTreeMap<Bytes, f64>,
}

impl Calm {
    /// Removes the stalled writes of a row.
    fn keep(&mut self, request: Bytes, each: &mut Vec<Duration>) {
        let shortest = each.iter().map(Duration::as_secs_f64).fold(f64::INFINITY, f64::min);
        let expected = self.expected_s(request).unwrap_or(shortest);
        each.retain(|took| took.as_secs_f64() <= expected + self.margin_s);
        if !each.is_empty() {
            let before = self.shortest_s.entry(request).or_insert(shortest);
            *before = before.min(shortest);
        }
    }

    /// What a write of this size takes at most: as many times a smaller one as it has more bytes.
    fn expected_s(&self, request: Bytes) -> Option<f64> {
        let (smaller, seconds) = self.shortest_s.range(..=request).next_back()?;
        Some(seconds * request.as_f64() / smaller.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stall takes 0.2 s, so that a write with more than half of one too much stalled.
    #[test]
    fn writes_that_take_longer_than_their_bytes_explain_have_stalled() {
        let mut calm = Calm { margin_s: 0.2 * STALLED_MIN, shortest_s: BTreeMap::new() };
        let mut keep = |kib, milliseconds: &[u64]| {
            let mut each: Vec<Duration> =
                milliseconds.iter().map(|each| Duration::from_millis(*each)).collect();
            calm.keep(Bytes::kib(kib), &mut each);
            each
        };
        assert_eq!(keep(16, &[10, 300, 12]), [10, 12].map(Duration::from_millis));
        // By the smaller writes 40 ms.
        assert_eq!(keep(64, &[45, 139, 141]), [45, 139].map(Duration::from_millis));
        // All of them stalled, so that they say nothing about larger ones.
        assert!(keep(128, &[200, 220]).is_empty());
        assert_eq!(keep(256, &[270, 290]), [270].map(Duration::from_millis));
    }
}
