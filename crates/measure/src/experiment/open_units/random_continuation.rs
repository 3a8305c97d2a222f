//! Random writes into blocks that are open sequentially: continues each at random, and then opens fresh ones,
//! until an opening costs a merge. See docs/methods/open-units.md.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::thresholds::BY_STALLS_MAX;
use flashscope_record::observation::{OpenUnitsCell, Order};

use super::parameters::{NUMBER_TRIED_MIN, SLOW_OPENINGS};
use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::{ROUNDS_PER_SLOT, Search, TIME_MAX, oldest_first};
use crate::limits::WHOLE_MAX;
use crate::session::{Stop, fill, range};

/// The last [`SLOW_OPENINGS`] openings decide if all but one are slow, or up to eight, if stalls alone would
/// make four slow with more than [`BY_STALLS_MAX`].
const SLOW_OPENINGS_MAX: u32 = 8;
/// Rounds until all blocks are open, if at most one of them is not. Guess.
const ROUNDS: u32 = 4;
/// The test begins only if this many rounds are affordable.
const ROUNDS_AFFORDED: u64 = 3;
/// Rounds that verify slow continuations.
const VERIFYING_ROUNDS: u64 = 3;
/// Limits the bytes of these. Guess.
const VERIFYING_BYTES_MAX: Bytes = Bytes::mib(24);

/// The most requests this test takes.
pub(super) const fn requests_max(units_max: u32) -> u64 {
    (units_max as u64 + SLOW_OPENINGS_MAX as u64) * (5 + VERIFYING_ROUNDS * 2)
        + ROUNDS_PER_SLOT as u64 * units_max as u64 * units_max as u64
}

impl Search<'_, '_> {
    /// Continues each sequentially open block at random. None of them needs another slot, unless fewer slots
    /// take random writes. Whether that decides their number.
    pub(super) fn continue_randomly(
        &mut self,
        pool: &mut BlockPool,
        sequential: &Posterior,
    ) -> Result<bool, Stop> {
        let (number, units_max) = (sequential.verdict().number, self.experiment.units_max);
        // A log that completes small steps merges every random write. A controller that writes small requests
        // elsewhere does so with requests that fill a gap, too: then blocks are open at random that should be
        // open sequentially.
        let leaves_gaps = self.data.led && sequential.eviction_probability(EvictionLaw::Random) > 0.5;
        let rounds = self.request * u64::from(number) * ROUNDS_AFFORDED;
        if number < NUMBER_TRIED_MIN
            || leaves_gaps
            || self.session.bytes_written() + rounds > self.experiment.bytes_max
            || sequential.classifier().is_small()
        {
            return Ok(false);
        }
        let is_random = sequential.eviction_probability(EvictionLaw::Random) > 0.5;
        let cells = std::mem::take(&mut self.data.cells);
        let result = self.undisturbed(|search, attempt| {
            if attempt == 0 {
                let are_open = search.reopen_all(pool, sequential, number)?;
                return are_open.then(|| search.continue_each(pool, sequential, number)).transpose();
            }
            // Again in fresh blocks, which close all others.
            let is_possible = !is_random && search.affords_fresh_blocks(sequential, number);
            is_possible.then(|| search.open_fresh_randomly(sequential, number)).transpose()
        });
        self.data.continued = std::mem::replace(&mut self.data.cells, cells);
        result?;
        Ok(evidence::found_with_freed_slots(&self.data.continued, sequential, units_max).is_some())
    }

    /// Continues the blocks of the search. Some may be full, or slow because of earlier writes or a gap left
    /// by smaller requests. Then fresh random openings decide under LRU eviction. Under random eviction
    /// repeated rounds decide whether all are as slow.
    fn continue_each(&mut self, pool: &BlockPool, sequential: &Posterior, number: u32) -> Result<(), Stop> {
        let mut random = evidence::posterior_with_freed_slots(&[], sequential, self.experiment.units_max);
        let mut units: Vec<u32> = sequential.most_recent_first().take(number as usize).collect();
        units.reverse();
        let (sizes, slow_openings) = (self.sizes(), slow_openings(sequential.stall_share()));
        let (mut continued, mut slow, mut is_full) = (0, 0, false);
        for (opened, unit) in (0..).zip(&units) {
            let Some(latencies) = pool.continue_randomly(&mut self.session, *unit, sizes, 0)? else {
                is_full = true;
                break;
            };
            self.others_open.extend(pool.offset_of(*unit));
            self.record_pair(opened + 1, opened, latencies, &mut random);
            continued += 1;
            slow += usize::from(random.classifier().is_slow(latencies.0.max(latencies.1)));
            if random.openings_were_slow(slow_openings) {
                break;
            }
        }
        if slow == 0 && !is_full {
            let opened = self.pool(Order::Random).numbered_from(number);
            return self.open_beyond(opened, (number, slow_openings), &mut random);
        }
        let is_random = sequential.eviction_probability(EvictionLaw::Random) > 0.5;
        if is_random && !is_full && self.evictions_repeat(pool, &units[..continued], slow, &mut random)? {
            return Ok(());
        }
        self.data.cells.clear();
        if !is_random && self.affords_fresh_blocks(sequential, number) {
            return self.open_fresh_randomly(sequential, number);
        }
        Ok(())
    }

    /// The size of each write, and of the position that it takes.
    const fn sizes(&self) -> (Bytes, Bytes) {
        (self.request, self.experiment.request)
    }

    /// Whether every round of these blocks meets at least `evicted` slow ones: if fewer slots take random
    /// writes, as many blocks are evicted each round. The rounds are recorded: slow writes that repeat are no
    /// stalls.
    fn evictions_repeat(
        &mut self,
        pool: &BlockPool,
        units: &[u32],
        evicted: usize,
        random: &mut Posterior,
    ) -> Result<bool, Stop> {
        let sizes = self.sizes();
        if units.len() <= SLOW_OPENINGS as usize {
            return Ok(false);
        }
        let writes = u64::try_from(units.len()).unwrap_or(u64::MAX) * 2;
        let number = u32::try_from(units.len()).unwrap_or(u32::MAX);
        for round in 1..=VERIFYING_ROUNDS {
            if self.request * writes * round > VERIFYING_BYTES_MAX {
                return Ok(round > 1);
            }
            let mut slow = 0;
            for (index, unit) in (0..).zip(units) {
                let Some(latencies) = pool.continue_randomly(&mut self.session, *unit, sizes, round)? else {
                    return Ok(false);
                };
                slow += usize::from(random.classifier().is_slow(latencies.0.max(latencies.1)));
                self.record_pair(number, index, latencies, random);
            }
            if slow < evicted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens fresh blocks at random, which closes all others, and continues them. The two writes into each
    /// need another slot only if fewer slots take random writes.
    fn open_fresh_randomly(&mut self, sequential: &Posterior, number: u32) -> Result<(), Stop> {
        let mut random = evidence::posterior_with_freed_slots(&[], sequential, self.experiment.units_max);
        let slow_openings = slow_openings(sequential.stall_share());
        let mut pool = self.pool(Order::Random);
        for index in 0..number as usize {
            pool.write(&mut self.session, &mut self.blocks, index)?;
        }
        for unit in 0..number {
            let mut latencies = [None; 2];
            for latency in &mut latencies {
                let written = pool.write(&mut self.session, &mut self.blocks, unit as usize)?;
                *latency = written.and_then(|written| written.latency);
            }
            let Some(latencies) = latencies[0].zip(latencies[1]) else { return Ok(()) };
            self.record_pair(unit + 1, unit, latencies, &mut random);
            if random.openings_were_slow(slow_openings) {
                return Ok(());
            }
        }
        let opened = self.pool(Order::Random).numbered_from(number);
        self.open_beyond(opened, (number, slow_openings), &mut random)
    }

    /// Opens fresh blocks while all slots are taken.
    fn open_beyond(
        &mut self,
        mut pool: BlockPool,
        (number, more): (u32, u32),
        random: &mut Posterior,
    ) -> Result<(), Stop> {
        for opened in number + 1..=number + more {
            if !self.open(&mut pool, opened, random)? {
                break;
            }
        }
        self.others_open.extend(pool.offsets());
        Ok(())
    }

    /// Whether enough fresh blocks are left, and the time to open them.
    fn affords_fresh_blocks(&self, sequential: &Posterior, number: u32) -> bool {
        let opening = sequential.merge_seconds().unwrap_or(0.0) + sequential.classifier().typical_seconds();
        let time = Duration::try_from_secs_f64(opening * f64::from(number)).unwrap_or(Duration::MAX);
        self.blocks.left() >= u64::from(number + slow_openings(sequential.stall_share()))
            && self.session.device_time() + time < TIME_MAX
    }

    /// Writes into `number` blocks round-robin until all are open. Under LRU eviction one round is enough.
    /// Under random eviction the block too many is filled first. Whether all are open in the end.
    fn reopen_all(
        &mut self,
        pool: &mut BlockPool,
        sequential: &Posterior,
        number: u32,
    ) -> Result<bool, Stop> {
        let erase_block = self.experiment.erase_block;
        let is_random = sequential.eviction_probability(EvictionLaw::Random) > 0.5;
        let mut rounds = ROUNDS;
        let surveyed = oldest_first(pool, sequential, number as usize + 1);
        pool.fill_gaps(&mut self.session, surveyed, self.request)?;
        pool.set_request(self.request);
        if is_random {
            let too_many = sequential.least_recent_of(number + 1);
            match too_many.and_then(|(unit, _)| pool.offset_of(unit)) {
                Some(offset) if erase_block <= WHOLE_MAX => {
                    fill(&mut self.session, range(offset, erase_block))?;
                }
                _ => rounds = ROUNDS_PER_SLOT * number,
            }
        }
        // Other blocks were opened in between, so that the posterior is not updated. Blocks that are still
        // open come first, so that reopening the others closes none of them.
        let units = sequential.most_recent_first().take(number as usize);
        let Some(indices) = units.map(|unit| Some(pool.member_of(unit)?.0)).collect::<Option<Vec<usize>>>()
        else {
            return Ok(false);
        };
        if is_random {
            return self.open_round_robin(pool, &indices, rounds + 1, sequential.classifier());
        }
        let have_room = indices.iter().all(|index| pool.has_room(*index));
        if have_room {
            self.open_round_robin(pool, &indices, 1, sequential.classifier())?;
        }
        Ok(have_room)
    }

    /// Records two writes, the faster one first: either of them may take the slot for random writes.
    fn record_pair(
        &mut self,
        number: u32,
        unit: u32,
        (one, other): (Duration, Duration),
        random: &mut Posterior,
    ) {
        for latency in [one.min(other), one.max(other)] {
            let key = (Order::Random, number, self.request);
            OpenUnitsCell::keep(&mut self.data.cells, key, unit, latency);
            random.write(unit, latency);
        }
    }
}

/// The number of openings, all but one of them slow, that stalls alone hardly produce. `stalls` is the share
/// of writes that stall. Either of the two writes of an opening may stall.
fn slow_openings(stalls: f64) -> u32 {
    let slow = 1.0 - (1.0 - stalls).powi(2);
    let probability = |openings: u32| {
        let others = slow.powf(f64::from(openings - 1));
        others * (slow + f64::from(openings) * (1.0 - slow))
    };
    let is_enough = |openings: &u32| probability(*openings) <= BY_STALLS_MAX;
    (SLOW_OPENINGS..SLOW_OPENINGS_MAX).find(is_enough).unwrap_or(SLOW_OPENINGS_MAX)
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::Budget;
    use flashscope_device::memory::{MemoryDevice, TimedDevice};
    use flashscope_device::{Device, OpKind};
    use flashscope_record::observation::OpenUnitsData;
    use std::cell::Cell;

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::experiment::erase_blocks::EraseBlocks;
    use crate::experiment::open_units::OpenUnits;
    use crate::session::Session;

    #[test]
    fn more_stalls_require_more_slow_openings() {
        assert_eq!([0.0, 0.02, 0.05, 0.13, 0.3].map(slow_openings), [4, 4, 5, 7, 8]);
    }

    /// Blocks of 64 positions, and the size of one.
    const SIZES: (Bytes, Bytes) = (Bytes::mib(1), Bytes::kib(16));

    /// Makes a test after sequential writes into six blocks of this size: this number into each, and twelve
    /// more into the first one. Returns its result, and the data.
    fn after_writes<T>(
        device: &mut dyn Device,
        (erase_block, request): (Bytes, Bytes),
        written: u32,
        test: impl FnOnce(&mut Search<'_, '_>, &BlockPool, &Posterior) -> T,
    ) -> (T, OpenUnitsData) {
        let blocks = EraseBlocks::to_write(&*device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData::default();
        let experiment = OpenUnits::new(erase_block, Some(request), 1);
        let mut search = Search::new(experiment, session, blocks, &mut data);
        let mut pool = search.pool(Order::Linear);
        assert_eq!(search.rounds(&mut pool, 1, 12), Ok(true));
        assert_eq!(search.rounds(&mut pool, 6, written), Ok(true));
        let sequential = evidence::sequential_posterior(search.data).unwrap();
        let result = test(&mut search, &pool, &sequential);
        drop(search);
        (result, data)
    }

    /// Whether all rounds of these blocks meet `evicted` slow ones, if all writes take the same time.
    fn evictions_repeat(written: u32, evicted: usize) -> bool {
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let test = |search: &mut Search<'_, '_>, pool: &BlockPool, sequential: &Posterior| {
            let mut random = evidence::posterior_with_freed_slots(&[], sequential, 9);
            search.evictions_repeat(pool, &[0, 1, 2, 3, 4, 5], evicted, &mut random).unwrap()
        };
        after_writes(&mut device, SIZES, written, test).0
    }

    /// Two rounds of five blocks write 20 of at most 24 MiB. A third one, for which there is no room, is not
    /// needed.
    #[test]
    fn large_evictions_repeat_if_the_rounds_that_may_be_written_met_them() {
        let mut device = MemoryDevice::new(Bytes::mib(256));
        let sizes = (Bytes::mib(32), Bytes::mib(1));
        let test = |search: &mut Search<'_, '_>, pool: &BlockPool, sequential: &Posterior| {
            let mut random = evidence::posterior_with_freed_slots(&[], sequential, 9);
            search.evictions_repeat(pool, &[1, 2, 3, 4, 5], 0, &mut random).unwrap()
        };
        assert!(after_writes(&mut device, sizes, 2, test).0);
    }

    #[test]
    fn evictions_repeat_only_if_every_round_was_made_and_met_them() {
        assert!(evictions_repeat(2, 0), "there is room for three rounds");
        assert!(evictions_repeat(16, 0), "36 positions are enough for three, though not for four");
        assert!(!evictions_repeat(2, 7), "of six blocks seven cannot be slow");
        assert!(!evictions_repeat(30, 0), "22 positions are too few for a second round");
    }

    const STALL: Duration = Duration::from_millis(50);

    /// A block that is slow once may have stalled. Other writes decide.
    #[test]
    fn a_continuation_that_was_slow_once_is_no_evidence() {
        let first = 12 + 6 * 2 + 1;
        for stalled in [first, first + 7] {
            let writes = Cell::new(0);
            let mut device = TimedDevice::new(MemoryDevice::new(Bytes::mib(64)), |op| {
                let is_write = op.kind() == OpKind::Write;
                writes.update(|writes| writes + u32::from(is_write));
                if is_write && writes.get() == stalled { STALL } else { Duration::from_micros(100) }
            });
            let (continued, data) = after_writes(&mut device, SIZES, 2, |search, pool, sequential| {
                search.data.cells.clear();
                search.continue_each(pool, sequential, 6)
            });
            assert_eq!(continued, Ok(()));
            assert!(writes.get() >= first + 11, "{} writes", writes.get());
            let mut latencies = data.cells.iter().flat_map(|cell| cell.writes().map(|(_, latency)| latency));
            assert!(latencies.all(|latency| latency < STALL), "{:?}", data.cells);
        }
    }
}
