//! A link without a queue: requests, and the commands of a request, are served back to back.

use flashscope_device::{ByteRange, Op};

use super::backend::Backend;
use super::wire::Wire;
use crate::command::Command;
use crate::controller::Controller;

/// A link without a queue.
#[derive(Debug, Clone)]
pub(super) struct OneAtATime {
    wire: Wire,
    free_at_ns: u64,
}

impl OneAtATime {
    pub(super) const fn new(wire: Wire) -> Self {
        Self { wire, free_at_ns: 0 }
    }

    /// The end of all requests so far.
    pub(super) const fn free_at_ns(&self) -> u64 {
        self.free_at_ns
    }

    /// The end of a request that was submitted at `now_ns`. Counts its commands.
    pub(super) fn serve(&mut self, now_ns: u64, op: &Op, backend: Backend<'_>, commands: &mut u64) -> u64 {
        let start_ns = self.free_at_ns.max(now_ns);
        let Backend { controller, noise } = backend;
        let time_ns = match op {
            Op::Read { range, .. } => {
                self.commands_ns(start_ns, *range, commands, |command| controller.read_ns(command))
            }
            Op::Write { range, .. } => {
                self.commands_ns(start_ns, *range, commands, |command| controller.write_ns(command))
            }
            Op::Flush => self.no_data_ns(start_ns, commands, |at_ns| controller.flush_ns(at_ns)),
            Op::Discard { range } => {
                controller.discard(range.offset.get(), range.end().get());
                self.no_data_ns(start_ns, commands, |_| 0)
            }
            Op::Pause { duration } => {
                let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
                return self.idle_until(start_ns.saturating_add(nanoseconds), controller);
            }
        };
        self.free_at_ns = start_ns.saturating_add(noise.add_noise(time_ns));
        self.free_at_ns
    }

    fn idle_until(&mut self, ns: u64, controller: &mut Controller) -> u64 {
        controller.idle_until(ns);
        self.free_at_ns = ns;
        ns
    }

    /// The time of the commands of a request, back to back.
    fn commands_ns(
        &self,
        start_ns: u64,
        range: ByteRange,
        commands: &mut u64,
        mut controller_ns: impl FnMut(Command) -> u64,
    ) -> u64 {
        let mut total_ns = 0;
        for (start, end) in self.wire.commands(range.offset.get(), range.end().get()) {
            *commands += 1;
            total_ns += self.wire.command_ns();
            let (at_ns, transfer_ns) =
                (start_ns.saturating_add(total_ns), self.wire.transfer_ns(end - start));
            total_ns += controller_ns(Command { at_ns, start, end, transfer_ns });
        }
        total_ns
    }

    /// The time of a command without data.
    fn no_data_ns(&self, start_ns: u64, commands: &mut u64, controller_ns: impl FnOnce(u64) -> u64) -> u64 {
        *commands += 1;
        let command_ns = self.wire.command_ns();
        command_ns + controller_ns(start_ns.saturating_add(command_ns))
    }
}
