//! A probability over the numbers from nothing to a largest one, most of them next to impossible, that moves by one at a time.

use std::ops::RangeInclusive;

/// What is less likely than this is left out: several surprises in a row do not bring it back.
const NEGLIGIBLE: f64 = 1e-15;

/// How likely each number is.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    weights: Vec<f64>,
    /// All numbers that are not next to impossible lie here.
    lowest: usize,
    highest: usize,
}

impl Spread {
    /// This number for sure, of those up to the largest.
    pub(super) fn certain(number: usize, largest: usize) -> Self {
        let mut weights = vec![0.0; largest + 1];
        weights[number] = 1.0;
        Self { weights, lowest: number, highest: number }
    }

    pub(super) const fn largest(&self) -> usize {
        self.weights.len() - 1
    }

    /// How likely it is this number.
    pub(super) fn of(&self, number: usize) -> f64 {
        self.weights[number]
    }

    /// What this comes to on the average.
    pub(super) fn mean(&self, of: impl Fn(usize) -> f64) -> f64 {
        self.likely().map(|number| self.weights[number] * of(number)).sum()
    }

    fn likely(&self) -> RangeInclusive<usize> {
        self.lowest..=self.highest
    }

    /// Multiplies the probability of each number by this likelihood.
    pub(super) fn weigh(&mut self, likelihood: impl Fn(usize) -> f64) {
        let mut total = 0.0;
        for number in self.likely() {
            self.weights[number] *= likelihood(number);
            total += self.weights[number];
        }
        if total > 0.0 {
            self.weights[self.lowest..=self.highest].iter_mut().for_each(|weight| *weight /= total);
        }
        self.narrow();
    }

    /// This part of each probability becomes that of one more; the largest number stays.
    pub(super) fn rise(&mut self, part: impl Fn(usize) -> f64) {
        self.highest = (self.highest + 1).min(self.largest());
        for number in (self.lowest..self.highest).rev() {
            let goes = self.weights[number] * part(number).clamp(0.0, 1.0);
            self.weights[number] -= goes;
            self.weights[number + 1] += goes;
        }
        self.narrow();
    }

    /// This part of each probability becomes that of one less; nothing stays.
    pub(super) fn fall(&mut self, part: impl Fn(usize) -> f64) {
        let start = self.lowest;
        self.lowest = start.saturating_sub(1);
        for number in start.max(1)..=self.highest {
            let goes = self.weights[number] * part(number).clamp(0.0, 1.0);
            self.weights[number] -= goes;
            self.weights[number - 1] += goes;
        }
        self.narrow();
    }

    /// Leaves out at both ends what has become next to impossible.
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

    fn all(spread: &Spread) -> Vec<f64> {
        (0..=spread.largest()).map(|number| spread.of(number)).collect()
    }

    #[test]
    fn parts_move_by_one_and_stay_at_the_ends() {
        let mut spread = Spread::certain(1, 3);
        spread.rise(|_| 0.5);
        assert_eq!(all(&spread), [0.0, 0.5, 0.5, 0.0]);
        spread.rise(|number| if number == 2 { 1.0 } else { 0.5 });
        assert_eq!(all(&spread), [0.0, 0.25, 0.25, 0.5]);
        spread.rise(|_| 1.0);
        assert_eq!(all(&spread), [0.0, 0.0, 0.25, 0.75]);
        (0..9).for_each(|_| spread.fall(|_| 1.0));
        assert_eq!(all(&spread), [1.0, 0.0, 0.0, 0.0]);
        let mut nothing = Spread::certain(0, 0);
        nothing.rise(|_| 1.0);
        nothing.fall(|_| 1.0);
        assert_eq!(all(&nothing), [1.0]);
    }

    #[test]
    fn what_is_next_to_impossible_is_left_out_and_can_be_reached_again() {
        let mut spread = Spread::certain(2, 4);
        spread.fall(|_| 0.5);
        spread.weigh(|number| if number == 1 { 1e-20 } else { 1.0 });
        assert_eq!(all(&spread), [0.0, 0.0, 1.0, 0.0, 0.0]);
        assert!((spread.mean(|number| if number == 2 { 3.0 } else { f64::NAN }) - 3.0).abs() < 1e-9);
        spread.fall(|_| 0.25);
        assert_eq!(all(&spread), [0.0, 0.25, 0.75, 0.0, 0.0]);
    }
}
