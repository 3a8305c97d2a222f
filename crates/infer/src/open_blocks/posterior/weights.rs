//! Probabilities of numbers, eviction laws and error rates.

use super::{OPEN_MAX, Posterior, Verdict};
use crate::open_blocks::eviction::EvictionLaw;
use crate::open_blocks::hypothesis::{ERROR_RATES, Hypothesis};
use crate::statistics::count;

/// The probability outside the 95 % interval at either end.
const TAIL: f64 = 0.025;
/// The steps of expectation maximization: the share hardly moves after 20. Guess.
const MAXIMIZATION_STEPS: usize = 20;

impl Posterior {
    /// The probability of each number from 0 to [`OPEN_MAX`] + 1, which stands for more.
    #[must_use]
    pub fn numbers(&self) -> Vec<f64> {
        let mut sums = vec![0.0; OPEN_MAX as usize + 2];
        for (hypothesis, probability) in self.hypotheses.iter().zip(self.probabilities()) {
            sums[hypothesis.slots.count()] += probability.iter().sum::<f64>();
        }
        sums
    }

    fn probabilities(&self) -> impl Iterator<Item = [f64; ERROR_RATES.len()]> + use<> {
        let mut weights: Vec<_> = self.hypotheses.iter().map(Hypothesis::log_weights).collect();
        let best = weights.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().flatten().for_each(|weight| *weight = (*weight - best).exp());
        let total: f64 = weights.iter().flatten().sum();
        weights.into_iter().map(move |each| each.map(|weight| weight / total))
    }

    /// The most probable number with its 95 % interval.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let numbers = self.numbers();
        let mut below = 0.0;
        let (mut number, mut low, mut high) = (0, None, None);
        for (index, probability) in (0..).zip(&numbers) {
            below += probability;
            if *probability > numbers[number as usize] {
                number = index;
            }
            if below > TAIL {
                low = low.or(Some(index));
            }
            if below >= 1.0 - TAIL {
                high = high.or(Some(index));
            }
        }
        let (low, high) = (low.unwrap_or(number).min(number), high.unwrap_or(OPEN_MAX + 1).max(number));
        Verdict { number, probability: numbers[number as usize], low, high }
    }

    /// The probability of an eviction law, whatever the number.
    #[must_use]
    pub fn eviction_probability(&self, law: EvictionLaw) -> f64 {
        let of_law =
            self.hypotheses.iter().zip(self.probabilities()).filter(|(each, _)| each.slots.law() == law);
        of_law.map(|(_, probability)| probability.iter().sum::<f64>()).sum()
    }

    /// The expected share of writes that are slow without a merge.
    #[must_use]
    pub fn stall_share(&self) -> f64 {
        let stalls = |probability: [f64; ERROR_RATES.len()]| {
            probability.iter().zip(ERROR_RATES).map(|(weight, rates)| weight * rates.stalls).sum::<f64>()
        };
        self.probabilities().map(stalls).sum()
    }

    /// The ratio of posterior to prior probability that a large share of merges is hidden.
    pub(in crate::open_blocks) fn hidden_merges_ratio(&self) -> f64 {
        self.hides_merges_probability() / with_hidden_merges(ERROR_RATES.map(|rates| rates.prior))
    }

    fn hides_merges_probability(&self) -> f64 {
        self.probabilities().map(with_hidden_merges).sum()
    }

    /// Whether a large share of merges is hidden.
    #[must_use]
    pub fn hides_merges(&self) -> bool {
        self.hides_merges_probability() > 0.5
    }

    /// The log Bayes factor, nats: how much better the hypotheses predict which writes were slow than a
    /// constant probability of being slow.
    pub(in crate::open_blocks) fn log_bayes_factor(&self) -> f64 {
        let all: Vec<f64> = self.hypotheses.iter().flat_map(Hypothesis::log_weights).collect();
        let best = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let evidence = best + all.iter().map(|weight| (weight - best).exp()).sum::<f64>().ln();
        evidence - constant_log_likelihood(&self.slow_probabilities)
    }

    /// The share of writes that were slow.
    pub(in crate::open_blocks) fn slow_share(&self) -> f64 {
        self.slow_probabilities.iter().sum::<f64>() / count(self.writes().max(1))
    }

    /// The share of writes whose latency is close to the threshold.
    pub(in crate::open_blocks) fn undecided_share(&self) -> f64 {
        let undecided: f64 = self.slow_probabilities.iter().map(|slow| 4.0 * slow * (1.0 - slow)).sum();
        undecided / count(self.writes().max(1))
    }

    /// The number of writes so far.
    #[must_use]
    pub const fn writes(&self) -> usize {
        self.slow_probabilities.len()
    }
}

/// The sum of the weights for error rates with a large share of hidden merges.
fn with_hidden_merges(weights: [f64; ERROR_RATES.len()]) -> f64 {
    weights.iter().zip(ERROR_RATES).filter(|(_, rates)| rates.hides_merges()).map(|(weight, _)| weight).sum()
}

/// The log likelihood if every write is slow with the same probability, the most likely one, nats. The
/// probability is found by expectation maximization (A. Dempster, N. Laird and D. Rubin, Journal of the Royal
/// Statistical Society B 39, 1977).
fn constant_log_likelihood(slow_probabilities: &[f64]) -> f64 {
    let mut share = 0.5;
    for _ in 0..MAXIMIZATION_STEPS {
        let slow = |write: &f64| share * write / (share * write + (1.0 - share) * (1.0 - write));
        share = slow_probabilities.iter().map(slow).sum::<f64>() / count(slow_probabilities.len().max(1));
    }
    slow_probabilities.iter().map(|write| (share * write + (1.0 - share) * (1.0 - write)).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_probability_of_being_slow_is_the_share_of_slow_writes() {
        let is = |slow: &[f64], likelihood: f64| {
            let seen = constant_log_likelihood(slow);
            assert!((seen - likelihood).abs() < 1e-9, "{slow:?}: {seen} instead of {likelihood}");
        };
        is(&[1.0, 0.0, 0.0, 0.0], 0.25_f64.ln() + 3.0 * 0.75_f64.ln());
        is(&[1.0; 3], 0.0);
        is(&[0.9, 0.9, 0.1, 0.1], 4.0 * 0.5_f64.ln());
    }
}
