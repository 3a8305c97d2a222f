//! The prior over the number of open units.

use crate::open_blocks::eviction::EvictionLaw;
use crate::open_blocks::limits::OPEN_MAX;
use crate::thresholds::UNUSUAL;

/// The prior probability of LRU eviction in sequential order. Guess: random eviction is the rarer law.
const LRU: f64 = 0.7;
/// The probability that a result in sequential order does not hold in random order: the least and, below 1,
/// the most that a posterior counts there. Guess.
pub(super) const DIFFERS_BY_ORDER: f64 = 0.02;
/// The prior weight of more than [`OPEN_MAX`] units. Guess: with half of it, two of 193 counts of the zoo
/// (seed 9301) were wrong or unknown.
const MORE_THAN_MAX: f64 = 0.04;
/// The weight that the numbers below the sequential one share evenly in random order, so that none is
/// excluded. Guess.
const FEWER_THAN_SEQUENTIAL: f64 = 0.1;
/// The weight of no open unit in random order. Guess.
const NONE_IN_RANDOM_ORDER: f64 = 0.4;
/// The weight of the sequential number in random order. Guess.
const SAME_AS_SEQUENTIAL: f64 = 0.5;
/// The factor on powers of two, which are common in controllers. Guess.
const POWER_OF_TWO: f64 = 2.0;
/// The weight of K falls with (K + 2) to minus this power. Guess: most cards have one to eight open units (A.
/// Bergmann, LWN 428584).
const FALL: f64 = 1.5;

/// The probability of each number before the first write, up to a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// In sequential order at least one unit is open.
    Linear,
    /// In random order there are as many as in sequential order, fewer, or none.
    Random {
        /// The number in sequential order, if it was found.
        linear: Option<u32>,
        /// The probability of LRU eviction after the sequential search.
        lru: f64,
        /// The ratio of posterior to prior probability that a large share of merges is hidden.
        hidden_ratio: f64,
    },
}

impl Prior {
    /// The prior probability of LRU eviction: a controller follows one law in both orders.
    pub(super) const fn lru(self) -> f64 {
        match self {
            Self::Linear => LRU,
            Self::Random { lru, .. } => lru,
        }
    }

    /// The number found in sequential order; more are improbable in random order.
    pub(super) const fn sequential_count(self) -> Option<u32> {
        match self {
            Self::Linear => None,
            Self::Random { linear, .. } => linear,
        }
    }

    /// The factor on hypotheses with a large share of hidden merges: both orders hide the same merges. Under
    /// random eviction, fewer units with hidden merges look like more units.
    pub(super) const fn hidden_ratio(self, law: EvictionLaw) -> f64 {
        match (self, law) {
            (Self::Linear, _) => 1.0,
            (Self::Random { hidden_ratio, .. }, EvictionLaw::Random) if hidden_ratio <= DIFFERS_BY_ORDER => {
                0.0
            }
            (Self::Random { hidden_ratio, .. }, _) => hidden_ratio,
        }
    }

    /// The prior weight of this number.
    pub(super) fn weight(self, number: u32) -> f64 {
        let powers = if number.is_power_of_two() { POWER_OF_TWO } else { 1.0 };
        let falling = powers / f64::from(number + 2).powf(FALL);
        match (self, number) {
            (Self::Random { linear: Some(_), .. }, number) if number > OPEN_MAX => MORE_THAN_MAX * UNUSUAL,
            (_, number) if number > OPEN_MAX => MORE_THAN_MAX,
            (Self::Linear, 0) => 0.0,
            (Self::Linear, _) => falling,
            (Self::Random { .. }, 0) => NONE_IN_RANDOM_ORDER,
            (Self::Random { linear: Some(linear), .. }, number) if number == linear => {
                SAME_AS_SEQUENTIAL + falling
            }
            (Self::Random { linear: Some(linear), .. }, number) if number > linear => falling * UNUSUAL,
            (Self::Random { linear: Some(linear), .. }, _) => {
                falling + FEWER_THAN_SEQUENTIAL / f64::from(linear)
            }
            _ => falling,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(linear: Option<u32>, number: u32) -> f64 {
        Prior::Random { linear, lru: 0.5, hidden_ratio: 1.0 }.weight(number)
    }

    #[test]
    fn the_weight_falls_up_to_the_largest_number_and_more_have_their_own() {
        let of = |number| Prior::Linear.weight(number);
        let fall = of(OPEN_MAX) / of(OPEN_MAX / 2);
        let half = f64::from(OPEN_MAX / 2 + 2) / f64::from(OPEN_MAX + 2);
        assert!((fall - half.powf(FALL)).abs() < 1e-9, "{fall}");
        assert!((of(OPEN_MAX + 1) - MORE_THAN_MAX).abs() < 1e-9);
        assert!(of(0) <= 0.0 && of(7) < of(8), "a power of two");
        assert!([1, 8, 100, OPEN_MAX, OPEN_MAX + 1].iter().all(|each| random(None, *each) == of(*each)));
    }

    #[test]
    fn in_random_order_the_sequential_number_has_half_of_the_weight_besides_its_own() {
        for linear in [1, 8, OPEN_MAX] {
            let of = |number| random(Some(linear), number);
            let is = |number: u32, weight: f64| {
                assert!((of(number) - weight).abs() < 1e-9, "{number} of {linear}: {}", of(number));
            };
            is(linear, 0.5 + Prior::Linear.weight(linear));
            is(0, NONE_IN_RANDOM_ORDER);
            is(OPEN_MAX + 1, MORE_THAN_MAX * UNUSUAL);
            if linear > 1 {
                is(linear - 1, Prior::Linear.weight(linear - 1) + 0.1 / f64::from(linear));
            }
            if linear < OPEN_MAX {
                is(linear + 1, Prior::Linear.weight(linear + 1) * UNUSUAL);
            }
        }
    }
}
