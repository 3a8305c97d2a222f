//! The controller: the time of a command behind the link, and its effect on the state inside.

use flashscope_device::{ByteRange, FailureCause, Op, RequestError};

use crate::area_states::{Area, AreaStates};
use crate::command::Command;
use crate::conditions::{Conditions, WriteTarget};
use crate::ftl::{Inconsistency, TranslationLayer, audit_contents, translation_layer};
use crate::profile::Profile;
use crate::reads::Reads;
use crate::rng::StreamRng;
use crate::statistics::Statistics;
use crate::writes::Writes;

/// Everything of a stick between the link and its contents.
#[derive(Debug, Clone)]
pub(crate) struct Controller {
    reads: Reads,
    writes: Writes,
    ftl: Box<dyn TranslationLayer>,
    areas: Option<AreaStates>,
    conditions: Option<Box<Conditions>>,
    page_programs: u64,
}

impl Controller {
    pub(crate) fn new(profile: &Profile, seed: u64) -> Self {
        Self {
            reads: Reads::new(profile),
            writes: Writes::new(profile),
            ftl: translation_layer(profile, StreamRng::new(seed, 1)),
            areas: AreaStates::new(profile),
            conditions: Conditions::new(profile, StreamRng::new(seed, 3)),
            page_programs: 0,
        }
    }

    /// The time of a read command with its transfer.
    pub(crate) fn read_ns(&mut self, command: Command) -> u64 {
        self.idle_until(command.at_ns);
        let ideal_ns = self.reads.command_ns(command, self.area(command.start));
        let Some(conditions) = &mut self.conditions else { return ideal_ns };
        conditions.read_ns(command, ideal_ns)
    }

    /// The time of a write command with its transfer.
    pub(crate) fn write_ns(&mut self, command: Command) -> u64 {
        self.idle_until(command.at_ns);
        self.reads.invalidate(command.start, command.end);
        let write = self.writes.command(command, &mut *self.ftl);
        self.page_programs += write.pages;
        let target = self.conditions.is_some().then(|| self.write_target(command.start));
        if let Some(areas) = &mut self.areas {
            areas.write(command.start, command.end);
        }
        let (Some(conditions), Some(target)) = (&mut self.conditions, target) else {
            return write.time_ns();
        };
        conditions.write_ns(command, write, target)
    }

    /// The time of a flush, without its command.
    pub(crate) fn flush_ns(&mut self, at_ns: u64) -> u64 {
        self.idle_until(at_ns);
        self.writes.flush();
        let copying_ns = self.ftl.flush();
        let Some(conditions) = &mut self.conditions else { return copying_ns };
        conditions.flush_ns(at_ns, copying_ns)
    }

    /// Discards the bytes from `start` to `end`. Takes no time beside the command.
    pub(crate) fn discard(&mut self, start: u64, end: u64) {
        self.reads.invalidate(start, end);
        self.ftl.discard(start, end);
        if let Some(areas) = &mut self.areas {
            areas.discard(start, end);
        }
    }

    /// The stick is idle until this instant of device time.
    pub(crate) fn idle_until(&mut self, at_ns: u64) {
        if let Some(conditions) = &mut self.conditions {
            conditions.idle_until(at_ns, &mut *self.ftl);
        }
    }

    /// Checks the invariants of the translation layer, and that it holds every page that is not blank.
    pub(crate) fn audit(
        &self,
        profile: &Profile,
        is_blank: impl Fn(ByteRange) -> bool,
    ) -> Result<(), Inconsistency> {
        self.ftl.audit()?;
        audit_contents(&*self.ftl, profile, is_blank)
    }

    /// An error if the request fails with a medium error.
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

    fn write_target(&self, start: u64) -> WriteTarget {
        WriteTarget {
            empty: self.area(start) != Area::Written,
            free_bytes: self.areas.as_ref().map_or(0, AreaStates::free_bytes),
            erases: self.ftl.counts().erases,
        }
    }

    /// Adds the counters of the controller.
    pub(crate) fn add_counters(&self, statistics: Statistics, profile: &Profile) -> Statistics {
        let counts = self.ftl.counts();
        let mut statistics = Statistics {
            page_programs: self.page_programs + counts.pages_copied,
            pages_copied: counts.pages_copied,
            merges: counts.merges,
            erases: counts.erases,
            ..statistics
        };
        if let Some(conditions) = &self.conditions {
            conditions.add_counters(&mut statistics);
        }
        statistics.bytes_programmed = profile.ftl.page * statistics.page_programs;
        statistics
    }
}
