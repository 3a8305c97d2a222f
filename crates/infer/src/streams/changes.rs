//! Where a long stream changes its speed: every place with a clear level on either side, not only the first.
//!
//! Each place is found as a single slow-down is (`slowdown.rs`), in the whole stream first and then in the parts on either
//! side: binary segmentation (A. Scott and M. Knott, "A cluster analysis method for grouping means", Biometrics 30, 1974).

use flashscope_device::Bytes;

use crate::statistics::{median, whole_bytes};
use crate::streams::slowdown::{Slowdown, Stretch};

/// Parts with fewer stretches are not cut further.
const STRETCHES_MIN: usize = 24;
/// How often parts are cut: no stream was seen with more than a handful of levels.
const DEPTH_MAX: u32 = 3;
/// A level that differs by less from its neighbour is none of its own.
const RATIO_MIN: f64 = 1.2;
/// So many stretches on either side must lie on their own side of the middle.
const AGREEMENT_MIN: f64 = 0.9;

/// A place where the speed of a stream changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// So much was written before.
    pub written: Bytes,
    /// The speed before, bytes per second.
    pub before_bytes_per_s: f64,
    /// The speed behind, bytes per second.
    pub behind_bytes_per_s: f64,
}

/// The changes of a stream, in its order. Levels are those between neighbouring changes: what a part was told apart from at first may
/// itself have been cut later.
#[must_use]
pub fn changes(stream: &[Stretch]) -> Vec<Change> {
    let mut places = Vec::new();
    cut(stream, Place { index: 0, bytes: 0.0 }, DEPTH_MAX, &mut places);
    let mut levels = levels(stream, &places);
    while let Some(alike) = levels.windows(2).position(|pair| ratio(pair[0], pair[1]) < RATIO_MIN) {
        places.remove(alike);
        levels = self::levels(stream, &places);
    }
    let change = |(place, pair): (&Place, &[f64])| Change {
        written: whole_bytes(place.bytes),
        before_bytes_per_s: 1.0 / pair[0],
        behind_bytes_per_s: 1.0 / pair[1],
    };
    places.iter().zip(levels.windows(2)).map(change).collect()
}

/// Where a stream is cut.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The first stretch behind it.
    index: usize,
    /// The bytes before it.
    bytes: f64,
}

/// What a byte takes before the first place, between all of them, and behind the last one: the median of the stretches there.
fn levels(stream: &[Stretch], places: &[Place]) -> Vec<f64> {
    let starts = std::iter::once(0).chain(places.iter().map(|place| place.index));
    let ends = places.iter().map(|place| place.index).chain([stream.len()]);
    let level = |(start, end)| {
        let part = stream.get(start..end).unwrap_or(&[]);
        let times: Vec<f64> = part.iter().map(|stretch| stretch.seconds_per_byte).collect();
        median(&times).unwrap_or(0.0)
    };
    starts.zip(ends).map(level).collect()
}

/// How many times as long the slower of two takes.
fn ratio(one: f64, other: f64) -> f64 {
    one.max(other) / one.min(other).max(f64::MIN_POSITIVE)
}

fn cut(stream: &[Stretch], from: Place, depth: u32, places: &mut Vec<Place>) {
    if stream.len() < STRETCHES_MIN || depth == 0 {
        return;
    }
    let Some(place) = change(stream).or_else(|| change_of_halves(stream)) else { return };
    let index = place.index.min(stream.len());
    let (first, rest) = stream.split_at(index);
    let before: f64 = first.iter().map(|stretch| stretch.bytes).sum();
    cut(first, from, depth - 1, places);
    places.push(Place { index: from.index + index, bytes: from.bytes + place.bytes });
    cut(rest, Place { index: from.index + index, bytes: from.bytes + before }, depth - 1, places);
}

/// The clearest place where it becomes slower, or faster: the same, read from its end.
fn change(stream: &[Stretch]) -> Option<Slowdown> {
    let is_clear =
        |place: &Slowdown| place.agreement >= AGREEMENT_MIN && place.slow >= place.fast * RATIO_MIN;
    let slower = Slowdown::of(stream).filter(is_clear);
    let backwards: Vec<Stretch> = stream.iter().rev().copied().collect();
    let faster = Slowdown::of(&backwards).filter(is_clear).map(|place| {
        let all: f64 = stream.iter().map(|stretch| stretch.bytes).sum();
        Slowdown { index: stream.len() - place.index, bytes: all - place.bytes, ..place }
    });
    match (slower, faster) {
        (Some(slower), Some(faster)) if faster.slow / faster.fast > slower.slow / slower.fast => Some(faster),
        (slower, faster) => slower.or(faster),
    }
}

/// A sag with the same level before and behind is no clear change of the whole, but of one half.
fn change_of_halves(stream: &[Stretch]) -> Option<Slowdown> {
    let (first, second) = stream.split_at(stream.len() / 2);
    let of = |half: &[Stretch]| if half.len() < STRETCHES_MIN { None } else { change(half) };
    let before: f64 = first.iter().map(|stretch| stretch.bytes).sum();
    let shifted = |place: Slowdown| Slowdown { index: place.index + first.len(), ..place.behind(before) };
    of(first).or_else(|| of(second).map(shifted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changes among stretches of one byte with these seconds, so many of each.
    fn found(levels: &[(usize, f64)]) -> Vec<Change> {
        let stretch = |seconds_per_byte| Stretch { bytes: 1.0, seconds_per_byte };
        let stream: Vec<Stretch> =
            levels.iter().flat_map(|(length, seconds)| vec![stretch(*seconds); *length]).collect();
        changes(&stream)
    }

    fn places(levels: &[(usize, f64)]) -> Vec<(u64, bool)> {
        let slower = |change: &Change| change.behind_bytes_per_s < change.before_bytes_per_s;
        found(levels).iter().map(|change| (change.written.get(), slower(change))).collect()
    }

    #[test]
    fn a_cache_a_sag_and_a_return_are_found_in_their_order() {
        let found = places(&[(60, 1.0), (80, 4.0), (80, 8.0), (80, 4.0)]);
        assert_eq!(found, [(60, true), (140, true), (220, false)]);
    }

    #[test]
    fn an_even_stream_has_none() {
        assert_eq!(places(&[(200, 1.0)]), []);
        assert_eq!(places(&[(100, 1.0), (100, 1.1)]), []);
    }

    #[test]
    fn each_change_begins_at_the_level_at_which_the_one_before_ends() {
        let found = found(&[(60, 1.0), (40, 1.5), (40, 2.2), (60, 5.0), (60, 20.0)]);
        let levels: Vec<[f64; 2]> = found
            .iter()
            .map(|change| [1.0 / change.before_bytes_per_s, 1.0 / change.behind_bytes_per_s])
            .collect();
        assert!(levels.len() >= 2, "{levels:?}");
        assert!(levels.windows(2).all(|pair| (pair[0][1] / pair[1][0] - 1.0).abs() < 1e-9), "{levels:?}");
        assert!(levels.iter().all(|[before, behind]| ratio(*before, *behind) >= RATIO_MIN), "{levels:?}");
    }
}
