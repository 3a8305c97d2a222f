//! The effects of a factorial experiment.

use crate::statistics::student_quantile;
use crate::thresholds::COVERED;

/// A change of one factor from its first level to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The factor, an index.
    pub factor: usize,
    /// The other level, an index.
    pub to: usize,
}

/// What an effect compares. All changes start from the first levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectKind {
    /// One change, averaged over all settings of the other factors at which it can be made.
    Main(Change),
    /// One change while another factor stays at its first level.
    Alone {
        /// The change.
        change: Change,
        /// The change that is not made.
        without: Change,
    },
    /// Two changes at once.
    Both(Change, Change),
    /// How many times as much the first change gains after the second: 1 if they are independent.
    Interaction(Change, Change),
}

/// The levels at which another factor was held: all of them, or those at which the effect can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The factor, an index.
    pub factor: usize,
    /// Its levels, ascending; the effect is the mean over them.
    pub levels: Vec<usize>,
}

/// An effect and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// What it compares.
    pub kind: EffectKind,
    /// The levels of the factors that it does not change.
    pub held: Vec<Held>,
    /// The ratio of times, or why it is unknown.
    pub outcome: Result<Ratio, UnknownEffect>,
}

/// How many times as fast a change makes the workload, with the 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The time before over the time after: above 1 is faster.
    pub ratio: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The degrees of freedom of the spread in the interval.
    pub freedom: f64,
}

/// Why an effect is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownEffect {
    /// Cells are missing: nothing differs by this change alone.
    NoCells,
    /// No round, and no chain of rounds, has all cells that it compares.
    NotConnected,
    /// There are too few rounds to know the spread.
    NoSpread,
}

/// What an interval shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// All of it is above 1.
    Faster,
    /// All of it is below 1.
    Slower,
    /// It includes 1.
    NotShown,
}

impl Ratio {
    /// What the interval shows.
    #[must_use]
    pub fn direction(&self) -> Direction {
        match (self.low > 1.0, self.high < 1.0) {
            (true, _) => Direction::Faster,
            (_, true) => Direction::Slower,
            _ => Direction::NotShown,
        }
    }
}

impl Effect {
    /// What the interval shows; `None` if the effect is unknown.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        self.outcome.as_ref().ok().map(Ratio::direction)
    }
}

/// An estimated contrast of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub value: f64,
    pub standard_error: f64,
    pub freedom: f64,
}

impl Estimate {
    /// The ratio with its interval. The error of the recordings is independent of the spread between rounds,
    /// so the two add in quadrature; an interaction is a ratio of two ratios, and has the error of both.
    pub fn with_error(self, kind: &EffectKind, error: f64) -> Ratio {
        let ratios: f64 = if matches!(kind, EffectKind::Interaction(..)) { 2.0 } else { 1.0 };
        let spread = student_quantile(self.freedom, f64::midpoint(1.0, COVERED)) * self.standard_error;
        let half = spread.hypot(error.ln_1p() * ratios.sqrt());
        let [ratio, low, high] = [self.value, self.value - half, self.value + half].map(f64::exp);
        Ratio { ratio, low, high, freedom: self.freedom }
    }
}
