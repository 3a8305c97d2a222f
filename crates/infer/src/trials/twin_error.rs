//! How far predictions on the twin of a stick are from the truth: the one table of these errors.
//!
//! Source: `cargo xtask validate whatif --count 22 --seed 3`: the 95 % quantiles of its 17 sticks with a
//! twin, rounded up. Those of gains of small writes are of `--count 60 --seed 11`, 36 sticks
//! (docs/methods/whatif.md).

use flashscope_record::{TrialOperation, TrialWorkload};

/// What the writes of a twin are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TwinModel {
    /// Whole pages and parts of pages: the measured writes fit an open-block stick.
    Pages,
    /// A time for each size: they do not fit pages, as with a write buffer or another translation layer.
    Sizes,
}

/// Half of 95 % intervals, as logarithms.
#[derive(Debug, Clone, Copy)]
struct Errors {
    /// Of a time.
    time: f64,
    /// Of a gain of 1.
    gain: f64,
    /// Added for each e-fold gain.
    by_gain: f64,
}

const fn errors(time: f64, gain: f64, by_gain: f64) -> Errors {
    Errors { time, gain, by_gain }
}

/// Half of the 95 % interval of a time, as a logarithm.
#[must_use]
pub const fn of_time(model: TwinModel, workload: TrialWorkload, operation: TrialOperation) -> f64 {
    table(model, workload, operation).time
}

/// Half of the 95 % interval of a gain of this ratio, as a logarithm.
#[must_use]
pub fn of_gain(model: TwinModel, workload: TrialWorkload, operation: TrialOperation, ratio: f64) -> f64 {
    let errors = table(model, workload, operation);
    errors.gain + errors.by_gain * ratio.ln().abs()
}

/// The table.
const fn table(model: TwinModel, workload: TrialWorkload, operation: TrialOperation) -> Errors {
    use TrialOperation::{Read, Write};
    use TrialWorkload::{Large, Like, Small, Tree};
    use TwinModel::{Pages, Sizes};
    match (model, workload, operation) {
        (Pages, Tree | Like, Write) => errors(1.3, 0.15, 0.9),
        (Pages, Large, Write) => errors(0.85, 0.1, 0.6),
        (Pages, Small, Write) => errors(1.6, 1.0, 0.05),
        (Sizes, Tree | Like, Write) => errors(1.5, 1.6, 0.4),
        (Sizes, Large, Write) => errors(0.75, 0.12, 1.0),
        (Sizes, Small, Write) => errors(1.45, 1.8, 0.4),
        (_, Tree | Like, Read) => errors(0.7, 0.1, 0.9),
        (_, Large, Read) => errors(1.4, 0.16, 0.75),
        (_, Small, Read) => errors(0.35, 0.16, 0.95),
    }
}
