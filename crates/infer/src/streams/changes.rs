//! All change points of a long stream: each has a clear level on either side.
//!
//! Each is found like a single slowdown (`slowdown.rs`), first in the whole stream and then in the parts on
//! either side. This is binary segmentation (A. Scott and M. Knott, "A cluster analysis method for grouping
//! means", Biometrics 30, 1974).

use flashscope_device::Bytes;

use crate::statistics::{median, whole_bytes};
use crate::streams::slowdown::{Slowdown, Stretch};
use crate::thresholds::NEARLY_ALL;

/// Parts with fewer stretches are not cut further. Guess.
const STRETCHES_MIN: usize = 24;
/// The depth of cuts. Three give up to eight levels; no measured stream has more.
const DEPTH_MAX: u32 = 3;
/// Neighbouring levels differ at least by this factor. Guess.
const RATIO_MIN: f64 = 1.2;

/// A change point of the speed of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Bytes written before it.
    pub written: Bytes,
    /// The speed before, bytes per second.
    pub before_bytes_per_s: f64,
    /// The speed after it, bytes per second.
    pub after_bytes_per_s: f64,
}

/// The changes of a stream, in its order. Levels are those between neighbouring changes: a part may be cut
/// again later.
#[must_use]
pub fn changes(stream: &[Stretch]) -> Vec<Change> {
    let mut cuts = Vec::new();
    cut(stream, Cut { index: 0, bytes: 0.0 }, DEPTH_MAX, &mut cuts);
    let mut levels = levels(stream, &cuts);
    while let Some(alike) = levels.windows(2).position(|pair| ratio(pair[0], pair[1]) < RATIO_MIN) {
        cuts.remove(alike);
        levels = self::levels(stream, &cuts);
    }
    let change = |(cut_at, pair): (&Cut, &[f64])| Change {
        written: whole_bytes(cut_at.bytes),
        before_bytes_per_s: 1.0 / pair[0],
        after_bytes_per_s: 1.0 / pair[1],
    };
    cuts.iter().zip(levels.windows(2)).map(change).collect()
}

/// Where a stream is cut.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// The first stretch after it.
    index: usize,
    /// The bytes before it.
    bytes: f64,
}

/// The median time per byte before the first cut, between cuts, and after the last one.
fn levels(stream: &[Stretch], cuts: &[Cut]) -> Vec<f64> {
    let starts = std::iter::once(0).chain(cuts.iter().map(|cut_at| cut_at.index));
    let ends = cuts.iter().map(|cut_at| cut_at.index).chain([stream.len()]);
    let level = |(start, end)| {
        let part = stream.get(start..end).unwrap_or(&[]);
        let times: Vec<f64> = part.iter().map(|stretch| stretch.seconds_per_byte).collect();
        median(&times).unwrap_or(0.0)
    };
    starts.zip(ends).map(level).collect()
}

/// The ratio of the slower to the faster of two.
fn ratio(one: f64, other: f64) -> f64 {
    one.max(other) / one.min(other).max(f64::MIN_POSITIVE)
}

fn cut(stream: &[Stretch], from: Cut, depth: u32, cuts: &mut Vec<Cut>) {
    if stream.len() < STRETCHES_MIN || depth == 0 {
        return;
    }
    let Some(cut_at) = change(stream).or_else(|| change_of_halves(stream)) else { return };
    let index = cut_at.index.min(stream.len());
    let (first, rest) = stream.split_at(index);
    let before: f64 = first.iter().map(|stretch| stretch.bytes).sum();
    cut(first, from, depth - 1, cuts);
    cuts.push(Cut { index: from.index + index, bytes: from.bytes + cut_at.bytes });
    cut(rest, Cut { index: from.index + index, bytes: from.bytes + before }, depth - 1, cuts);
}

/// The clearest change to slower, or to faster: the same, read from the end.
fn change(stream: &[Stretch]) -> Option<Slowdown> {
    let is_clear =
        |cut_at: &Slowdown| cut_at.agreement >= NEARLY_ALL && cut_at.slow >= cut_at.fast * RATIO_MIN;
    let slower = Slowdown::of(stream).filter(is_clear);
    let backwards: Vec<Stretch> = stream.iter().rev().copied().collect();
    let faster = Slowdown::of(&backwards).filter(is_clear).map(|cut_at| {
        let all: f64 = stream.iter().map(|stretch| stretch.bytes).sum();
        Slowdown { index: stream.len() - cut_at.index, bytes: all - cut_at.bytes, ..cut_at }
    });
    match (slower, faster) {
        (Some(slower), Some(faster)) if faster.slow / faster.fast > slower.slow / slower.fast => Some(faster),
        (slower, faster) => slower.or(faster),
    }
}

/// A dip with the same level before and after is no clear change of the whole stream, but of one half.
fn change_of_halves(stream: &[Stretch]) -> Option<Slowdown> {
    let (first, second) = stream.split_at(stream.len() / 2);
    let of = |half: &[Stretch]| if half.len() < STRETCHES_MIN { None } else { change(half) };
    let before: f64 = first.iter().map(|stretch| stretch.bytes).sum();
    let shifted = |cut_at: Slowdown| Slowdown { index: cut_at.index + first.len(), ..cut_at.after(before) };
    of(first).or_else(|| of(second).map(shifted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changes among stretches of one byte: each level is a number of stretches and their seconds.
    fn found(levels: &[(usize, f64)]) -> Vec<Change> {
        let stretch = |seconds_per_byte| Stretch { bytes: 1.0, seconds_per_byte };
        let stream: Vec<Stretch> =
            levels.iter().flat_map(|(length, seconds)| vec![stretch(*seconds); *length]).collect();
        changes(&stream)
    }

    fn cuts(levels: &[(usize, f64)]) -> Vec<(u64, bool)> {
        let slower = |change: &Change| change.after_bytes_per_s < change.before_bytes_per_s;
        found(levels).iter().map(|change| (change.written.get(), slower(change))).collect()
    }

    #[test]
    fn a_cache_end_a_dip_and_a_return_are_found_in_order() {
        let found = cuts(&[(60, 1.0), (80, 4.0), (80, 8.0), (80, 4.0)]);
        assert_eq!(found, [(60, true), (140, true), (220, false)]);
    }

    #[test]
    fn an_even_stream_has_no_change() {
        assert_eq!(cuts(&[(200, 1.0)]), []);
        assert_eq!(cuts(&[(100, 1.0), (100, 1.1)]), []);
    }

    #[test]
    fn each_change_starts_at_the_level_where_the_previous_one_ends() {
        let found = found(&[(60, 1.0), (40, 1.5), (40, 2.2), (60, 5.0), (60, 20.0)]);
        let levels: Vec<[f64; 2]> = found
            .iter()
            .map(|change| [1.0 / change.before_bytes_per_s, 1.0 / change.after_bytes_per_s])
            .collect();
        assert!(levels.len() >= 2, "{levels:?}");
        assert!(levels.windows(2).all(|pair| (pair[0][1] / pair[1][0] - 1.0).abs() < 1e-9), "{levels:?}");
        assert!(levels.iter().all(|[before, after]| ratio(*before, *after) >= RATIO_MIN), "{levels:?}");
    }

    /// Each level is ten times as fast as the one before it, and the slowest is cut off first.
    #[test]
    fn a_stream_of_twelve_levels_is_cut_into_eight_at_most() {
        let levels: Vec<(usize, f64)> = (0..12).map(|level| (40, 10_f64.powi(12 - level))).collect();
        let found = found(&levels);
        assert!((1..=7).contains(&found.len()), "{found:?}");
    }

    /// The level is the same before and after the dip, so that no change of the whole stream is clear.
    #[test]
    fn a_dip_in_the_second_half_begins_and_ends_where_it_was_written() {
        assert_eq!(cuts(&[(120, 4.0), (50, 1.0), (70, 4.0)]), [(120, false), (170, true)]);
        assert_eq!(cuts(&[(150, 4.0), (60, 8.0), (90, 4.0)]), [(150, true), (210, false)]);
        let found = found(&[(150, 4.0), (60, 8.0), (90, 4.0)]);
        let levels =
            found.iter().map(|change| (1.0 / change.before_bytes_per_s, 1.0 / change.after_bytes_per_s));
        assert_eq!(levels.collect::<Vec<_>>(), [(4.0, 8.0), (8.0, 4.0)]);
    }
}
