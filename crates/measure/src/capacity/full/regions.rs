//! From progress and judgement to the verdict: the map, and the throughput over the offset.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::capacity::{BadPlaces, CapacityKind, PlaceState};
use flashscope_record::full_capacity::{
    FullProgress, FullRegion, FullVerdict, RegionState, RegionTally, Transfer, Trouble,
};

use super::judge::{self, Judged};

/// A region is slow below this share of the median throughput. Policy.
const SLOW_SHARE: f64 = 1.0 / 3.0;
/// A region that took less time says nothing about its speed: the host's noise is as long. Guess.
const TIME_MIN: Duration = Duration::from_millis(100);
/// Repeated requests that are no accident. Guess: a sound stick repeats none.
const REPEATED_MIN: u64 = 8;
/// Of the places that were tried again, one in four was right: they move. Policy.
const MOVED_PART: u64 = 4;

/// The verdict.
pub fn verdict(progress: &FullProgress, judged: Judged) -> FullVerdict {
    let write = median(progress, |region| speed(region.write));
    let read = median(progress, |region| speed(region.read));
    let regions = (0_u64..).zip(&progress.regions).map(|(index, tally)| {
        let offset = progress.region * index;
        let length = progress.region.min(progress.capacity - offset);
        region(offset, length, tally, (write, read))
    });
    let mut bad: BTreeMap<PlaceState, u64> = BTreeMap::new();
    for places in progress.regions.iter().flat_map(|region| &region.bad) {
        *bad.entry(places.state).or_default() += places.count;
    }
    let mut bad: Vec<BadPlaces> = bad.into_iter().map(|(state, count)| BadPlaces { state, count }).collect();
    bad.sort_by_key(|bad| std::cmp::Reverse(bad.count));
    FullVerdict {
        kind: judged.kind,
        is_unsteady: is_unsteady(&progress.trouble),
        announced: progress.capacity,
        true_size: judged.true_size,
        wrap_period: judged.wrap_period,
        cache_seen: judged.cache_seen,
        bad_share: bad_share(progress, &judged),
        bad,
        trouble: progress.trouble,
        write_bytes_per_s: total(progress, |region| region.write),
        read_bytes_per_s: total(progress, |region| region.read),
        regions: regions.collect(),
        continued: progress.continued,
        seed: progress.seed,
        cost: progress.cost,
    }
}

/// Whether bad places move, or requests fail now and then.
const fn is_unsteady(trouble: &Trouble) -> bool {
    let moved = trouble.right_when_read_again + trouble.right_after_second_write;
    (moved > 0 && moved * MOVED_PART >= trouble.looked_at) || trouble.repeated_requests >= REPEATED_MIN
}

/// The share of bad sectors below the true size.
fn bad_share(progress: &FullProgress, judged: &Judged) -> f64 {
    let end = judged.true_size.unwrap_or(progress.capacity);
    let bad = judge::bad_bytes(progress, |_| true);
    let below = match judged.kind {
        CapacityKind::Scattered | CapacityKind::NoSign => bad,
        CapacityKind::Wrap | CapacityKind::Chain => Bytes::ZERO,
        CapacityKind::Mixed if judged.wrap_period.is_some() => {
            judge::bad_bytes(progress, |state| state != PlaceState::OtherAddress)
        }
        _ => bad.saturating_sub(progress.capacity.saturating_sub(end)),
    };
    let whole = if judged.wrap_period.is_some() { progress.capacity } else { end };
    if whole.is_zero() { 0.0 } else { (below.as_f64() / whole.as_f64()).min(1.0) }
}

fn region(offset: Bytes, length: Bytes, tally: &RegionTally, medians: (f64, f64)) -> FullRegion {
    let (write, read) = (speed(tally.write), speed(tally.read));
    let is_slow = |transfer: Transfer, median: f64| {
        transfer.time >= TIME_MIN && speed(transfer).is_some_and(|it| it < median * SLOW_SHARE)
    };
    let state = if tally.bad.iter().any(|bad| judge::is_error(bad.state)) {
        RegionState::Bad
    } else if !tally.bad.is_empty() {
        RegionState::Lying
    } else if is_slow(tally.write, medians.0) || is_slow(tally.read, medians.1) {
        RegionState::Slow
    } else {
        RegionState::Good
    };
    FullRegion {
        offset,
        length,
        state,
        write_bytes_per_s: write,
        read_bytes_per_s: read,
        bad: tally.bad.clone(),
    }
}

fn speed(transfer: Transfer) -> Option<f64> {
    let is_known = !transfer.bytes.is_zero() && !transfer.time.is_zero();
    is_known.then(|| transfer.bytes.as_f64() / transfer.time.as_secs_f64())
}

fn total(progress: &FullProgress, of: impl Fn(&RegionTally) -> Transfer) -> Option<f64> {
    let all = progress.regions.iter().map(of).fold(Transfer::default(), |sum, each| Transfer {
        bytes: sum.bytes + each.bytes,
        time: sum.time + each.time,
    });
    speed(all)
}

fn median(progress: &FullProgress, of: impl Fn(&RegionTally) -> Option<f64>) -> f64 {
    let mut speeds: Vec<f64> = progress.regions.iter().filter_map(of).collect();
    speeds.sort_by(f64::total_cmp);
    speeds.get(speeds.len() / 2).copied().unwrap_or_default()
}
