//! The loop of `watch`: samples every disk, and reports disks that were unplugged.

use std::io;
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::Instant;
use flashscope_device::layer::Interrupt;
use flashscope_linux::activity::{Sampler, WatchError};
use flashscope_linux::{Roots, WakeReason, wait_at_most};

use super::{choice, watched::Watched};
use crate::args::Watch;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::roots::roots;

/// The time between two glances at the counters. Short enough to see both ends of a stall of half a second.
const GLANCE_INTERVAL: Duration = Duration::from_millis(100);

/// The state of `watch`.
pub struct Session {
    /// The disks that are still plugged in.
    pub watched: Vec<Watched>,
    /// Set by Ctrl-C.
    pub interrupt: Interrupt,
    sampler: Sampler,
    interval: Duration,
    sample_due: Instant,
    glance_due: Instant,
    /// Messages about disks that were unplugged, not yet printed.
    unplugged: Vec<String>,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// Every disk was sampled: an interval is over.
    Sampled,
    /// Ctrl-C, or the reader of standard output is gone.
    Ended,
}

impl Session {
    /// Starts watching. With `--once` and no device, it may be that no disk can be watched.
    ///
    /// # Errors
    /// Exit code 2 if there is no disk, 3 if none can be watched.
    pub fn start(arguments: &Watch) -> Result<Self, Failure> {
        // Never opens the disks: reading one that hangs would hang this program.
        let roots = Roots { devices: None, ..roots(&arguments.source)? };
        let disks = choice::disks(arguments.device.as_deref(), &roots)?;
        let interrupt = interrupt::on_interrupt()?;
        let sampler = Sampler::start(&roots);
        let (mut watched, mut unplugged) = (Vec::new(), Vec::new());
        for disk in disks {
            match Watched::start(disk, &sampler) {
                Ok(one) => watched.push(one),
                Err(lost) => unplugged.push(lost.to_string()),
            }
        }
        let interval = arguments.interval;
        let (sample_due, glance_due) = (sampler.now() + interval, sampler.now() + GLANCE_INTERVAL);
        let mut session = Self { watched, interrupt, sampler, interval, sample_due, glance_due, unplugged };
        let may_be_empty = arguments.once && arguments.device.is_none();
        if !may_be_empty {
            session.require_disks()?;
        }
        Ok(session)
    }

    /// The time until the next sample or snapshot.
    pub fn time_left(&self) -> Duration {
        self.sample_due.min(self.glance_due).since(self.sampler.now())
    }

    /// Takes the sample or snapshot that is due; true for a sample.
    ///
    /// # Errors
    /// Exit code 3 if the last disk was unplugged.
    pub fn advance(&mut self) -> Result<bool, Failure> {
        let is_sample = self.sample_due <= self.sampler.now();
        if is_sample {
            self.each(Watched::sample)?;
            // Samples that were missed while the machine slept are skipped.
            self.sample_due = self.sampler.now() + self.interval;
        } else {
            self.each(Watched::snapshot)?;
        }
        self.glance_due = self.sampler.now() + GLANCE_INTERVAL;
        Ok(is_sample)
    }

    /// Waits until an interval is over.
    ///
    /// # Errors
    /// As [`Session::advance`].
    pub fn wait(&mut self) -> Result<Waited, Failure> {
        while !self.interrupt.is_requested() {
            let left = self.time_left();
            if left.is_zero() {
                if self.advance()? {
                    return Ok(Waited::Sampled);
                }
            } else if wait_at_most(left, io::stdout()) == WakeReason::ReaderGone {
                return Ok(Waited::Ended);
            }
        }
        Ok(Waited::Ended)
    }

    /// Messages about disks that were unplugged since the last call.
    pub fn take_unplugged(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unplugged)
    }

    /// Whether a disk was unplugged since the last call of [`Session::take_unplugged`].
    pub const fn has_unplugged(&self) -> bool {
        !self.unplugged.is_empty()
    }

    /// Reads the counters of every disk. An unplugged disk is dropped.
    fn each(
        &mut self,
        read: impl Fn(&mut Watched, &Sampler) -> Result<(), WatchError>,
    ) -> Result<(), Failure> {
        let (sampler, unplugged) = (&self.sampler, &mut self.unplugged);
        self.watched.retain_mut(|one| {
            let result = read(one, sampler);
            unplugged.extend(result.as_ref().err().map(ToString::to_string));
            result.is_ok()
        });
        self.require_disks()
    }

    fn require_disks(&mut self) -> Result<(), Failure> {
        if !self.watched.is_empty() {
            return Ok(());
        }
        let error = self.unplugged.pop().unwrap_or_default();
        Err(Failure { exit: Exit::Failed, error: anyhow!(error) })
    }
}
