//! The controller: what a command costs behind the link, and what it changes inside.

use flashscope_device::{ByteRange, FailureCause, Op, RequestError};

use crate::area_states::{Area, AreaStates};
use crate::chance::Chance;
use crate::conditions::{Conditions, Ground};
use crate::ftl::{Ftl, Inconsistency};
use crate::profile::Profile;
use crate::reads::Reads;
use crate::statistics::Statistics;
use crate::writes::Writes;

/// One command's bytes, and what their way over the link takes; the controller overlaps its own work with it where it can.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    /// The device time at which it reaches the controller, before its data.
    pub(crate) at_ns: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) transfer_ns: u64,
}

/// Everything of a stick between the link and its contents.
#[derive(Debug, Clone)]
pub(crate) struct Controller {
    reads: Reads,
    writes: Writes,
    ftl: Ftl,
    areas: Option<AreaStates>,
    conditions: Option<Box<Conditions>>,
    page_programs: u64,
}

impl Controller {
    pub(crate) fn new(profile: &Profile, seed: u64) -> Self {
        Self {
            reads: Reads::new(profile),
            writes: Writes::new(profile),
            ftl: Ftl::new(profile, Chance::new(seed, 1)),
            areas: AreaStates::new(profile),
            conditions: Conditions::new(profile, Chance::new(seed, 3)),
            page_programs: 0,
        }
    }

    /// The time of a read command, its transfer included.
    pub(crate) fn read_ns(&mut self, command: Command) -> u64 {
        self.rest_until(command.at_ns);
        let ideal_ns = self.reads.command_ns(command, self.area(command.start));
        let Some(conditions) = &mut self.conditions else { return ideal_ns };
        conditions.read_ns(command, ideal_ns)
    }

    /// The time of a write command, its transfer included.
    pub(crate) fn write_ns(&mut self, command: Command) -> u64 {
        self.rest_until(command.at_ns);
        self.reads.forget(command.start, command.end);
        let write = self.writes.command(command, &mut self.ftl);
        self.page_programs += write.pages;
        let ground = self.conditions.is_some().then(|| self.ground(command.start));
        if let Some(areas) = &mut self.areas {
            areas.write(command.start, command.end);
        }
        let (Some(conditions), Some(ground)) = (&mut self.conditions, ground) else {
            return write.time_ns();
        };
        conditions.write_ns(command, write, ground)
    }

    /// What a flush waits for, beside its command.
    pub(crate) fn flush_ns(&mut self, at_ns: u64) -> u64 {
        self.rest_until(at_ns);
        self.writes.flush();
        let copying_ns = self.ftl.flush();
        let Some(conditions) = &mut self.conditions else { return copying_ns };
        conditions.flush_ns(at_ns) + copying_ns
    }

    /// Nothing from `start` to `end` is wanted any more. Takes no time beside the command.
    pub(crate) fn discard(&mut self, start: u64, end: u64) {
        self.reads.forget(start, end);
        self.ftl.discard(start, end);
        if let Some(areas) = &mut self.areas {
            areas.discard(start, end);
        }
    }

    /// Nothing is asked for until this instant of device time.
    pub(crate) fn rest_until(&mut self, at_ns: u64) {
        if let Some(conditions) = &mut self.conditions {
            conditions.rest_until(at_ns, &mut self.ftl);
        }
    }

    /// Checks that the books of the translation layer agree, and that it holds every page that is not blank.
    pub(crate) fn audit(
        &self,
        profile: &Profile,
        is_blank: impl Fn(ByteRange) -> bool,
    ) -> Result<(), Inconsistency> {
        self.ftl.audit()?;
        self.ftl.audit_contents(profile, is_blank)
    }

    /// Whether the medium could do what was asked for.
    pub(crate) fn outcome(&self, op: &Op) -> Result<(), RequestError> {
        match &self.conditions {
            Some(conditions) if conditions.fails(op) => {
                Err(RequestError::new(op.kind(), op.range(), FailureCause::Medium))
            }
            _ => Ok(()),
        }
    }

    fn area(&self, start: u64) -> Area {
        self.areas.as_ref().map_or(Area::Written, |areas| areas.at(start))
    }

    fn ground(&self, start: u64) -> Ground {
        Ground {
            empty: self.area(start) != Area::Written,
            free_bytes: self.areas.as_ref().map_or(0, AreaStates::free_bytes),
            erases: self.ftl.counts().erases,
        }
    }

    /// Adds what happened inside to what the stick counts itself.
    pub(crate) fn count(&self, statistics: Statistics, profile: &Profile) -> Statistics {
        let counts = self.ftl.counts();
        let mut statistics = Statistics {
            page_programs: self.page_programs + counts.pages_copied,
            pages_copied: counts.pages_copied,
            merges: counts.merges,
            erases: counts.erases,
            ..statistics
        };
        if let Some(conditions) = &self.conditions {
            conditions.count(&mut statistics);
        }
        statistics.bytes_programmed = profile.ftl.page * statistics.page_programs;
        statistics
    }
}
