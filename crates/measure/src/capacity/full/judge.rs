//! What the bad sectors of the whole device say together. Pure.

use flashscope_device::{ByteRange, Bytes, SECTOR};
use flashscope_record::capacity::{CapacityKind, PlaceState};
use flashscope_record::full_capacity::{BadExtent, FullProgress};

/// The largest cache for dropped data that is looked for. Guess: four times the largest in f3probe's tests.
const CACHE_MAX: Bytes = Bytes::gib(4);
/// A boundary needs at least this share of all bad sectors behind it; else bad places are scattered.
const SUFFIX_SHARE_MIN: f64 = 0.5;
/// More bad sectors below a boundary than this share of them are a kind of their own. Policy.
const MIXED_SHARE_MIN: f64 = 0.001;

/// What the bad sectors show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The kind.
    pub kind: CapacityKind,
    /// What is stored; `None` without a boundary.
    pub true_size: Option<Bytes>,
    /// The period of addresses.
    pub wrap_period: Option<Bytes>,
    /// A cache for dropped data.
    pub cache_seen: Option<Bytes>,
}

impl Judged {
    /// This kind, with this size.
    pub const fn new(kind: CapacityKind, true_size: Option<Bytes>) -> Self {
        Self { kind, true_size, wrap_period: None, cache_seen: None }
    }
}

/// The number of sectors with this property, as bytes.
pub fn bad_bytes(progress: &FullProgress, is_meant: impl Fn(PlaceState) -> bool) -> Bytes {
    let all = progress.regions.iter().flat_map(|region| &region.bad);
    all.filter(|bad| is_meant(bad.state)).map(|bad| SECTOR * bad.count).sum()
}

/// Whether a request failed.
pub const fn is_error(state: PlaceState) -> bool {
    matches!(state, PlaceState::ReadError | PlaceState::WriteError)
}

/// Judges the bad sectors.
pub fn judge(progress: &FullProgress) -> Judged {
    let bad = bad_bytes(progress, |_| true);
    if bad.is_zero() {
        return Judged::new(CapacityKind::NoSign, Some(progress.capacity));
    }
    if let Some(period) = progress.shift
        && let Some(judged) = wrap(progress, period)
    {
        return judged;
    }
    let end = progress.kept_end;
    let suffix = progress.capacity.saturating_sub(end);
    if suffix.is_zero() || suffix.as_f64() < SUFFIX_SHARE_MIN * bad.as_f64() {
        return Judged::new(CapacityKind::Scattered, None);
    }
    boundary(progress, end, suffix, bad)
}

/// Everything from `end` on is bad.
fn boundary(progress: &FullProgress, end: Bytes, suffix: Bytes, bad: Bytes) -> Judged {
    let below = bad.saturating_sub(suffix);
    let errors = bad_bytes(progress, is_error);
    let kind = if below.as_f64() > MIXED_SHARE_MIN * end.as_f64() {
        CapacityKind::Mixed
    } else if errors * 2 > bad {
        CapacityKind::Errors
    } else {
        CapacityKind::Dropped
    };
    Judged::new(kind, Some(end))
}

/// Wrap-around: the image of the end of the device lies at its start. `None` if the start kept its data:
/// then a cache that ignores addresses returned the data of others.
fn wrap(progress: &FullProgress, period: Bytes) -> Option<Judged> {
    let first = progress.extents.first()?;
    let misplaced = bad_bytes(progress, |state| state == PlaceState::OtherAddress);
    let other = bad_bytes(progress, |state| state != PlaceState::OtherAddress);
    if !first.range.offset.is_zero() {
        let size = first.range.offset;
        let beyond = progress.capacity.saturating_sub(size);
        let is_all = misplaced + other >= beyond / 2;
        let judged = Judged::new(CapacityKind::Dropped, Some(size));
        return is_all.then_some(Judged { cache_seen: Some(period), ..judged });
    }
    let wrapped = Judged { wrap_period: Some(period), ..Judged::new(CapacityKind::Wrap, Some(period)) };
    if other.is_zero() {
        return Some(wrapped);
    }
    let dropped = progress.extents.iter().filter(|extent| extent.state != PlaceState::OtherAddress);
    let real = dropped.map(|extent| extent.range.offset % period).min().unwrap_or(period);
    let (periods, rest) = (progress.capacity / period, progress.capacity % period);
    let expected = (period - real) * periods + rest.saturating_sub(real);
    if other == expected && !progress.is_cut_off {
        return Some(Judged { kind: CapacityKind::Chain, true_size: Some(real), ..wrapped });
    }
    (misplaced >= other).then_some(Judged { kind: CapacityKind::Mixed, ..wrapped })
}

/// The end of the device, if only a cache may hold it: what lies behind the largest lost extent, if that
/// is larger, and at least half of all that is bad.
pub fn cached_end(progress: &FullProgress) -> Option<(BadExtent, ByteRange)> {
    let bad = bad_bytes(progress, |_| true);
    let largest = progress.extents.iter().max_by_key(|extent| extent.range.length)?;
    let end = largest.range.end();
    let suffix = ByteRange::new(end, progress.capacity.saturating_sub(end));
    let is_suspect = !is_error(largest.state)
        && !suffix.length.is_zero()
        && suffix.length <= CACHE_MAX.min(largest.range.length)
        && largest.range.length * 2 >= bad;
    is_suspect.then_some((*largest, suffix))
}

#[cfg(test)]
mod tests {
    use flashscope_record::capacity::BadPlaces;
    use flashscope_record::full_capacity::RegionTally;

    use super::*;

    const PERIOD: u64 = 256;

    /// A device of 1 GiB that wraps after 256 MiB, of which these MiB of each period read as zeros.
    fn judged(zeros: std::ops::Range<u64>, periods: u64, is_cut_off: bool) -> Option<Judged> {
        let extent = |start: u64, end: u64, state| BadExtent {
            range: ByteRange::new(Bytes::mib(start), Bytes::mib(end - start)),
            state,
        };
        let lost = zeros.end - zeros.start;
        let mut extents = Vec::new();
        let mut misplaced = 0;
        for start in (0..4).map(|period| period * PERIOD) {
            let (from, to) = (start + zeros.start, start + zeros.end);
            let is_lost = start / PERIOD < periods && lost > 0;
            let end = if is_lost { from } else { start + PERIOD };
            extents.push(extent(start, end, PlaceState::OtherAddress));
            misplaced += end - start;
            if is_lost {
                extents.push(extent(from, to, PlaceState::Zeros));
            }
        }
        let bad = |state, mib| BadPlaces { state, count: Bytes::mib(mib) / SECTOR };
        let bad = vec![bad(PlaceState::OtherAddress, misplaced), bad(PlaceState::Zeros, lost * periods)];
        let progress = FullProgress {
            regions: vec![RegionTally { bad, ..RegionTally::default() }],
            extents,
            is_cut_off,
            shift: Some(Bytes::mib(PERIOD)),
            ..FullProgress::new(1, Bytes::gib(1), Bytes::gib(1))
        };
        wrap(&progress, Bytes::mib(PERIOD))
    }

    #[test]
    fn lost_data_are_the_boundary_of_a_chain_only_where_all_of_it_is_lost_in_each_period() {
        let seen = |zeros, periods, is_cut_off| {
            judged(zeros, periods, is_cut_off).map(|judged| (judged.kind, judged.true_size))
        };
        let period = Some(Bytes::mib(PERIOD));
        assert_eq!(seen(0..0, 4, false), Some((CapacityKind::Wrap, period)));
        assert_eq!(seen(200..256, 4, false), Some((CapacityKind::Chain, Some(Bytes::mib(200)))));
        assert_eq!(seen(200..256, 3, false), Some((CapacityKind::Mixed, period)));
        assert_eq!(seen(200..203, 4, false), Some((CapacityKind::Mixed, period)));
        assert_eq!(
            seen(200..256, 4, true),
            Some((CapacityKind::Mixed, period)),
            "not every place was looked at"
        );
    }

    /// The suspect end of a device of 1 GiB which lost these MiB, and this number elsewhere.
    fn suspect(lost: [u64; 2], state: PlaceState, elsewhere: u64) -> Option<[u64; 2]> {
        let [start, length] = [lost[0], lost[1] - lost[0]].map(Bytes::mib);
        let bad = vec![BadPlaces { state, count: (length + Bytes::mib(elsewhere)) / SECTOR }];
        let progress = FullProgress {
            regions: vec![RegionTally { bad, ..RegionTally::default() }],
            extents: vec![BadExtent { range: ByteRange::new(start, length), state }],
            ..FullProgress::new(1, Bytes::gib(1), Bytes::gib(1))
        };
        cached_end(&progress).map(|(_, end)| [end.offset, end.length].map(|bytes| bytes / Bytes::mib(1)))
    }

    #[test]
    fn end_behind_lost_data_is_suspect_if_that_is_longer_and_at_least_half_of_all_that_is_lost() {
        let zeros = PlaceState::Zeros;
        assert_eq!(suspect([256, 768], zeros, 0), Some([768, 256]));
        assert_eq!(suspect([256, 640], zeros, 0), Some([640, 384]), "as long as what is lost");
        assert_eq!(suspect([256, 639], zeros, 0), None, "longer than that");
        assert_eq!(suspect([256, 1024], zeros, 0), None, "nothing is left");
        assert_eq!(suspect([256, 768], zeros, 512), Some([768, 256]), "half of what is lost");
        assert_eq!(suspect([256, 768], zeros, 513), None, "less than half");
        assert_eq!(suspect([256, 768], PlaceState::ReadError, 0), None, "requests failed");
    }
}
