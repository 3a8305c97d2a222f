//! Where a long stream changes its speed: every place with a clear level on either side, not only the first.
//!
//! Each place is found as a single slow-down is (`slowdown.rs`), in the whole stream first and then in the parts on either
//! side: binary segmentation (A. Scott and M. Knott, "A cluster analysis method for grouping means", Biometrics 30, 1974).

use flashscope_device::Bytes;

use super::slowdown::{Slowdown, Stretch};
use super::statistics::whole_bytes;

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

/// The changes of a stream, in its order.
#[must_use]
pub fn changes(stream: &[Stretch]) -> Vec<Change> {
    let mut found = Vec::new();
    cut(stream, 0.0, DEPTH_MAX, &mut found);
    found
}

fn cut(stream: &[Stretch], before: f64, depth: u32, found: &mut Vec<Change>) {
    if stream.len() < STRETCHES_MIN || depth == 0 {
        return;
    }
    let Some((place, is_slower)) = change(stream).or_else(|| change_of_halves(stream)) else { return };
    let bytes = |part: &[Stretch]| part.iter().map(|stretch| stretch.bytes).sum::<f64>();
    let (first, rest) = stream.split_at(place.index.min(stream.len()));
    cut(first, before, depth - 1, found);
    let (fast, slow) = (1.0 / place.fast, 1.0 / place.slow);
    let (before_bytes_per_s, behind_bytes_per_s) = if is_slower { (fast, slow) } else { (slow, fast) };
    found.push(Change { written: whole_bytes(before + place.bytes), before_bytes_per_s, behind_bytes_per_s });
    cut(rest, before + bytes(first), depth - 1, found);
}

/// The clearest place where it becomes slower, or faster: the same, read from its end.
fn change(stream: &[Stretch]) -> Option<(Slowdown, bool)> {
    let is_clear =
        |place: &Slowdown| place.agreement >= AGREEMENT_MIN && place.slow >= place.fast * RATIO_MIN;
    let slower = Slowdown::of(stream).filter(is_clear);
    let backwards: Vec<Stretch> = stream.iter().rev().copied().collect();
    let faster = Slowdown::of(&backwards).filter(is_clear).map(|place| {
        let all: f64 = stream.iter().map(|stretch| stretch.bytes).sum();
        Slowdown { index: stream.len() - place.index, bytes: all - place.bytes, ..place }
    });
    match (slower, faster) {
        (Some(slower), Some(faster)) if faster.slow / faster.fast > slower.slow / slower.fast => {
            Some((faster, false))
        }
        (Some(slower), _) => Some((slower, true)),
        (None, Some(faster)) => Some((faster, false)),
        (None, None) => None,
    }
}

/// A sag with the same level before and behind is no clear change of the whole, but of one half.
fn change_of_halves(stream: &[Stretch]) -> Option<(Slowdown, bool)> {
    let (first, second) = stream.split_at(stream.len() / 2);
    let of = |half: &[Stretch]| if half.len() < STRETCHES_MIN { None } else { change(half) };
    let before: f64 = first.iter().map(|stretch| stretch.bytes).sum();
    let shifted = |(place, is_slower): (Slowdown, bool)| {
        (Slowdown { index: place.index + first.len(), ..place.behind(before) }, is_slower)
    };
    of(first).or_else(|| of(second).map(shifted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stretches of one byte with these seconds, so many of each.
    fn places(levels: &[(usize, f64)]) -> Vec<(u64, bool)> {
        let stretch = |seconds_per_byte| Stretch { bytes: 1.0, seconds_per_byte };
        let stream: Vec<Stretch> =
            levels.iter().flat_map(|(length, seconds)| vec![stretch(*seconds); *length]).collect();
        let slower = |change: &Change| change.behind_bytes_per_s < change.before_bytes_per_s;
        changes(&stream).iter().map(|change| (change.written.get(), slower(change))).collect()
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
}
