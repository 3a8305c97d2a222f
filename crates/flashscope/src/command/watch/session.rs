//! What goes on while watching: looks at every disk, and what is said of those that went away.

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

/// Between two looks, glances come so often: enough to see a stall of half a second begin and end, too few to be noticed.
const GLANCES_APART: Duration = Duration::from_millis(100);

/// What goes on while watching.
pub struct Session {
    /// The disks that are still there.
    pub watched: Vec<Watched>,
    /// Raised by Ctrl-C.
    pub interrupt: Interrupt,
    sampler: Sampler,
    interval: Duration,
    look_due: Instant,
    glance_due: Instant,
    gone: Vec<String>,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// Every disk was looked at: an interval is over.
    Looked,
    /// Nobody wants to know any more.
    Ended,
}

impl Session {
    /// Begins to watch what was named. One look at whatever is there may find nothing that can be watched.
    ///
    /// # Errors
    /// Exit code 2 if there is nothing to watch, 3 if nothing of it can be.
    pub fn start(arguments: &Watch) -> Result<Self, Failure> {
        // The disks themselves are left alone: one that hangs would hang whoever reads it.
        let roots = Roots { devices: None, ..roots(&arguments.source)? };
        let disks = choice::disks(arguments.device.as_deref(), &roots)?;
        let interrupt = interrupt::on_interrupt()?;
        let sampler = Sampler::start(&roots);
        let (mut watched, mut gone) = (Vec::new(), Vec::new());
        for disk in disks {
            match Watched::start(disk, &sampler) {
                Ok(one) => watched.push(one),
                Err(lost) => gone.push(lost.to_string()),
            }
        }
        let interval = arguments.interval;
        let (look_due, glance_due) = (sampler.now() + interval, sampler.now() + GLANCES_APART);
        let mut session = Self { watched, interrupt, sampler, interval, look_due, glance_due, gone };
        let may_have_none = arguments.once && arguments.device.is_none();
        if !may_have_none {
            session.must_have_some()?;
        }
        Ok(session)
    }

    /// Until the next look or snapshot.
    pub fn time_left(&self) -> Duration {
        self.look_due.min(self.glance_due).since(self.sampler.now())
    }

    /// Takes the look or the snapshot that is due; true for a look.
    ///
    /// # Errors
    /// Exit code 3 if the last disk went away.
    pub fn go_on(&mut self) -> Result<bool, Failure> {
        let is_look = self.look_due <= self.sampler.now();
        if is_look {
            self.each(Watched::look)?;
            // After a pause of the machine, the looks that were missed are not made up for.
            self.look_due = self.sampler.now() + self.interval;
        } else {
            self.each(Watched::snapshot)?;
        }
        self.glance_due = self.sampler.now() + GLANCES_APART;
        Ok(is_look)
    }

    /// Waits until an interval is over.
    ///
    /// # Errors
    /// As [`Session::go_on`].
    pub fn wait(&mut self) -> Result<Waited, Failure> {
        while !self.interrupt.is_requested() {
            let left = self.time_left();
            if left.is_zero() {
                if self.go_on()? {
                    return Ok(Waited::Looked);
                }
            } else if wait_at_most(left, io::stdout()) == WakeReason::ReaderGone {
                return Ok(Waited::Ended);
            }
        }
        Ok(Waited::Ended)
    }

    /// What there is to say of disks that went away, once.
    pub fn take_gone(&mut self) -> Vec<String> {
        std::mem::take(&mut self.gone)
    }

    /// Looks at every disk. One that has gone is left out from then on.
    fn each(
        &mut self,
        look: impl Fn(&mut Watched, &Sampler) -> Result<(), WatchError>,
    ) -> Result<(), Failure> {
        let (sampler, gone) = (&self.sampler, &mut self.gone);
        self.watched.retain_mut(|one| {
            let looked = look(one, sampler);
            gone.extend(looked.as_ref().err().map(ToString::to_string));
            looked.is_ok()
        });
        self.must_have_some()
    }

    fn must_have_some(&mut self) -> Result<(), Failure> {
        if !self.watched.is_empty() {
            return Ok(());
        }
        let error = self.gone.pop().unwrap_or_default();
        Err(Failure { exit: Exit::Failed, error: anyhow!(error) })
    }
}
