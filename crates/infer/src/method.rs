//! Parts of the method that can be left out, to measure the worth of each: the ablations of
//! docs/statistics.md.

use crate::sizes::FACTORS;

/// Which parts of the method are used. All of them, by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// Measure what is most informative until it is decided; otherwise everything a fixed number of times.
    pub sequential: bool,
    /// Use priors; otherwise every hypothesis has the same weight.
    pub priors: bool,
    /// Search for 3, 5 and 7 times 2^n as well; otherwise for powers of two only.
    pub odd_factors: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self { sequential: true, priors: true, odd_factors: true }
    }
}

impl Method {
    /// The odd factors of the sizes that are searched for.
    #[must_use]
    pub const fn factors(self) -> &'static [u64] {
        if self.odd_factors { FACTORS } else { &[1] }
    }

    /// This prior weight, or the same for all.
    #[must_use]
    pub const fn prior(self, weight: f64) -> f64 {
        if self.priors { weight } else { 1.0 }
    }
}
