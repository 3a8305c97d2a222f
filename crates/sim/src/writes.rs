//! How long a write command takes when nothing has to be copied, and which path it takes.

use crate::controller::Command;
use crate::curve::Curve;
use crate::ftl::{Ftl, Placement};
use crate::link::nanoseconds;
use crate::profile::{self, Profile};

#[derive(Debug, Clone)]
pub(crate) struct Writes {
    page_bytes: u64,
    timing: Timing,
    small: Option<Small>,
    continues_at: Option<u64>,
    /// Where the last command through the translation layer ended, if nothing was flushed since: the page there is in the controller's
    /// buffer.
    buffered_to: Option<u64>,
}

/// What programming takes: from the pages a command touches, or as it was measured.
#[derive(Debug, Clone)]
enum Timing {
    Pages { overhead_ns: u64, page_program_ns: u64, partial_page_ns: u64 },
    Curves(Curves),
}

/// The time of a command by its size, in each of three situations.
#[derive(Debug, Clone)]
struct Curves {
    append: Curve,
    switch: Curve,
    jump: Curve,
}

impl Curves {
    fn new(curve: &profile::WriteCurve) -> Self {
        let or_append =
            |other: &Option<profile::Curve>| Curve::rising(other.as_ref().unwrap_or(&curve.append_us));
        Self {
            append: Curve::rising(&curve.append_us),
            switch: or_append(&curve.switch_us),
            jump: or_append(&curve.jump_us),
        }
    }

    /// A command that switches and jumps takes the longer of both times.
    fn ns(&self, bytes: u64, placement: Placement, continues: bool) -> u64 {
        match (placement.switched && !continues, placement.jumped && !continues) {
            (false, false) => self.append.ns(bytes),
            (true, false) => self.switch.ns(bytes),
            (false, true) => self.jump.ns(bytes),
            (true, true) => self.switch.ns(bytes).max(self.jump.ns(bytes)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Small {
    bytes_max: u64,
    write_ns: u64,
    ns_per_kib: u64,
}

impl Small {
    /// A write of so many bytes that goes to the log of small ones.
    const fn command(&self, bytes: u64, transfer_ns: u64) -> WriteCommand {
        WriteCommand {
            flash_ns: self.write_ns + self.ns_per_kib * bytes / 1024 + transfer_ns,
            floor_ns: transfer_ns,
            copying_ns: 0,
            pages: 1,
            fresh_pages: 1,
            small: true,
        }
    }
}

/// A write command's time, and what it programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteCommand {
    /// What the flash does for the data itself; it overlaps with the data's way here.
    pub(crate) flash_ns: u64,
    /// What the data's way takes at the least.
    pub(crate) floor_ns: u64,
    /// What had to be copied for it.
    pub(crate) copying_ns: u64,
    pub(crate) pages: u64,
    /// Those of them that the command before has not begun.
    pub(crate) fresh_pages: u64,
    /// True if it went to the log of small writes, out of sight of the open units.
    pub(crate) small: bool,
}

impl WriteCommand {
    /// Its time, the transfer included.
    pub(crate) fn time_ns(&self) -> u64 {
        self.flash_ns.max(self.floor_ns) + self.copying_ns
    }
}

impl Timing {
    fn new(write: &profile::WritePath) -> Self {
        let time = |us: Option<f64>| nanoseconds(us.unwrap_or(0.0));
        match &write.curve {
            Some(curve) => Self::Curves(Curves::new(curve)),
            None => Self::Pages {
                overhead_ns: time(write.overhead_us),
                page_program_ns: time(write.page_program_us),
                partial_page_ns: time(write.partial_page_us),
            },
        }
    }
}

impl Writes {
    pub(crate) fn new(profile: &Profile) -> Self {
        let small = profile.small_writes.as_ref().map(|small| Small {
            bytes_max: small.up_to.get(),
            write_ns: nanoseconds(small.write_us),
            ns_per_kib: nanoseconds(small.per_kib_us),
        });
        Self {
            page_bytes: profile.ftl.page.get(),
            timing: Timing::new(&profile.write),
            small,
            continues_at: None,
            buffered_to: None,
        }
    }

    /// Sends a write command its way: past the translation layer if it is small and continues nothing, otherwise through it.
    pub(crate) fn command(&mut self, command: Command, ftl: &mut Ftl) -> WriteCommand {
        let Command { start, end, transfer_ns, .. } = command;
        let continues = self.continues_at.replace(end) == Some(start);
        let bytes = end - start;
        if let Some(small) = self.small.filter(|small| bytes <= small.bytes_max && !continues) {
            ftl.supersede(start, end);
            self.flush();
            return small.command(bytes, transfer_ns);
        }
        let placement = ftl.write(start, end);
        let (flash_ns, floor_ns) = match &self.timing {
            Timing::Pages { overhead_ns, .. } => (self.pages_ns(command), overhead_ns + transfer_ns),
            Timing::Curves(curves) => (curves.ns(bytes, placement, continues), transfer_ns),
        };
        let pages = pages_touched(start, end, self.page_bytes);
        let goes_on = self.buffered_to.replace(end) == Some(start) && !start.is_multiple_of(self.page_bytes);
        let fresh_pages = pages - u64::from(goes_on);
        let copying_ns = placement.copying_ns;
        WriteCommand { flash_ns, floor_ns, copying_ns, pages, fresh_pages, small: false }
    }

    /// The controller's buffer is emptied: what goes on in the middle of a page takes a page of its own.
    pub(crate) const fn flush(&mut self) {
        self.buffered_to = None;
    }

    /// The time of programming in place.
    fn pages_ns(&self, command: Command) -> u64 {
        let Timing::Pages { overhead_ns, page_program_ns, partial_page_ns } = self.timing else { return 0 };
        let Command { start, end, .. } = command;
        let touched = pages_touched(start, end, self.page_bytes);
        let full = (end / self.page_bytes).saturating_sub(start.div_ceil(self.page_bytes));
        overhead_ns + full * page_program_ns + (touched - full) * partial_page_ns
    }
}

/// How many pages hold a byte of the range.
pub(crate) const fn pages_touched(start: u64, end: u64, page_bytes: u64) -> u64 {
    end.div_ceil(page_bytes) - start / page_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    const KIB: u64 = 1 << 10;

    #[test]
    fn a_small_command_is_small_only_where_it_continues_nothing() {
        let profile = Profile::builtin("patriot-xt-16g").unwrap();
        let small = sent(&profile, &[(0, 16), (16, 32), (64, 80), (80, 200), (200, 208), (8, 40)]);
        assert_eq!(
            small.map(|write| write.small).collect::<Vec<_>>(),
            [true, false, true, false, false, false]
        );
    }

    /// What becomes of commands with these starts and ends in KiB.
    fn sent(profile: &Profile, commands: &[(u64, u64)]) -> impl Iterator<Item = WriteCommand> {
        let (mut writes, mut ftl) = (Writes::new(profile), Ftl::new(profile, Chance::new(1, 1)));
        commands.iter().map(move |(start, end)| {
            let (start, end) = (start * KIB, end * KIB);
            writes.command(Command { at_ns: 0, start, end, transfer_ns: 0 }, &mut ftl)
        })
    }

    #[test]
    fn a_curve_tells_going_on_from_switching_and_jumping() {
        let text = Profile::text("transcend-8g").unwrap();
        let (before, after) = text.split_once("[write]").unwrap();
        let (_, after) = after.split_once("\n\n").unwrap();
        let curve = "[write]\nbasis = \"fitted\"\n[write.curve]\nappend_us = [[\"4KiB\", 10], [\"8KiB\", 20]]\n\
                     switch_us = 300\njump_us = [[\"4KiB\", 2000]]\n\n";
        let profile = Profile::parse(&format!("{before}{curve}{after}")).unwrap();
        let block = 4096;
        // Into the FAT area first, so that everything behind it switches once.
        let places = [
            (8 * block, 4),
            (8 * block + 4, 8),
            (9 * block, 4),
            (8 * block + 12, 4),
            (8 * block + 32, 4),
            (9 * block + 64, 8),
        ];
        let commands = places.map(|(start, length)| (start, start + length));
        let times: Vec<u64> =
            sent(&profile, &commands).map(|write| (write.time_ns() - write.copying_ns) / 1000).collect();
        assert_eq!(times, [10, 20, 300, 300, 2000, 4000]);
    }

    #[test]
    fn pages_are_counted_where_they_are_touched() {
        let touched = [(0, 32), (0, 120), (120, 240), (31, 33), (16, 24)]
            .map(|(start, end)| pages_touched(start * KIB, end * KIB, 32 * KIB));
        assert_eq!(touched, [1, 4, 5, 2, 1]);
    }
}
