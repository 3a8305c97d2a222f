//! Does the controller collect garbage while a single block is written, and do pages out of sequence cost
//! anything? A layer that maps single pages collects, and takes pages in any order. See
//! docs/methods/open-units.md.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::garbage_collection::collection_times_s;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::open_blocks::{evidence, garbage_collection};
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::observation::{OpenUnitsCell, Order, Times};

use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::Search;
use crate::limits::LARGE_REQUEST;
use crate::session::{Stop, range};

/// The limit of bytes written, if the search left as many. Guess.
pub(super) const BYTES_MAX: Bytes = Bytes::mib(24);
/// The least limit, whatever the search left. Guess.
const BYTES_MIN: Bytes = Bytes::mib(6);
/// Limits the device time. Guess.
const TIME_MAX: Duration = Duration::from_secs(60);
/// The test ends after ten collections.
const COLLECTIONS_MAX: usize = 10;
/// The request size is doubled after 24 writes with fewer than two collections,
/// up to [`LARGE_REQUEST`].
const WRITES_PER_SIZE: u32 = 24;
const COLLECTIONS_PER_SIZE: usize = 2;
/// Five slow writes into one block alone, and one in six, may have another cause than other blocks. Guess.
const SLOW_ALONE_MIN: usize = 5;
const WRITES_PER_SLOW_ALONE: usize = 6;
/// Writes of pages out of sequence.
const SCATTERED: u64 = 12;
/// Limits the writes if blocks are so small that the size is seldom doubled. Guess.
const WRITES_MAX: u64 = 512;

/// The most requests this test takes.
pub(super) const REQUESTS_MAX: u64 = WRITES_MAX + SCATTERED;

impl Search<'_, '_> {
    /// Whether slow writes of the search came so evenly that they may be collections.
    pub(super) fn is_evenly_slow(&self, sequential: &Posterior) -> bool {
        let sequences = evidence::write_sequences(self.data);
        let last = sequences.last();
        last.is_some_and(|last| garbage_collection::is_evenly_slow(last, sequential.classifier()))
    }

    /// Whether writes into one block alone, in the baseline and the controls, were slow too often for stalls.
    pub(super) fn is_slow_in_one_block(&self, classifier: SlowClassifier) -> bool {
        if !self.data.larger.is_empty() || !self.data.appended.is_empty() {
            return false;
        }
        let is_alone = |cell: &&OpenUnitsCell| cell.order == Order::Linear && cell.open_units == 1;
        // The first write into a block may close another one. Controls leave it out.
        let first = self.data.cells.first().into_iter().filter(is_alone);
        let in_baseline = first.flat_map(|cell| cell.writes().skip(1).map(|(_, latency)| latency));
        let in_controls = self.data.controls.iter().flat_map(Times::each).copied();
        let slow: Vec<bool> =
            in_baseline.chain(in_controls).map(|latency| classifier.is_slow(latency)).collect();
        let number = slow.iter().filter(|slow| **slow).count();
        number >= SLOW_ALONE_MIN && number * WRITES_PER_SLOW_ALONE >= slow.len()
    }

    /// Writes one block after the other from start to end, with growing requests, until enough collections
    /// were seen. Then writes separate pages of one block from its end to its start.
    pub(super) fn provoke_collections(&mut self) -> Result<(), Stop> {
        self.write_sequentially()?;
        if collection_times_s(&self.data.one_run).is_empty() {
            return Ok(());
        }
        let (page, erase_block) = (self.experiment.mapping_unit_min(), self.experiment.erase_block);
        let Some(block) = self.blocks.take() else { return Ok(()) };
        let pages = (erase_block / page / 2).min(SCATTERED);
        for index in (0..pages).rev() {
            let latency = self.session.write_through(range(block + page * (index * 2), page))?;
            self.data.scattered.extend(latency);
        }
        Ok(())
    }

    fn write_sequentially(&mut self) -> Result<(), Stop> {
        let (page, erase_block) = (self.experiment.mapping_unit_min(), self.experiment.erase_block);
        let (time_before, bytes_before) = (self.session.device_time(), self.session.bytes_written());
        let left = self.experiment.bytes_max.saturating_sub(bytes_before).clamp(BYTES_MIN, BYTES_MAX);
        let mut pool = BlockPool::new(erase_block, page, Order::Linear);
        if left / erase_block >= self.blocks.left() {
            self.blocks.restart();
        }
        let (mut writes_of_size, mut writes) = (0, 0);
        while writes < WRITES_MAX && self.session.device_time() < time_before + TIME_MAX {
            let seen = collection_times_s(&self.data.one_run).len();
            let is_spent = self.session.bytes_written() + pool.request > bytes_before + left;
            if seen >= COLLECTIONS_MAX || is_spent {
                break;
            }
            let Some(written) = pool.write(&mut self.session, &mut self.blocks, 0)? else { break };
            let key = (Order::Linear, 1, pool.request);
            if let Some(latency) = written.latency {
                OpenUnitsCell::keep(&mut self.data.one_run, key, written.unit, latency);
            }
            writes += 1;
            writes_of_size += 1;
            if writes_of_size == WRITES_PER_SIZE {
                writes_of_size = 0;
                let seen = self.data.one_run.last().map_or(0, |last| collection_times_s([last]).len());
                if seen < COLLECTIONS_PER_SIZE && pool.request * 2 <= LARGE_REQUEST.min(erase_block / 4) {
                    pool.set_request(pool.request * 2);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::OpKind;
    use flashscope_device::layer::{Budget, Trace};
    use flashscope_device::memory::{MemoryDevice, TimedDevice};
    use flashscope_record::observation::OpenUnitsData;

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::experiment::erase_blocks::EraseBlocks;
    use crate::experiment::open_units::OpenUnits;
    use crate::session::Session;

    fn is_slow_in_one_block(mut data: OpenUnitsData) -> bool {
        let erase_block = Bytes::mib(1);
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let search = Search::new(OpenUnits::new(erase_block, None, 1), session, blocks, &mut data);
        let usual = SlowClassifier::from_baseline(&[Duration::from_millis(1); 12]).unwrap();
        search.is_slow_in_one_block(usual)
    }

    /// A search that was repeated, or continued with smaller requests, began among other open blocks.
    #[test]
    fn slow_writes_of_a_baseline_count_if_the_search_was_the_first() {
        let times = [1, 50].repeat(6).into_iter().map(Duration::from_millis).collect();
        let key = (Order::Linear, 1, Bytes::kib(64));
        let cells = vec![OpenUnitsCell::round_robin(key, Times::Each(times))];
        let first = OpenUnitsData { cells: cells.clone(), ..OpenUnitsData::default() };
        let smaller = OpenUnitsData { larger: cells.clone(), ..first.clone() };
        let repeated = OpenUnitsData { appended: cells, ..first.clone() };
        assert_eq!([first, smaller, repeated].map(is_slow_in_one_block), [true, false, false]);
    }

    /// A page that follows the one before it would show nothing of pages out of sequence.
    #[test]
    fn separate_pages_of_one_fresh_block_are_written_from_its_end_to_its_start() {
        let (erase_block, page) = (Bytes::mib(1), Bytes::kib(64));
        let mut writes = 0_u32;
        // Every seventh write collects garbage.
        let device = TimedDevice::new(MemoryDevice::new(Bytes::mib(64)), |op| {
            writes += u32::from(op.modifies());
            Duration::from_millis(if op.modifies() && writes.is_multiple_of(7) { 50 } else { 1 })
        });
        let mut device = Trace::new(device);
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData::default();
        let mut search = Search::new(OpenUnits::new(erase_block, None, 1), session, blocks, &mut data);
        search.provoke_collections().unwrap();
        drop(search);
        let writes = device.records().iter().filter(|record| record.kind == OpKind::Write);
        let offsets: Vec<Bytes> = writes.map(|record| record.range.offset).collect();
        let (before, scattered) = offsets.split_at(offsets.len() - 8);
        let block = scattered[0].round_down(erase_block);
        assert_eq!(scattered, [14, 12, 10, 8, 6, 4, 2, 0].map(|index| block + page * index));
        assert!(before.iter().all(|offset| offset.round_down(erase_block) != block), "{block}: {before:?}");
    }
}
