//! The controller: what a command costs behind the link, and what it changes inside.

use flashscope_device::{Op, RequestError};

use crate::chance::Chance;
use crate::ever_written::EverWritten;
use crate::ftl::Ftl;
use crate::profile::Profile;
use crate::reads::Reads;
use crate::statistics::Statistics;
use crate::writes::Writes;

/// One command's bytes, and what their way over the link takes; the controller overlaps its own work with it where it can.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    /// The device time at which it reaches the controller, before its data.
    #[expect(dead_code, reason = "what depends on the time comes next")]
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
    ever_written: EverWritten,
    page_programs: u64,
}

impl Controller {
    pub(crate) fn new(profile: &Profile, seed: u64) -> Self {
        Self {
            reads: Reads::new(&profile.read),
            writes: Writes::new(profile),
            ftl: Ftl::new(profile, Chance::new(seed, 1)),
            ever_written: EverWritten::new(profile),
            page_programs: 0,
        }
    }

    /// The time of a read command, its transfer included.
    pub(crate) fn read_ns(&mut self, command: Command) -> u64 {
        let never_written = !self.ever_written.contains(command.start);
        self.reads.command_ns(command, never_written)
    }

    /// The time of a write command, its transfer included.
    pub(crate) fn write_ns(&mut self, command: Command) -> u64 {
        self.reads.forget_read_ahead();
        let write = self.writes.command(command, &mut self.ftl);
        self.ever_written.insert(command.start, command.end);
        self.page_programs += write.pages;
        write.time_ns()
    }

    /// What a flush waits for, beside its command.
    pub(crate) fn flush_ns(&mut self, _at_ns: u64) -> u64 {
        0
    }

    /// The host wants this data no longer.
    pub(crate) fn discard(&mut self, _start: u64, _end: u64) {}

    /// Nothing is asked for until then.
    pub(crate) fn rest_until(&mut self, _ns: u64) {}

    /// Whether the medium could do what was asked for.
    pub(crate) fn outcome(&self, _op: &Op) -> Result<(), RequestError> {
        Ok(())
    }

    /// Adds what happened inside to what the stick counts itself.
    pub(crate) fn count(&self, statistics: Statistics, profile: &Profile) -> Statistics {
        let counts = self.ftl.counts();
        let page_programs = self.page_programs + counts.pages_copied;
        Statistics {
            page_programs,
            bytes_programmed: profile.ftl.page * page_programs,
            merges: counts.merges,
            erases: counts.erases,
            ..statistics
        }
    }
}
