//! How long a write command takes when nothing has to be copied, and which path it takes.

use crate::controller::Command;
use crate::link::nanoseconds;
use crate::profile::Profile;

#[derive(Debug, Clone)]
pub(crate) struct Writes {
    overhead_ns: u64,
    page_bytes: u64,
    page_program_ns: u64,
    partial_page_ns: u64,
    small: Option<Small>,
    continues_at: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Small {
    bytes_max: u64,
    write_ns: u64,
    ns_per_kib: u64,
}

/// A write command's time, and what it programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteCommand {
    pub(crate) time_ns: u64,
    pub(crate) pages: u64,
    /// True if it went to the log of small writes, out of sight of the open units.
    pub(crate) small: bool,
}

impl Writes {
    pub(crate) fn new(profile: &Profile) -> Self {
        let small = profile.small_writes.as_ref().map(|small| Small {
            bytes_max: small.up_to.get(),
            write_ns: nanoseconds(small.write_us),
            ns_per_kib: nanoseconds(small.per_kib_us),
        });
        Self {
            overhead_ns: nanoseconds(profile.write.overhead_us),
            page_bytes: profile.ftl.page.get(),
            page_program_ns: nanoseconds(profile.write.page_program_us),
            partial_page_ns: nanoseconds(profile.write.partial_page_us),
            small,
            continues_at: None,
        }
    }

    /// The time of a write command, its transfer included.
    pub(crate) fn command(&mut self, command: Command) -> WriteCommand {
        let continues = self.continues_at.replace(command.end) == Some(command.start);
        let bytes = command.end - command.start;
        let small = self.small.filter(|small| bytes <= small.bytes_max && !continues);
        let (time_ns, pages) = small.map_or_else(
            || self.program(command),
            |small| (small.write_ns + small.ns_per_kib * bytes / 1024 + command.transfer_ns, 1),
        );
        WriteCommand { time_ns, pages, small: small.is_some() }
    }

    /// Time and pages of programming in place. Programming overlaps with the data's way here.
    fn program(&self, command: Command) -> (u64, u64) {
        let Command { start, end, transfer_ns, .. } = command;
        let touched = pages_touched(start, end, self.page_bytes);
        let full = (end / self.page_bytes).saturating_sub(start.div_ceil(self.page_bytes));
        let programming = full * self.page_program_ns + (touched - full) * self.partial_page_ns;
        (self.overhead_ns + programming.max(transfer_ns), touched)
    }
}

/// How many pages hold a byte of the range.
pub(crate) const fn pages_touched(start: u64, end: u64, page_bytes: u64) -> u64 {
    end.div_ceil(page_bytes) - start / page_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    #[test]
    fn a_small_command_is_small_only_where_it_continues_nothing() {
        let profile = Profile::builtin("patriot-xt-16g").unwrap();
        let mut writes = Writes::new(&profile);
        let small = [(0, 16), (16, 32), (64, 80), (80, 200), (200, 208), (8, 40)].map(|(start, end)| {
            writes.command(Command { at_ns: 0, start: start * KIB, end: end * KIB, transfer_ns: 0 }).small
        });
        assert_eq!(small, [true, false, true, false, false, false]);
    }

    #[test]
    fn pages_are_counted_where_they_are_touched() {
        let touched = [(0, 32), (0, 120), (120, 240), (31, 33), (16, 24)]
            .map(|(start, end)| pages_touched(start * KIB, end * KIB, 32 * KIB));
        assert_eq!(touched, [1, 4, 5, 2, 1]);
    }
}
