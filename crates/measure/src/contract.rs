//! The contract of an experiment: it measures, reports events to an observer, and infers nothing.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_record::observation::Observations;

/// An experiment: measures a device and returns observations.
///
/// It never fails. A device that fails or vanishes, a spent budget and an interrupt end it early. The
/// observations then say so, and hold everything measured until then.
pub trait Experiment {
    /// Its name as typed on the command line, e.g. `align`.
    fn name(&self) -> &'static str;

    /// Its cost at most, for the confirmation, and what it is expected to take, for the progress bar.
    fn estimate(&self, device: &dyn Device) -> Estimate;

    /// Measures. All random choices come from the experiment's own seed.
    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations;
}

/// How long an experiment that measures a speed goes on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// For seconds: enough for the numbers of a check.
    Brief,
    /// Until the speed is known.
    #[default]
    Usual,
    /// Until it has met stalls, and the end of a cache, that come only every few gibibytes.
    Thorough,
}

impl Extent {
    /// Thorough, or as usual.
    #[must_use]
    pub const fn thorough_if(is_thorough: bool) -> Self {
        if is_thorough { Self::Thorough } else { Self::Usual }
    }

    /// Whether this is [`Extent::Thorough`].
    #[must_use]
    pub const fn is_thorough(self) -> bool {
        matches!(self, Self::Thorough)
    }
}

/// The cost of an experiment.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Requests at most.
    pub requests: u64,
    /// Bytes written at most; zero for a read-only experiment.
    pub bytes_written: Bytes,
    /// What it is expected to take, usually far less.
    pub expected: Expected,
}

/// What an experiment is expected to take. It may take longer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// All requests that its estimate allows, each as long as those so far.
    #[default]
    Most,
    /// A transfer at the speed of the device.
    Transfer {
        /// Bytes written.
        written: Bytes,
        /// Bytes read.
        read: Bytes,
        /// It ends after this time at the latest.
        time_max: Option<Duration>,
        /// Idle time after it.
        pauses: Duration,
    },
    /// A time that hardly depends on the device.
    Time {
        /// The usual time.
        most: Duration,
        /// A device that writes this much in less time is done by then.
        written: Option<Bytes>,
    },
}

impl Expected {
    /// The transfer of these bytes.
    #[must_use]
    pub const fn transfer(written: Bytes, read: Bytes) -> Self {
        Self::Transfer { written, read, time_max: None, pauses: Duration::ZERO }
    }

    /// This time on every device.
    #[must_use]
    pub const fn time(most: Duration) -> Self {
        Self::Time { most, written: None }
    }

    /// This time, or that of writing `written` on a faster device.
    #[must_use]
    pub const fn time_or_writing(most: Duration, written: Bytes) -> Self {
        Self::Time { most, written: Some(written) }
    }
}

/// An event while an experiment runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// An experiment begins.
    Begin {
        /// Its name.
        name: &'a str,
        /// Its cost.
        estimate: Estimate,
    },
    /// Requests were completed.
    Progress {
        /// Requests since [`Event::Begin`].
        requests: u64,
        /// Writes among them.
        writes: u64,
        /// Bytes written since then.
        bytes_written: Bytes,
        /// Bytes read since then.
        bytes_read: Bytes,
        /// The device time since then.
        device_time: Duration,
    },
    /// The rest of the experiment is now expected to take something else.
    Expect {
        /// The rest.
        expected: Expected,
    },
    /// Places read back wrong. They are about to be read a second time, so nothing above the device may
    /// answer from memory.
    SecondLook,
    /// A remark for the person.
    Remark {
        /// One sentence.
        text: &'a str,
    },
    /// The experiment ended.
    End,
}

/// Receives events, such as a progress bar.
pub trait Observer {
    /// Receives an event.
    fn event(&mut self, event: Event<'_>);
}

/// An observer that ignores everything.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: Event<'_>) {}
}
