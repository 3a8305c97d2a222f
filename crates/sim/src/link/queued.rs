//! A link with a queue: while the data of one command is on the wire, the flash works for others.
//!
//! Three stations serve commands first come, first served: the command stage (host and controller handle one
//! command at a time), the flash, and the wire for the data. The flash serves as many reads in parallel as it
//! has channels; a write programs all channels, as the effective page spans them. A read passes the stations
//! in this order. A write's data is on the wire while the flash programs, and the write ends when both have.
//! A flush waits for all earlier commands. At queue depth 1 the times equal those of a link without a queue,
//! except that a write's overhead also overlaps with its data.

use flashscope_device::{ByteRange, Op};

use super::backend::Backend;
use super::reservations::Reservations;
use super::wire::Wire;
use crate::command::Command;

/// A link with a queue.
#[derive(Debug, Clone)]
pub(super) struct Queued {
    wire: Wire,
    /// The time at which each queue slot is free.
    slots: Vec<u64>,
    /// The time at which the command stage is free.
    command_free_ns: u64,
    /// The time at which each channel of the flash is free.
    channels: Vec<u64>,
    data: Reservations,
    all_end_ns: u64,
}

/// A command in the queue: its bytes, transfer time and queue slot.
#[derive(Debug, Clone, Copy)]
struct QueuedCommand {
    slot: usize,
    accepted_ns: u64,
    transfer_ns: u64,
    start: u64,
    end: u64,
}

impl Queued {
    pub(super) fn new(wire: Wire, queue_depth: u32, channels: u32) -> Self {
        Self {
            wire,
            slots: vec![0; queue_depth as usize],
            command_free_ns: 0,
            channels: vec![0; channels as usize],
            data: Reservations::default(),
            all_end_ns: 0,
        }
    }

    /// The end of a request that was submitted at `now_ns`. Counts its commands.
    pub(super) fn serve(&mut self, now_ns: u64, op: &Op, backend: Backend<'_>, commands: &mut u64) -> u64 {
        self.data.forget_before(now_ns);
        match op {
            Op::Read { range, .. } => self.each(now_ns, *range, backend, commands, Self::read),
            Op::Write { range, .. } => self.each(now_ns, *range, backend, commands, Self::write),
            Op::Flush => {
                *commands += 1;
                self.exclusive(now_ns.max(self.all_end_ns), backend, |backend, at_ns| {
                    backend.controller.flush_ns(at_ns)
                })
            }
            Op::Discard { range } => {
                *commands += 1;
                backend.controller.discard(range.offset.get(), range.end().get());
                self.exclusive(now_ns, backend, |_, _| 0)
            }
            Op::Pause { duration } => {
                let end_ns = now_ns.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
                backend.controller.idle_until(end_ns);
                end_ns
            }
        }
    }

    /// Sends all commands of a request and returns the end of the last one.
    fn each(
        &mut self,
        now_ns: u64,
        range: ByteRange,
        mut backend: Backend<'_>,
        commands: &mut u64,
        send: fn(&mut Self, QueuedCommand, &mut Backend<'_>) -> u64,
    ) -> u64 {
        let mut all_end_ns = now_ns;
        for (start, end) in self.wire.commands(range.offset.get(), range.end().get()) {
            *commands += 1;
            let slot = earliest(&self.slots);
            let accepted_ns = self.accept(now_ns.max(self.slots[slot]));
            let transfer_ns = self.wire.transfer_ns(end - start);
            let end_ns =
                send(self, QueuedCommand { slot, accepted_ns, transfer_ns, start, end }, &mut backend);
            self.end(slot, end_ns);
            all_end_ns = all_end_ns.max(end_ns);
        }
        all_end_ns
    }

    /// The time at which the command stage has handled a command that is ready at `ready_ns`.
    fn accept(&mut self, ready_ns: u64) -> u64 {
        self.command_free_ns = self.command_free_ns.max(ready_ns).saturating_add(self.wire.command_ns());
        self.command_free_ns
    }

    fn end(&mut self, slot: usize, end_ns: u64) {
        self.slots[slot] = end_ns;
        self.all_end_ns = self.all_end_ns.max(end_ns);
    }

    fn read(&mut self, queued: QueuedCommand, backend: &mut Backend<'_>) -> u64 {
        let channel = earliest(&self.channels);
        let at_ns = queued.accepted_ns.max(self.channels[channel]);
        let ideal_ns = backend.controller.read_ns(queued.command(at_ns));
        let ready_ns = at_ns.saturating_add(self.with_noise(queued, ideal_ns, backend));
        self.channels[channel] = ready_ns;
        self.data.reserve(ready_ns, queued.transfer_ns).saturating_add(queued.transfer_ns)
    }

    fn write(&mut self, queued: QueuedCommand, backend: &mut Backend<'_>) -> u64 {
        let data_ns = self.data.reserve(queued.accepted_ns, queued.transfer_ns);
        let at_ns = data_ns.max(self.all_channels_ns());
        let ideal_ns = backend.controller.write_ns(queued.command(at_ns));
        let programmed_ns = at_ns.saturating_add(self.with_noise(queued, ideal_ns, backend));
        self.channels.fill(programmed_ns);
        programmed_ns.max(data_ns.saturating_add(queued.transfer_ns))
    }

    /// A command without data that occupies the whole controller.
    fn exclusive(
        &mut self,
        ready_ns: u64,
        mut backend: Backend<'_>,
        controller_ns: impl FnOnce(&mut Backend<'_>, u64) -> u64,
    ) -> u64 {
        let slot = earliest(&self.slots);
        let accepted_ns = self.accept(ready_ns.max(self.slots[slot]));
        let queued = QueuedCommand { slot, accepted_ns, transfer_ns: 0, start: 0, end: 0 };
        let at_ns = accepted_ns.max(self.all_channels_ns());
        let ideal_ns = controller_ns(&mut backend, at_ns);
        let end_ns = at_ns.saturating_add(self.with_noise(queued, ideal_ns, &mut backend));
        self.channels.fill(end_ns);
        self.end(queued.slot, end_ns);
        end_ns
    }

    /// The time of the flash with the noise of the whole command.
    fn with_noise(&self, queued: QueuedCommand, ideal_ns: u64, backend: &mut Backend<'_>) -> u64 {
        let link_ns = self.wire.command_ns() + queued.transfer_ns;
        backend.noise.add_noise(link_ns + ideal_ns) - link_ns
    }

    fn all_channels_ns(&self) -> u64 {
        self.channels.iter().copied().max().unwrap_or(0)
    }
}

impl QueuedCommand {
    /// The command for the controller. Its transfer time is 0, as the wire is a station of its own.
    const fn command(self, at_ns: u64) -> Command {
        Command { at_ns, start: self.start, end: self.end, transfer_ns: 0 }
    }
}

/// The index of the earliest instant; there is at least one.
fn earliest(instants: &[u64]) -> usize {
    instants.iter().enumerate().min_by_key(|(_, instant)| **instant).map_or(0, |(index, _)| index)
}
