//! How sure a finding is.

/// How sure a finding is: the probability that the truth lies in its interval, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// This probability, rounded to thousandths and clamped to 0..=0.999: a measurement is never certain.
    #[must_use]
    pub const fn new(probability: f64) -> Self {
        let clamped = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 0.999) };
        Self((clamped * 1000.0).round() / 1000.0)
    }

    /// The probability.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}
