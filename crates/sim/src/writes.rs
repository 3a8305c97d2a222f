//! The latency of a write command without copying, and its path.

use crate::arithmetic::{nanoseconds, pages_touched};
use crate::command::Command;
use crate::curve::Curve;
use crate::ftl::{Placement, TranslationLayer};
use crate::profile::{self, Profile};

/// The latency model of writes.
#[derive(Debug, Clone)]
pub(crate) struct Writes {
    page_bytes: u64,
    timing: Timing,
    small: Option<SmallWrites>,
    continues_at: Option<u64>,
    /// The end of the last command through the translation layer; `None` after a flush. Its last page is in
    /// the controller's buffer.
    buffered_to: Option<u64>,
}

/// The programming time: from the number of pages, or as measured.
#[derive(Debug, Clone)]
enum Timing {
    Pages { overhead_ns: u64, page_program_ns: u64, partial_page_ns: u64 },
    Curves(Curves),
}

/// The time of a command by its size, for sequential, switching and random commands.
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

    /// The time of a command. One that switches and jumps takes the longer of both times.
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
struct SmallWrites {
    bytes_max: u64,
    write_ns: u64,
    ns_per_kib: u64,
}

impl SmallWrites {
    /// The cost of a command on the path of small writes.
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

/// The time of a write command, and the pages it programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteCommand {
    /// The time of the flash for the data; it overlaps with the transfer.
    pub(crate) flash_ns: u64,
    /// The minimum time: overhead and transfer.
    pub(crate) floor_ns: u64,
    /// The time of copies for this command.
    pub(crate) copying_ns: u64,
    pub(crate) pages: u64,
    /// The pages that the previous command has not begun.
    pub(crate) fresh_pages: u64,
    /// True if it took the path of small writes, which does not touch the open units.
    pub(crate) small: bool,
}

impl WriteCommand {
    /// The total time with the transfer.
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
        let small = profile.small_writes.as_ref().map(|small| SmallWrites {
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

    /// Serves a write command: a small non-sequential one on its own path, every other one through the
    /// translation layer.
    pub(crate) fn command(&mut self, command: Command, ftl: &mut dyn TranslationLayer) -> WriteCommand {
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
        let continues_page =
            self.buffered_to.replace(end) == Some(start) && !start.is_multiple_of(self.page_bytes);
        let fresh_pages = pages - u64::from(continues_page);
        let copying_ns = placement.copying_ns;
        WriteCommand { flash_ns, floor_ns, copying_ns, pages, fresh_pages, small: false }
    }

    /// Empties the controller's buffer: a command that continues inside a page programs a new page.
    pub(crate) const fn flush(&mut self) {
        self.buffered_to = None;
    }

    /// The programming time of the pages that a command touches.
    fn pages_ns(&self, command: Command) -> u64 {
        let Timing::Pages { overhead_ns, page_program_ns, partial_page_ns } = self.timing else { return 0 };
        let Command { start, end, .. } = command;
        let touched = pages_touched(start, end, self.page_bytes);
        let full = (end / self.page_bytes).saturating_sub(start.div_ceil(self.page_bytes));
        overhead_ns + full * page_program_ns + (touched - full) * partial_page_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::translation_layer;
    use crate::rng::StreamRng;

    const KIB: u64 = 1 << 10;

    #[test]
    fn small_path_takes_only_non_sequential_small_commands() {
        let profile = Profile::builtin("patriot-xt-16g").unwrap();
        let small = sent(&profile, &[(0, 16), (16, 32), (64, 80), (80, 200), (200, 208), (8, 40)]);
        assert_eq!(
            small.map(|write| write.small).collect::<Vec<_>>(),
            [true, false, true, false, false, false]
        );
    }

    /// The costs of commands with these starts and ends in KiB.
    fn sent(profile: &Profile, commands: &[(u64, u64)]) -> impl Iterator<Item = WriteCommand> {
        let (mut writes, mut ftl) = (Writes::new(profile), translation_layer(profile, StreamRng::new(1, 1)));
        commands.iter().map(move |(start, end)| {
            let (start, end) = (start * KIB, end * KIB);
            writes.command(Command { at_ns: 0, start, end, transfer_ns: 0 }, &mut *ftl)
        })
    }

    #[test]
    fn curve_distinguishes_sequential_switching_and_random_commands() {
        let text = Profile::text("transcend-8g").unwrap();
        let (before, after) = text.split_once("[write]").unwrap();
        let (_, after) = after.split_once("\n\n").unwrap();
        let curve = "[write]\nbasis = \"fitted\"\n[write.curve]\nappend_us = [[\"4KiB\", 10], [\"8KiB\", 20]]\n\
                     switch_us = 300\njump_us = [[\"4KiB\", 2000]]\n\n";
        let profile = Profile::parse(&format!("{before}{curve}{after}")).unwrap();
        let block = 4096;
        // Offsets and lengths in KiB.
        let writes = [
            (8 * block, 4),
            (8 * block + 4, 8),
            (9 * block, 4),
            (8 * block + 12, 4),
            (8 * block + 32, 4),
            (9 * block + 64, 8),
        ];
        let commands = writes.map(|(start, length)| (start, start + length));
        let times: Vec<u64> =
            sent(&profile, &commands).map(|write| (write.time_ns() - write.copying_ns) / 1000).collect();
        assert_eq!(times, [10, 20, 300, 300, 2000, 4000]);
    }
}
