//! What every experiment says of its own data, so that nobody else has to know all experiments.

use std::time::Duration;

use flashscope_device::Bytes;

use crate::finding_id::FindingId;
use crate::limits::Impossible;
use crate::observation::read_back::ReadBack;

/// The data of an experiment, as far as all experiments are alike.
pub trait ExperimentData {
    /// Checks every number against its limits.
    ///
    /// # Errors
    /// The first number outside its limits.
    fn check(&self) -> Result<(), Impossible>;

    /// The number of items recorded: samples, cells or rounds. Zero if nothing was measured.
    fn records(&self) -> usize;

    /// The findings that this data is evidence for.
    fn findings(&self) -> &'static [FindingId] {
        &[]
    }

    /// What was read back of the data that was written, all together.
    fn read_back(&self) -> ReadBack {
        ReadBack::default()
    }

    /// Whether this shows how fast a device is, and not how it is built.
    fn is_of_speed(&self) -> bool {
        false
    }

    /// Whether this comes from writes that show how a device is built.
    fn is_write_test(&self) -> bool {
        false
    }

    /// Whether random choices were made: then its seed repeats them.
    fn has_random_choices(&self) -> bool {
        true
    }

    /// The erase block that the experiment assumed, if it needed one.
    fn erase_block(&self) -> Option<Bytes> {
        None
    }

    /// The latency of every request that was timed individually.
    fn latencies(&self) -> Vec<Duration> {
        Vec::new()
    }

    /// The latencies of equal requests in the order in which they were made, seconds. Empty if a cache may
    /// make later ones slower.
    fn equal_latencies_s(&self) -> Vec<f64> {
        Vec::new()
    }

    /// The results of an experiment that has no finding: shown as they are in terminal, page and JSON.
    fn results(&self) -> Vec<NamedResult> {
        Vec::new()
    }
}

/// A result and its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamedResult {
    /// The name in JSON, without its unit, e.g. `discard_latency`.
    pub name: &'static str,
    /// The value.
    pub value: ResultValue,
}

impl NamedResult {
    /// A result of this name.
    #[must_use]
    pub const fn new(name: &'static str, value: ResultValue) -> Self {
        Self { name, value }
    }
}

/// The value of a result. JSON names end with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResultValue {
    /// Yes or no.
    Flag(bool),
    /// One of several words, e.g. `zeros`.
    Word(&'static str),
    /// A number of something.
    Count(u64),
    /// A size.
    Bytes(Bytes),
    /// A time in seconds.
    Seconds(f64),
    /// A ratio.
    Ratio(f64),
}
