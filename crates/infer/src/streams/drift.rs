//! Drift: whether a stream becomes faster or slower throughout, and where its steady part starts.
//!
//! After a cache or a log was filled, a controller empties it while new writes come. These are slow at first
//! and become faster. The parts of the stream then differ in one direction (H. Mann, "Nonparametric tests
//! against trend", Econometrica 13, 1945). The start is cut off by the marginal standard error rule (K.
//! White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997).

use std::cmp::Ordering;

use crate::streams::batch_means::{BATCHES, Mean, equal_parts};
use crate::streams::slowdown::Stretch;

/// The least surplus of pairs of parts in one direction, of the 66 pairs of twelve parts: fewer than one
/// random stream in 200 has it (Mann's test, two-sided).
const PAIRS_MIN: i32 = 42;
/// The least difference between the halves, as a share. Guess.
const HALVES_MIN: f64 = 0.02;
/// At least one in this many stretches is kept. Guess.
const KEPT: usize = 4;

/// The direction in which the speed of a stream drifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drift {
    /// It becomes faster.
    Faster,
    /// It becomes slower.
    Slower,
}

impl Drift {
    /// The drift of a stream; `None` if it is not significant, or small.
    pub fn of(stream: &[Stretch]) -> Option<Self> {
        Mean::of(stream).filter(|mean| mean.halves > HALVES_MIN)?;
        let parts = equal_parts(stream, BATCHES);
        let later = |index: usize| parts.iter().skip(index + 1);
        let pair =
            |one: &Stretch, other: &Stretch| match other.seconds_per_byte.total_cmp(&one.seconds_per_byte) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            };
        let pairs = parts.iter().enumerate();
        let score: i32 = pairs.flat_map(|(index, one)| later(index).map(move |other| pair(one, other))).sum();
        let direction = if score < 0 { Self::Faster } else { Self::Slower };
        (score.abs() >= PAIRS_MIN).then_some(direction)
    }
}

/// The first stretch of the steady part: the mean of the rest has the smallest standard error.
pub fn settled_from(stream: &[Stretch]) -> usize {
    let last = (stream.len() - stream.len() / KEPT).min(stream.len().saturating_sub(BATCHES));
    let (mut sum, mut squares, mut left) = (0.0, 0.0, 0.0);
    let errors = stream.iter().enumerate().rev().map(|(index, stretch)| {
        sum += stretch.seconds_per_byte;
        squares += stretch.seconds_per_byte.powi(2);
        left += 1.0;
        (index, (squares - sum * sum / left) / (left * left))
    });
    let errors = errors.filter(|(index, _)| *index <= last);
    errors.min_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::count;

    fn stream(of: impl Fn(usize) -> f64) -> Vec<Stretch> {
        (0..240).map(|index| Stretch { bytes: 2.0, seconds_per_byte: of(index) }).collect()
    }

    /// Noise from -0.5 to 0.5.
    fn noise(index: usize) -> f64 {
        count(index * 7919 % 241) / 240.0 - 0.5
    }

    #[test]
    fn a_stream_that_changes_in_one_direction_drifts_and_a_random_one_does_not() {
        assert_eq!(Drift::of(&stream(|index| 10.0 + noise(index))), None);
        assert_eq!(
            Drift::of(&stream(|index| 10.0 + count(index) / 100.0 + noise(index))),
            Some(Drift::Slower)
        );
        assert_eq!(
            Drift::of(&stream(|index| 10.0 - count(index) / 100.0 + noise(index))),
            Some(Drift::Faster)
        );
        assert_eq!(Drift::of(&stream(|index| 10.0 - count(index) / 2000.0)), None, "too little");
        let stalls = |index: usize| if index % 23 == 22 { 30.0 } else { 10.0 };
        assert_eq!(Drift::of(&stream(stalls)), None);
    }

    #[test]
    fn the_recovering_start_is_cut_off() {
        for until in [100, 170] {
            let recovering = |index: usize| 10.0 * (1.0 + 3.0 * (-count(index) * 5.0 / count(until)).exp());
            let stream = stream(|index| recovering(index) + noise(index));
            assert_eq!(Drift::of(&stream), Some(Drift::Faster));
            let from = settled_from(&stream);
            let mean = Mean::of(&stream[from..]).unwrap();
            assert!(
                (mean.seconds_per_byte / 10.0 - 1.0).abs() < 0.015,
                "until {until}: from {from}, {mean:?}"
            );
        }
        assert!(settled_from(&stream(|index| 500.0 - count(index))) <= 180, "a quarter is left");
        assert_eq!(settled_from(&stream(|_| 1.0)[..12]), 0);
    }
}
