//! A link with a queue: while one command's data is on the wire, the flash works for others.
//!
//! Stations, each of which serves what comes first: the command's turn (host and controller deal with one command at a
//! time), the flash (as many reads at a time as it has channels; a write programs all of them, as the effective page is
//! made of all), and the wire for the data. A read goes through them in this order. A write's data is on the wire
//! while the flash programs, and it ends when both have. A flush waits for all before it. With one request at a time
//! this comes to the same as a link without a queue, except that a write's overhead overlaps with its data too.

use flashscope_device::{ByteRange, Op};

use super::Inside;
use super::reservations::Reservations;
use super::wire::Wire;
use crate::controller::Command;

#[derive(Debug, Clone)]
pub(super) struct Queued {
    wire: Wire,
    /// When each place in the queue is free again.
    places: Vec<u64>,
    /// When the next command can have its turn.
    turn_ns: u64,
    /// When each channel of the flash is free again.
    channels: Vec<u64>,
    data: Reservations,
    all_end_ns: u64,
}

/// A command's span, its way over the wire, and the place in the queue that it holds.
#[derive(Debug, Clone, Copy)]
struct Step {
    place: usize,
    accepted_ns: u64,
    transfer_ns: u64,
    start: u64,
    end: u64,
}

impl Queued {
    pub(super) fn new(wire: Wire, queue_depth: u32, channels: u32) -> Self {
        Self {
            wire,
            places: vec![0; queue_depth as usize],
            turn_ns: 0,
            channels: vec![0; channels as usize],
            data: Reservations::default(),
            all_end_ns: 0,
        }
    }

    /// When a request ends that was taken at `now_ns`; counts its commands.
    pub(super) fn serve(&mut self, now_ns: u64, op: &Op, inside: Inside<'_>, commands: &mut u64) -> u64 {
        self.data.forget_before(now_ns);
        match op {
            Op::Read { range, .. } => self.each(now_ns, *range, inside, commands, Self::read),
            Op::Write { range, .. } => self.each(now_ns, *range, inside, commands, Self::write),
            Op::Flush => {
                *commands += 1;
                self.alone(now_ns.max(self.all_end_ns), inside, |inside, at_ns| {
                    inside.controller.flush_ns(at_ns)
                })
            }
            Op::Discard { range } => {
                *commands += 1;
                inside.controller.discard(range.offset.get(), range.end().get());
                self.alone(now_ns, inside, |_, _| 0)
            }
            Op::Pause { duration } => {
                let ends_ns = now_ns.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
                inside.controller.rest_until(ends_ns);
                ends_ns
            }
        }
    }

    /// Sends all commands of a request and returns when the last one ends.
    fn each(
        &mut self,
        now_ns: u64,
        range: ByteRange,
        mut inside: Inside<'_>,
        commands: &mut u64,
        send: fn(&mut Self, Step, &mut Inside<'_>) -> u64,
    ) -> u64 {
        let mut all_end_ns = now_ns;
        for (start, end) in self.wire.commands(range.offset.get(), range.end().get()) {
            *commands += 1;
            let place = earliest(&self.places);
            let accepted_ns = self.accept(now_ns.max(self.places[place]));
            let transfer_ns = self.wire.transfer_ns(end - start);
            let ends_ns = send(self, Step { place, accepted_ns, transfer_ns, start, end }, &mut inside);
            self.end(place, ends_ns);
            all_end_ns = all_end_ns.max(ends_ns);
        }
        all_end_ns
    }

    /// When a command that is ready at `ready_ns` has had its turn.
    fn accept(&mut self, ready_ns: u64) -> u64 {
        self.turn_ns = self.turn_ns.max(ready_ns).saturating_add(self.wire.command_ns());
        self.turn_ns
    }

    fn end(&mut self, place: usize, ends_ns: u64) {
        self.places[place] = ends_ns;
        self.all_end_ns = self.all_end_ns.max(ends_ns);
    }

    fn read(&mut self, step: Step, inside: &mut Inside<'_>) -> u64 {
        let channel = earliest(&self.channels);
        let at_ns = step.accepted_ns.max(self.channels[channel]);
        let ideal_ns = inside.controller.read_ns(step.command(at_ns));
        let ready_ns = at_ns.saturating_add(self.noisy(step, ideal_ns, inside));
        self.channels[channel] = ready_ns;
        self.data.book(ready_ns, step.transfer_ns).saturating_add(step.transfer_ns)
    }

    fn write(&mut self, step: Step, inside: &mut Inside<'_>) -> u64 {
        let data_ns = self.data.book(step.accepted_ns, step.transfer_ns);
        let at_ns = data_ns.max(self.all_channels_ns());
        let ideal_ns = inside.controller.write_ns(step.command(at_ns));
        let programmed_ns = at_ns.saturating_add(self.noisy(step, ideal_ns, inside));
        self.channels.fill(programmed_ns);
        programmed_ns.max(data_ns.saturating_add(step.transfer_ns))
    }

    /// A command without data that takes the whole controller.
    fn alone(
        &mut self,
        ready_ns: u64,
        mut inside: Inside<'_>,
        controller_ns: impl FnOnce(&mut Inside<'_>, u64) -> u64,
    ) -> u64 {
        let place = earliest(&self.places);
        let accepted_ns = self.accept(ready_ns.max(self.places[place]));
        let step = Step { place, accepted_ns, transfer_ns: 0, start: 0, end: 0 };
        let at_ns = accepted_ns.max(self.all_channels_ns());
        let ideal_ns = controller_ns(&mut inside, at_ns);
        let ends_ns = at_ns.saturating_add(self.noisy(step, ideal_ns, &mut inside));
        self.channels.fill(ends_ns);
        self.end(step.place, ends_ns);
        ends_ns
    }

    /// The flash's time, longer by what chance adds to the whole command.
    fn noisy(&self, step: Step, ideal_ns: u64, inside: &mut Inside<'_>) -> u64 {
        let around_ns = self.wire.command_ns() + step.transfer_ns;
        inside.hold_ups.lengthen(around_ns + ideal_ns) - around_ns
    }

    fn all_channels_ns(&self) -> u64 {
        self.channels.iter().copied().max().unwrap_or(0)
    }
}

impl Step {
    /// What the controller is asked for. The wire has its own station, so that the data takes it no time.
    const fn command(self, at_ns: u64) -> Command {
        Command { at_ns, start: self.start, end: self.end, transfer_ns: 0 }
    }
}

/// Where the earliest of some instants stands; there is at least one.
fn earliest(instants: &[u64]) -> usize {
    instants.iter().enumerate().min_by_key(|(_, instant)| **instant).map_or(0, |(index, _)| index)
}
