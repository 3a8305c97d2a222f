//! A link without a queue: a request begins when the one before it has ended, and so does each of its commands.

use flashscope_device::{ByteRange, Op};

use super::Inside;
use super::wire::Wire;
use crate::controller::{Command, Controller};

#[derive(Debug, Clone)]
pub(super) struct OneAtATime {
    wire: Wire,
    free_at_ns: u64,
}

impl OneAtATime {
    pub(super) const fn new(wire: Wire) -> Self {
        Self { wire, free_at_ns: 0 }
    }

    /// When everything taken so far has ended.
    pub(super) const fn free_at_ns(&self) -> u64 {
        self.free_at_ns
    }

    /// When a request ends that was taken at `now_ns`; counts its commands.
    pub(super) fn serve(&mut self, now_ns: u64, op: &Op, inside: Inside<'_>, commands: &mut u64) -> u64 {
        let begins_ns = self.free_at_ns.max(now_ns);
        let Inside { controller, hold_ups } = inside;
        let takes_ns = match op {
            Op::Read { range, .. } => {
                self.commands_ns(begins_ns, *range, commands, |command| controller.read_ns(command))
            }
            Op::Write { range, .. } => {
                self.commands_ns(begins_ns, *range, commands, |command| controller.write_ns(command))
            }
            Op::Flush => self.bare_ns(begins_ns, commands, |at_ns| controller.flush_ns(at_ns)),
            Op::Discard { range } => {
                controller.discard(range.offset.get(), range.end().get());
                self.bare_ns(begins_ns, commands, |_| 0)
            }
            Op::Pause { duration } => {
                let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
                return self.rest_until(begins_ns.saturating_add(nanoseconds), controller);
            }
        };
        self.free_at_ns = begins_ns.saturating_add(hold_ups.lengthen(takes_ns));
        self.free_at_ns
    }

    fn rest_until(&mut self, ns: u64, controller: &mut Controller) -> u64 {
        controller.rest_until(ns);
        self.free_at_ns = ns;
        ns
    }

    /// What the commands of a request take, each after the other.
    fn commands_ns(
        &self,
        begins_ns: u64,
        range: ByteRange,
        commands: &mut u64,
        mut controller_ns: impl FnMut(Command) -> u64,
    ) -> u64 {
        let mut total_ns = 0;
        for (start, end) in self.wire.commands(range.offset.get(), range.end().get()) {
            *commands += 1;
            total_ns += self.wire.command_ns();
            let (at_ns, transfer_ns) =
                (begins_ns.saturating_add(total_ns), self.wire.transfer_ns(end - start));
            total_ns += controller_ns(Command { at_ns, start, end, transfer_ns });
        }
        total_ns
    }

    /// What a command takes that carries no data.
    fn bare_ns(&self, begins_ns: u64, commands: &mut u64, controller_ns: impl FnOnce(u64) -> u64) -> u64 {
        *commands += 1;
        let command_ns = self.wire.command_ns();
        command_ns + controller_ns(begins_ns.saturating_add(command_ns))
    }
}
