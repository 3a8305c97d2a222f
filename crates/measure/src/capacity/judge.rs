//! What places that were written and read back say together. Pure.

use flashscope_device::Bytes;

use super::boundary::BAD_IN_A_ROW;
use super::stamped::Place;

/// Changes between kept and bad along a run that make its bad places scattered. A boundary, a cached end and
/// the end of a period make at most 4.
const SCATTERED_CHANGES_MIN: usize = 9;
/// Bad places in a row at the upper end that are a boundary, although bad places are scattered below it.
/// With half of all places bad, chance makes 6 in a row in 2 % of cases.
const SUFFIX_MIN: usize = 6;
/// The largest number of bad places that may be a chance event each.
const FEW: usize = 4;

/// What the places show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All places are kept.
    Kept,
    /// Bad places without a boundary. `is_few`: each may be a chance event.
    Scattered {
        /// Whether there are at most a few.
        is_few: bool,
    },
    /// The last kept unit ends at `low` or above, and the unit at `high` is bad.
    Boundary {
        /// The end of the last kept place.
        low: Bytes,
        /// The first bad place after it.
        high: Bytes,
        /// Whether places below it are bad too.
        is_broken: bool,
    },
}

/// What a run that is read back shows of a cache for dropped data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedEnd {
    /// The first place of the run that only the cache may hold.
    pub start: Bytes,
    /// Whether bad places follow it: the cache does not evict the oldest first.
    pub is_mixed: bool,
}

/// The end of a run that only a cache may hold. If the older part of the run is lost, all kept places are
/// suspect; else those after the last bad place.
pub fn cached_end(probes: &[Place], samples: &[Place]) -> Option<CachedEnd> {
    let last_bad = samples.iter().rposition(|place| !place.is_kept())?;
    let first_kept = samples.iter().position(Place::is_kept)?;
    if is_lost(probes, samples) {
        return Some(CachedEnd { start: samples[first_kept].at, is_mixed: first_kept < last_bad });
    }
    samples.get(last_bad + 1).map(|place| CachedEnd { start: place.at, is_mixed: false })
}

/// Whether the oldest quarter of the run and the highest probe are lost.
fn is_lost(probes: &[Place], samples: &[Place]) -> bool {
    let oldest = &samples[..samples.len() / 4];
    let is_bad = |place: &Place| !place.is_kept();
    !oldest.is_empty() && oldest.iter().all(is_bad) && probes.last().is_none_or(is_bad)
}

/// Whether a run shows all of the cache that may hold its end: it is at most a quarter of the run, and evicts
/// the oldest first.
pub fn is_mostly_lost(probes: &[Place], samples: &[Place]) -> bool {
    let kept = samples.iter().filter(|place| place.is_kept()).count();
    let is_mixed = cached_end(probes, samples).is_some_and(|cached| cached.is_mixed);
    4 * kept <= samples.len() && !is_mixed
}

/// The number of changes between kept and bad.
fn changes(places: &[Place]) -> usize {
    places.windows(2).filter(|pair| pair[0].is_kept() != pair[1].is_kept()).count()
}

/// The shape of these places: `probes` below the run and `samples` inside it, both by offset.
pub fn shape(probes: &[Place], samples: &[Place], unit: Bytes) -> Shape {
    let bad = probes.iter().chain(samples).filter(|place| !place.is_kept()).count();
    if bad == 0 {
        return Shape::Kept;
    }
    let is_mixed = changes(samples) >= SCATTERED_CHANGES_MIN && !is_lost(probes, samples);
    if is_mixed {
        return if has_bad_suffix(probes) { boundary(probes, unit) } else { scattered(bad) };
    }
    let cached = cached_end(probes, samples).map(|cached| cached.start);
    let counted: Vec<Place> = probes
        .iter()
        .chain(samples.iter().filter(|place| cached.is_none_or(|cached| place.at < cached)))
        .copied()
        .collect();
    let suffix = counted.iter().rev().take_while(|place| !place.is_kept()).count();
    let is_at_end = counted.last().is_some_and(|last| !last.is_kept());
    if !is_at_end || (bad <= FEW && suffix < bad) {
        return scattered(bad);
    }
    // A few bad places with kept ones after them in the run are no boundary: no cache is that exact.
    let kept_after = cached.is_some();
    if bad <= FEW && kept_after { scattered(bad) } else { boundary(&counted, unit) }
}

const fn scattered(bad: usize) -> Shape {
    Shape::Scattered { is_few: bad <= FEW }
}

/// Whether the highest probes are all bad, and those below them are not.
fn has_bad_suffix(probes: &[Place]) -> bool {
    let suffix = probes.iter().rev().take_while(|place| !place.is_kept()).count();
    let below = &probes[..probes.len() - suffix];
    let bad_below = below.iter().filter(|place| !place.is_kept()).count();
    suffix >= SUFFIX_MIN && 2 * bad_below <= below.len()
}

/// The boundary after the last kept place.
fn boundary(places: &[Place], unit: Bytes) -> Shape {
    let last_kept = places.iter().rposition(Place::is_kept);
    let low = last_kept.map_or(Bytes::ZERO, |last| places[last].at + unit);
    let next = last_kept.map_or(0, |last| last + 1);
    let is_broken = places[..next].iter().any(|place| !place.is_kept());
    // Then the first bad places after it may lie below the boundary as well.
    let first_bad = if is_broken { (next + BAD_IN_A_ROW).min(places.len() - 1) } else { next };
    let high = places.get(first_bad).map_or(low, |place| place.at);
    Shape::Boundary { low, high, is_broken }
}

/// A bad place above the boundary, even if the first ones from `high` on are bad by chance and lie below it.
pub fn beyond(places: &[Place], high: Bytes) -> Bytes {
    let mut above: Vec<Bytes> = places.iter().map(|place| place.at).filter(|at| *at >= high).collect();
    above.sort_unstable();
    above.get(BAD_IN_A_ROW).or(above.last()).copied().unwrap_or(high)
}

/// The first offset of the kept places at the end of a run, above its last bad place; `None` if all are kept.
pub fn kept_end(samples: &[Place]) -> Option<Bytes> {
    let last_bad = samples.iter().rposition(|place| !place.is_kept())?;
    samples.get(last_bad + 1).or(samples.last()).map(|place| place.at)
}

#[cfg(test)]
mod tests {
    use super::super::stamped::Found;
    use super::*;

    const UNIT: Bytes = Bytes::kib(4);

    /// A place at each of these MiB.
    fn places(mib: std::ops::Range<u64>, is_bad: impl Fn(u64) -> bool) -> Vec<Place> {
        let found = |mib| if is_bad(mib) { Found::Blank(0) } else { Found::Kept };
        mib.map(|mib| Place { at: Bytes::mib(mib), pass: 1, before: None, found: found(mib) }).collect()
    }

    /// If places below it are bad too, the first four behind the last kept one may be bad by chance.
    #[test]
    fn a_boundary_lies_below_the_first_bad_place_or_below_the_fifth_where_others_are_bad_too() {
        for suffix in 1..=8_u64 {
            let samples = places(16..32, |mib| mib >= 32 - suffix);
            let low = Bytes::mib(31 - suffix) + UNIT;
            let first = Shape::Boundary { low, high: Bytes::mib(32 - suffix), is_broken: false };
            assert_eq!(shape(&places(0..16, |_| false), &samples, UNIT), first, "{suffix}");
            // With fewer than five, below the last.
            let high = Bytes::mib(32 - suffix + suffix.min(5) - 1);
            let broken = Shape::Boundary { low, high, is_broken: true };
            assert_eq!(shape(&places(0..16, |mib| mib % 4 == 1), &samples, UNIT), broken, "{suffix}");
        }
    }

    #[test]
    fn up_to_four_scattered_bad_places_are_few() {
        let scattered = |bad: u64| {
            let probes = places(0..16, |mib| mib.is_multiple_of(2) && mib < 2 * bad);
            shape(&probes, &places(16..32, |_| false), UNIT)
        };
        let few = [true, true, false, false].map(|is_few| Shape::Scattered { is_few });
        assert_eq!([1, 4, 5, 8].map(scattered), few);
    }

    #[test]
    fn the_kept_end_of_a_run_begins_behind_its_last_bad_place() {
        let kept = |bad: &[u64]| kept_end(&places(16..32, |mib| bad.contains(&mib)));
        assert_eq!(kept(&[16, 20]), Some(Bytes::mib(21)));
        assert_eq!(kept(&[16]), Some(Bytes::mib(17)));
        assert_eq!(kept(&[20, 31]), Some(Bytes::mib(31)), "the last place, if that is bad");
        assert_eq!(kept(&[]), None);
    }
}
