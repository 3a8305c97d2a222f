//! What makes the same command take another time: where it lands, how old and how hot the stick is, what waits in its caches, and
//! what the controller does on its own. Sticks with none of it have no [`Conditions`] at all, and pay nothing for them.

use flashscope_device::{Bytes, Op};

use crate::background::Background;
use crate::chance::Chance;
use crate::controller::Command;
use crate::factor::times;
use crate::ftl::Ftl;
use crate::profile::Profile;
use crate::regions::Regions;
use crate::slc_cache::{SlcCache, Work};
use crate::statistics::Statistics;
use crate::thermal::Thermal;
use crate::wear::Wear;
use crate::write_buffer::{Arrival, WriteBuffer};
use crate::writes::WriteCommand;

#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    write_empty_factor: f64,
    regions: Regions,
    wear: Option<Wear>,
    thermal: Option<Thermal>,
    slc_cache: Option<SlcCache>,
    write_buffer: Option<WriteBuffer>,
    background: Option<Background>,
    idle_since_ns: u64,
}

/// What a write finds where it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground {
    /// It held nothing.
    pub(crate) empty: bool,
    /// How many bytes of the stick hold nothing.
    pub(crate) free_bytes: u64,
    /// How many erases there have been so far.
    pub(crate) erases: u64,
}

impl Conditions {
    /// `None` if the profile has none.
    pub(crate) fn new(profile: &Profile, chance: Chance) -> Option<Box<Self>> {
        let conditions = Self {
            write_empty_factor: profile.states.as_ref().map_or(1.0, |states| states.write_empty_factor),
            regions: Regions::new(&profile.region),
            wear: Wear::new(profile),
            thermal: Thermal::new(profile),
            slc_cache: SlcCache::new(profile),
            write_buffer: WriteBuffer::new(profile),
            background: Background::new(profile, chance),
            idle_since_ns: 0,
        };
        conditions.any(profile).then(|| Box::new(conditions))
    }

    fn any(&self, profile: &Profile) -> bool {
        let own = self.wear.is_some() || self.thermal.is_some() || self.background.is_some();
        let caches = self.slc_cache.is_some() || self.write_buffer.is_some();
        own || caches || profile.states.is_some() || !profile.region.is_empty()
    }

    /// The time of a read that takes `ideal_ns`, its transfer included.
    pub(crate) fn read_ns(&mut self, command: Command, ideal_ns: u64) -> u64 {
        let Command { at_ns, start, end, transfer_ns } = command;
        let wait_ns = self.wait_ns(at_ns);
        let aged = self.wear.as_ref().map_or(1.0, |wear| wear.read_factor(start));
        let access_ns = times(ideal_ns - transfer_ns, aged * self.regions.read_factor(start));
        let heat = self.thermal.as_mut().map_or(1.0, |thermal| thermal.read(at_ns, end - start));
        let busy_ns = times(access_ns + transfer_ns, heat);
        if let Some(buffer) = &mut self.write_buffer {
            buffer.hold_up(at_ns, busy_ns);
        }
        self.busy(at_ns, wait_ns + busy_ns)
    }

    /// The time of a write, its transfer included.
    pub(crate) fn write_ns(&mut self, command: Command, write: WriteCommand, ground: Ground) -> u64 {
        let Command { at_ns, start, end, transfer_ns } = command;
        let wait_ns = self.wait_ns(at_ns);
        let heat = self.thermal.as_mut().map_or(1.0, |thermal| thermal.write(at_ns, end - start));
        let work = self.work(command, write, ground);
        let (program_ns, then_ns) = (times(work.program_ns, heat), times(work.then_ns, heat));
        let Some(buffer) = &mut self.write_buffer else {
            let floor_ns = times(write.floor_ns, heat);
            return self.busy(at_ns, wait_ns + program_ns.max(floor_ns) + then_ns);
        };
        let arrival = Arrival {
            at_ns: at_ns.saturating_add(wait_ns),
            bytes: end - start,
            transfer_ns: times(transfer_ns, heat),
            flash_ns: program_ns + then_ns,
        };
        let taken_ns = buffer.take(arrival);
        self.busy(at_ns, wait_ns + taken_ns)
    }

    /// What the flash has to do for a write.
    fn work(&mut self, command: Command, write: WriteCommand, ground: Ground) -> Work {
        let factor = self.write_factor(command.start, ground);
        let mut work =
            Work { program_ns: times(write.flash_ns, factor), then_ns: times(write.copying_ns, factor) };
        if let Some(cache) = &mut self.slc_cache {
            work = cache.take(write, work, ground.free_bytes);
        }
        let bytes = command.end - command.start;
        work.then_ns += self.background.as_mut().map_or(0, |background| background.stall_ns(bytes));
        work
    }

    fn write_factor(&mut self, start: u64, ground: Ground) -> f64 {
        let mut factor = self.regions.write_factor(start);
        if ground.empty {
            factor *= self.write_empty_factor;
        }
        if let Some(wear) = &mut self.wear {
            wear.count(start, ground.erases);
            factor *= wear.write_factor(start);
        }
        factor
    }

    /// How long a flush waits.
    pub(crate) fn flush_ns(&mut self, at_ns: u64) -> u64 {
        let wait_ns = self.wait_ns(at_ns);
        let drain_ns = self.write_buffer.as_ref().map_or(0, |buffer| buffer.drain_ns(at_ns));
        self.busy(at_ns, wait_ns.max(drain_ns))
    }

    /// Works in the background until `at_ns`, if nothing was asked for long enough.
    pub(crate) fn rest_until(&mut self, at_ns: u64, ftl: &mut Ftl) {
        let Some(background) = &mut self.background else { return };
        let drained_ns = self.write_buffer.as_ref().map_or(0, |buffer| buffer.drain_ns(0));
        let cache = &mut self.slc_cache;
        background.work(self.idle_since_ns.max(drained_ns), at_ns, |budget_ns| {
            let folding_ns = cache.as_mut().map_or(0, |cache| cache.fold_for(budget_ns));
            folding_ns + ftl.idle(budget_ns.saturating_sub(folding_ns))
        });
    }

    /// True if the medium cannot do what was asked for.
    pub(crate) fn fails(&self, op: &Op) -> bool {
        let write = matches!(op, Op::Write { .. });
        let Some(range) = op.range().filter(|_| write || matches!(op, Op::Read { .. })) else { return false };
        let worn = write && self.wear.as_ref().is_some_and(|wear| wear.fails(range.offset.get()));
        worn || self.regions.fail(range, write)
    }

    /// Adds what happened inside.
    pub(crate) fn count(&self, statistics: &mut Statistics) {
        if let Some(cache) = &self.slc_cache {
            statistics.slc_cache_bytes = Bytes::new(cache.held_bytes());
            statistics.pages_folded = cache.pages_folded();
            statistics.page_programs += cache.pages_folded();
        }
        statistics.stalls = self.background.as_ref().map_or(0, Background::stalls);
        statistics.hot_commands = self.thermal.as_ref().map_or(0, Thermal::hot_commands);
    }

    /// How long a command waits for the unit of background work under way.
    fn wait_ns(&self, at_ns: u64) -> u64 {
        self.background.as_ref().map_or(0, |background| background.wait_ns(at_ns))
    }

    /// The controller is busy from `at_ns` on for so long.
    const fn busy(&mut self, at_ns: u64, ns: u64) -> u64 {
        self.idle_since_ns = at_ns.saturating_add(ns);
        ns
    }
}
