//! A probability distribution over the counts from 0 to a maximum, most of them negligible, that moves by one
//! step at a time.

use std::ops::RangeInclusive;

/// Counts below this probability are left out: several improbable writes in a row do not bring them back.
/// Guess.
const NEGLIGIBLE: f64 = 1e-15;

/// The probability of each count.
#[derive(Debug, Clone)]
pub(super) struct CountDistribution {
    weights: Vec<f64>,
    /// The range of counts that are not negligible.
    lowest: usize,
    highest: usize,
}

impl CountDistribution {
    /// This count with certainty, out of 0 to `largest`.
    pub(super) fn certain(count: usize, largest: usize) -> Self {
        let mut weights = vec![0.0; largest + 1];
        weights[count] = 1.0;
        Self { weights, lowest: count, highest: count }
    }

    pub(super) const fn largest(&self) -> usize {
        self.weights.len() - 1
    }

    /// The probability of this count.
    pub(super) fn of(&self, count: usize) -> f64 {
        self.weights[count]
    }

    /// The mean of a function of the count.
    pub(super) fn mean(&self, of: impl Fn(usize) -> f64) -> f64 {
        self.range().map(|count| self.weights[count] * of(count)).sum()
    }

    fn range(&self) -> RangeInclusive<usize> {
        self.lowest..=self.highest
    }

    /// Multiplies the probability of each count by its likelihood.
    pub(super) fn weigh(&mut self, likelihood: impl Fn(usize) -> f64) {
        let mut total = 0.0;
        for count in self.range() {
            self.weights[count] *= likelihood(count);
            total += self.weights[count];
        }
        if total > 0.0 {
            self.weights[self.lowest..=self.highest].iter_mut().for_each(|weight| *weight /= total);
        }
        self.narrow();
    }

    /// Moves this share of each probability to the next higher count; the largest count keeps its own.
    pub(super) fn rise(&mut self, share: impl Fn(usize) -> f64) {
        self.highest = (self.highest + 1).min(self.largest());
        for count in (self.lowest..self.highest).rev() {
            let moved = self.weights[count] * share(count).clamp(0.0, 1.0);
            self.weights[count] -= moved;
            self.weights[count + 1] += moved;
        }
        self.narrow();
    }

    /// Moves this share of each probability to the next lower count; 0 keeps its own.
    pub(super) fn fall(&mut self, share: impl Fn(usize) -> f64) {
        let start = self.lowest;
        self.lowest = start.saturating_sub(1);
        for count in start.max(1)..=self.highest {
            let moved = self.weights[count] * share(count).clamp(0.0, 1.0);
            self.weights[count] -= moved;
            self.weights[count - 1] += moved;
        }
        self.narrow();
    }

    /// Drops negligible counts at both ends.
    fn narrow(&mut self) {
        while self.lowest < self.highest && self.weights[self.lowest] < NEGLIGIBLE {
            self.weights[self.lowest] = 0.0;
            self.lowest += 1;
        }
        while self.lowest < self.highest && self.weights[self.highest] < NEGLIGIBLE {
            self.weights[self.highest] = 0.0;
            self.highest -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(distribution: &CountDistribution) -> Vec<f64> {
        (0..=distribution.largest()).map(|count| distribution.of(count)).collect()
    }

    #[test]
    fn shares_move_by_one_count_and_stay_at_the_ends() {
        let mut distribution = CountDistribution::certain(1, 3);
        distribution.rise(|_| 0.5);
        assert_eq!(all(&distribution), [0.0, 0.5, 0.5, 0.0]);
        distribution.rise(|count| if count == 2 { 1.0 } else { 0.5 });
        assert_eq!(all(&distribution), [0.0, 0.25, 0.25, 0.5]);
        distribution.rise(|_| 1.0);
        assert_eq!(all(&distribution), [0.0, 0.0, 0.25, 0.75]);
        (0..9).for_each(|_| distribution.fall(|_| 1.0));
        assert_eq!(all(&distribution), [1.0, 0.0, 0.0, 0.0]);
        let mut empty = CountDistribution::certain(0, 0);
        empty.rise(|_| 1.0);
        empty.fall(|_| 1.0);
        assert_eq!(all(&empty), [1.0]);
    }

    #[test]
    fn a_negligible_count_is_dropped_and_can_be_reached_again() {
        let mut distribution = CountDistribution::certain(2, 4);
        distribution.fall(|_| 0.5);
        distribution.weigh(|count| if count == 1 { 1e-20 } else { 1.0 });
        assert_eq!(all(&distribution), [0.0, 0.0, 1.0, 0.0, 0.0]);
        assert!((distribution.mean(|count| if count == 2 { 3.0 } else { f64::NAN }) - 3.0).abs() < 1e-9);
        distribution.fall(|_| 0.25);
        assert_eq!(all(&distribution), [0.0, 0.25, 0.75, 0.0, 0.0]);
    }
}
