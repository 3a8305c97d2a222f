//! The contract of an experiment: it measures, reports events to an observer, and judges nothing.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_record::observation::Observations;

/// An experiment: measures a device and returns what it saw.
///
/// It never fails: a device that errs or vanishes, a spent budget and an interrupt end it early, which its observations
/// say, with everything seen until then.
pub trait Experiment {
    /// Its name as typed on the command line, e.g. `align`.
    fn name(&self) -> &'static str;

    /// What it will cost at most, for the confirmation and the progress bar.
    fn estimate(&self, device: &dyn Device) -> Estimate;

    /// Measures. All choices of order come from the experiment's own seed.
    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations;
}

/// What an experiment will cost at most.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Requests.
    pub requests: u64,
    /// Bytes that will be written; zero for a read-only experiment.
    pub bytes_written: Bytes,
}

/// What happens while an experiment runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// An experiment begins.
    Begin {
        /// Its name.
        name: &'a str,
        /// What it will cost at most.
        estimate: Estimate,
    },
    /// Requests were completed.
    Progress {
        /// How many since [`Event::Begin`].
        requests: u64,
        /// How many of them were writes.
        writes: u64,
        /// Device time since then.
        device_time: Duration,
    },
    /// Something the person should know.
    Remark {
        /// One sentence.
        text: &'a str,
    },
    /// The experiment ended.
    End,
}

/// Receives events: a progress bar, a recorder, nothing.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: Event<'_>);
}

/// An observer that ignores everything.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: Event<'_>) {}
}
