//! The link: when each request ends, from what the wire, the controller and the flash take for its commands.
//!
//! Over USB bulk-only transport and over SD without a queue, one command ends before the next begins ([`one_at_a_time`]).
//! Over UAS and SD's command queue they overlap ([`queued`]).

mod one_at_a_time;
mod queued;
mod reservations;
mod wire;

use flashscope_device::{Bytes, Instant, Op};

use crate::controller::Controller;
use crate::noise::HoldUps;
use crate::profile::Profile;
use crate::statistics::Statistics;
use one_at_a_time::OneAtATime;
use queued::Queued;
use wire::Wire;

/// Nanoseconds of a profile's microseconds; its check keeps them in range.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by the profile")]
pub(crate) fn nanoseconds(microseconds: f64) -> u64 {
    (microseconds * 1e3).round() as u64
}

#[derive(Debug, Clone)]
pub(crate) struct Link {
    order: Order,
    traffic: Traffic,
}

/// In which order commands are served.
#[derive(Debug, Clone)]
enum Order {
    OneAtATime(OneAtATime),
    Queued(Queued),
}

/// What went over the link.
#[derive(Debug, Default, Clone, Copy)]
struct Traffic {
    commands: u64,
    bytes_written: Bytes,
}

/// What works on a command behind the link.
#[derive(Debug)]
struct Inside<'a> {
    controller: &'a mut Controller,
    hold_ups: &'a mut HoldUps,
}

impl Link {
    pub(crate) fn new(profile: &Profile) -> Self {
        let timing = profile.link.timing();
        let wire = Wire::new(&timing);
        let order = if timing.queue_depth == 1 {
            Order::OneAtATime(OneAtATime::new(wire))
        } else {
            Order::Queued(Queued::new(wire, timing.queue_depth, profile.read.channels))
        };
        Self { order, traffic: Traffic::default() }
    }

    /// When a request that the device took at `now` ends; moves everything inside on.
    pub(crate) fn serve(
        &mut self,
        now: Instant,
        op: &Op,
        controller: &mut Controller,
        hold_ups: &mut HoldUps,
    ) -> Instant {
        if let Op::Write { range, .. } = op {
            self.traffic.bytes_written += range.length;
        }
        let inside = Inside { controller, hold_ups };
        let (now_ns, commands) = (now.as_nanos(), &mut self.traffic.commands);
        Instant::from_nanos(match &mut self.order {
            Order::OneAtATime(link) => link.serve(now_ns, op, inside, commands),
            Order::Queued(link) => link.serve(now_ns, op, inside, commands),
        })
    }

    /// When a request that is refused gets its answer: at once, or when its turn comes.
    pub(crate) fn refuse(&self, now: Instant) -> Instant {
        match &self.order {
            Order::OneAtATime(link) => now.max(Instant::from_nanos(link.free_at_ns())),
            Order::Queued(_) => now,
        }
    }

    /// Adds what went over the link to what happened inside.
    pub(crate) const fn count(&self, statistics: Statistics) -> Statistics {
        let Traffic { commands, bytes_written } = self.traffic;
        Statistics { commands, bytes_written, ..statistics }
    }
}
