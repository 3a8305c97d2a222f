//! Conditions that change the time of a command: its offset, wear, heat, the fill of caches, and background
//! work. A stick with none of them has no [`Conditions`], and so no overhead in the simulation.

use flashscope_device::{Bytes, Op};

use crate::arithmetic::times;
use crate::background::Background;
use crate::command::Command;
use crate::ftl::TranslationLayer;
use crate::profile::Profile;
use crate::regions::Regions;
use crate::rng::StreamRng;
use crate::slc_cache::{SlcCache, Work};
use crate::statistics::Statistics;
use crate::thermal::Thermal;
use crate::wear::Wear;
use crate::write_buffer::{Arrival, WriteBuffer};
use crate::writes::WriteCommand;

/// All conditions of a stick.
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

/// The state of the stick where a write lands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteTarget {
    /// True if the area held no data.
    pub(crate) empty: bool,
    /// The bytes of the stick that hold no data.
    pub(crate) free_bytes: u64,
    /// Erases of the whole stick so far.
    pub(crate) erases: u64,
}

impl Conditions {
    /// `None` if the profile has no condition.
    pub(crate) fn new(profile: &Profile, rng: StreamRng) -> Option<Box<Self>> {
        let conditions = Self {
            write_empty_factor: profile.states.as_ref().map_or(1.0, |states| states.write_empty_factor),
            regions: Regions::new(&profile.region),
            wear: Wear::new(profile),
            thermal: Thermal::new(profile),
            slc_cache: SlcCache::new(profile),
            write_buffer: WriteBuffer::new(profile),
            background: Background::new(profile, rng),
            idle_since_ns: 0,
        };
        conditions.is_any_present(profile).then(|| Box::new(conditions))
    }

    fn is_any_present(&self, profile: &Profile) -> bool {
        let has_own = self.wear.is_some() || self.thermal.is_some() || self.background.is_some();
        let has_caches = self.slc_cache.is_some() || self.write_buffer.is_some();
        has_own || has_caches || profile.states.is_some() || !profile.region.is_empty()
    }

    /// The time of a read with the ideal time `ideal_ns`, both with the transfer.
    pub(crate) fn read_ns(&mut self, command: Command, ideal_ns: u64) -> u64 {
        let Command { at_ns, start, end, transfer_ns } = command;
        let wait_ns = self.wait_ns(at_ns);
        let wear_factor = self.wear.as_ref().map_or(1.0, |wear| wear.read_factor(start));
        let access_ns = times(ideal_ns - transfer_ns, wear_factor * self.regions.read_factor(start));
        let heat_factor = self.thermal.as_mut().map_or(1.0, |thermal| thermal.read(at_ns, end - start));
        let busy_ns = times(access_ns + transfer_ns, heat_factor);
        if let Some(buffer) = &mut self.write_buffer {
            buffer.delay(at_ns, busy_ns);
        }
        self.busy(at_ns, wait_ns + busy_ns)
    }

    /// The time of a write with its transfer.
    pub(crate) fn write_ns(&mut self, command: Command, write: WriteCommand, target: WriteTarget) -> u64 {
        let Command { at_ns, start, end, transfer_ns } = command;
        let wait_ns = self.wait_ns(at_ns);
        let heat_factor = self.thermal.as_mut().map_or(1.0, |thermal| thermal.write(at_ns, end - start));
        let work = self.flash_work(command, write, target);
        let (program_ns, then_ns) = (times(work.program_ns, heat_factor), times(work.then_ns, heat_factor));
        let Some(buffer) = &mut self.write_buffer else {
            let floor_ns = times(write.floor_ns, heat_factor);
            return self.busy(at_ns, wait_ns + program_ns.max(floor_ns) + then_ns);
        };
        let arrival = Arrival {
            at_ns: at_ns.saturating_add(wait_ns),
            bytes: end - start,
            transfer_ns: times(transfer_ns, heat_factor),
            flash_ns: program_ns + then_ns,
        };
        let accepted_ns = buffer.accept(arrival);
        self.busy(at_ns, wait_ns + accepted_ns)
    }

    /// The work of the flash for a write.
    fn flash_work(&mut self, command: Command, write: WriteCommand, target: WriteTarget) -> Work {
        let factor = self.write_factor(command.start, target);
        let mut work =
            Work { program_ns: times(write.flash_ns, factor), then_ns: times(write.copying_ns, factor) };
        if let Some(cache) = &mut self.slc_cache {
            work = cache.write(write, work, target.free_bytes);
        }
        let bytes = command.end - command.start;
        work.then_ns += self.background.as_mut().map_or(0, |background| background.stall_ns(bytes));
        work
    }

    fn write_factor(&mut self, start: u64, target: WriteTarget) -> f64 {
        let mut factor = self.regions.write_factor(start);
        if target.empty {
            factor *= self.write_empty_factor;
        }
        if let Some(wear) = &mut self.wear {
            wear.count(start, target.erases);
            factor *= wear.write_factor(start);
        }
        factor
    }

    /// The time of a flush with this time of copies.
    pub(crate) fn flush_ns(&mut self, at_ns: u64, copying_ns: u64) -> u64 {
        let wait_ns = self.wait_ns(at_ns);
        let drain_ns = self.write_buffer.as_ref().map_or(0, |buffer| buffer.drain_ns(at_ns));
        self.busy(at_ns, wait_ns.max(drain_ns) + copying_ns)
    }

    /// Runs background work until `at_ns`, if the stick is idle for long enough.
    pub(crate) fn idle_until(&mut self, at_ns: u64, ftl: &mut dyn TranslationLayer) {
        let Some(background) = &mut self.background else { return };
        let drained_ns = self.write_buffer.as_ref().map_or(0, |buffer| buffer.drain_ns(0));
        let cache = &mut self.slc_cache;
        background.run(self.idle_since_ns.max(drained_ns), at_ns, |budget_ns| {
            let folding_ns = cache.as_mut().map_or(0, |cache| cache.fold_for(budget_ns));
            folding_ns + ftl.idle(budget_ns.saturating_sub(folding_ns))
        });
    }

    /// True if the request fails with a medium error.
    pub(crate) fn fails(&self, op: &Op) -> bool {
        let is_write = matches!(op, Op::Write { .. });
        let Some(range) = op.range().filter(|_| is_write || matches!(op, Op::Read { .. })) else {
            return false;
        };
        let is_worn = is_write && self.wear.as_ref().is_some_and(|wear| wear.fails(range.offset.get()));
        is_worn || self.regions.fails(range, is_write)
    }

    /// Adds the counters of all conditions.
    pub(crate) fn add_counters(&self, statistics: &mut Statistics) {
        if let Some(cache) = &self.slc_cache {
            statistics.slc_cache_bytes = Bytes::new(cache.held_bytes());
            statistics.pages_folded = cache.pages_folded();
            statistics.page_programs += cache.pages_folded();
        }
        statistics.stalls = self.background.as_ref().map_or(0, Background::stalls);
        statistics.hot_commands = self.thermal.as_ref().map_or(0, Thermal::hot_commands);
    }

    /// The time that a command waits for the unit of background work under way.
    fn wait_ns(&self, at_ns: u64) -> u64 {
        self.background.as_ref().map_or(0, |background| background.wait_ns(at_ns))
    }

    /// Notes that the controller is busy from `at_ns` for `ns`, and returns `ns`.
    const fn busy(&mut self, at_ns: u64, ns: u64) -> u64 {
        self.idle_since_ns = at_ns.saturating_add(ns);
        ns
    }
}
