//! The evidence in stored writes: the posterior is the same as during the measurement.

mod linear;
mod one_run;
mod over_data;
mod random;
mod replay;
mod sequence;
mod small_steps;
mod threshold;

pub use self::linear::{sequential_posterior, with_whole_requests};
pub use self::one_run::{may_take_one_run, takes_one_run};
pub use self::over_data::{is_no_log, is_slow_over_data, over_data_posterior};
pub use self::random::{found_with_freed_slots, posterior_with_freed_slots, random_posterior};
pub use self::sequence::{
    ROUND_ROBIN_UNITS, WriteSequence, baseline_classifier, hardly_copies_block, write_sequences,
};
pub use self::threshold::with_best_threshold;
