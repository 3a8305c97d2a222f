//! The controller: what a command costs behind the link, and what it changes inside.

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
        let write = self.writes.command(command);
        let copying_ns = if write.small {
            self.ftl.supersede(command.start, command.end);
            0
        } else {
            self.ftl.write(command.start, command.end)
        };
        self.ever_written.insert(command.start, command.end);
        self.page_programs += write.pages;
        write.time_ns + copying_ns
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
