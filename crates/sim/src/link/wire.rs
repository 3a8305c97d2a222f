//! The wire: splits requests into commands, and gives the time of a command and its data.

use crate::arithmetic::nanoseconds;
use crate::profile::LinkTiming;

/// The figures of a link in nanoseconds.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    command_bytes_max: u64,
    command_ns: u64,
    picoseconds_per_byte: u64,
}

impl Wire {
    pub(super) fn new(link: &LinkTiming) -> Self {
        Self {
            command_bytes_max: link.max_command.get(),
            command_ns: nanoseconds(link.command_us),
            picoseconds_per_byte: nanoseconds(1e3 / link.megabytes_per_s),
        }
    }

    /// The overhead of a command before and after its data.
    pub(super) const fn command_ns(&self) -> u64 {
        self.command_ns
    }

    /// The time of the data on the wire.
    pub(super) const fn transfer_ns(&self, bytes: u64) -> u64 {
        bytes * self.picoseconds_per_byte / 1000
    }

    /// The commands that carry the bytes from `start` to `end`, as pairs of start and end.
    pub(super) fn commands(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let step = self.command_bytes_max;
        let mut next = start;
        std::iter::from_fn(move || {
            let from = next;
            next = end.min(from + step);
            (from < end).then_some((from, next))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn requests_are_split_at_max_command() {
        let wire = Wire::new(&Profile::builtin("patriot-xt-16g").unwrap().link.timing());
        let kib = |commands: Vec<(u64, u64)>| -> Vec<_> {
            commands.into_iter().map(|(from, to)| (from >> 10, to >> 10)).collect()
        };
        assert_eq!(kib(wire.commands(0, 256 << 10).collect()), [(0, 120), (120, 240), (240, 256)]);
        assert_eq!(kib(wire.commands(64 << 10, 184 << 10).collect()), [(64, 184)]);
        assert_eq!(wire.commands(512, 512).count(), 0);
    }
}
