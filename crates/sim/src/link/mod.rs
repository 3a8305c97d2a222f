//! The link: the end of each request, from the time of its commands on the wire, in the controller and in the
//! flash.
//!
//! Over USB bulk-only transport and over SD without a queue, one command ends before the next begins
//! ([`one_at_a_time`]). Over UAS and SD's command queue they overlap ([`queued`]).

mod backend;
mod one_at_a_time;
mod queued;
mod reservations;
mod wire;

use flashscope_device::{Bytes, Instant, Op};

use crate::controller::Controller;
use crate::noise::RequestNoise;
use crate::profile::Profile;
use crate::statistics::Statistics;
use backend::Backend;
use one_at_a_time::OneAtATime;
use queued::Queued;
use wire::Wire;

/// The link of a stick.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    protocol: Protocol,
    traffic: Traffic,
}

/// With or without a command queue.
#[derive(Debug, Clone)]
enum Protocol {
    OneAtATime(OneAtATime),
    Queued(Queued),
}

/// Counters of the link.
#[derive(Debug, Default, Clone, Copy)]
struct Traffic {
    commands: u64,
    bytes_written: Bytes,
}

impl Link {
    pub(crate) fn new(profile: &Profile) -> Self {
        let timing = profile.link.timing();
        let wire = Wire::new(&timing);
        let protocol = if timing.queue_depth == 1 {
            Protocol::OneAtATime(OneAtATime::new(wire))
        } else {
            Protocol::Queued(Queued::new(wire, timing.queue_depth, profile.read.channels))
        };
        Self { protocol, traffic: Traffic::default() }
    }

    /// The end of a request that was submitted at `now`. Advances the state inside.
    pub(crate) fn serve(
        &mut self,
        now: Instant,
        op: &Op,
        controller: &mut Controller,
        noise: &mut RequestNoise,
    ) -> Instant {
        if let Op::Write { range, .. } = op {
            self.traffic.bytes_written += range.length;
        }
        let backend = Backend { controller, noise };
        let (now_ns, commands) = (now.as_nanos(), &mut self.traffic.commands);
        Instant::from_nanos(match &mut self.protocol {
            Protocol::OneAtATime(link) => link.serve(now_ns, op, backend, commands),
            Protocol::Queued(link) => link.serve(now_ns, op, backend, commands),
        })
    }

    /// The completion time of a refused request: at once with a queue, else after all earlier requests.
    pub(crate) fn refuse(&self, now: Instant) -> Instant {
        match &self.protocol {
            Protocol::OneAtATime(link) => now.max(Instant::from_nanos(link.free_at_ns())),
            Protocol::Queued(_) => now,
        }
    }

    /// Adds the counters of the link.
    pub(crate) const fn add_counters(&self, statistics: Statistics) -> Statistics {
        let Traffic { commands, bytes_written } = self.traffic;
        Statistics { commands, bytes_written, ..statistics }
    }
}
