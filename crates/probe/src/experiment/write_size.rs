//! *write-size*: how large must a write be to be fast? A ladder from the sector to several erase blocks.
//!
//! Below the effective page a write costs as much as the page; at the page the cost per byte falls. Each rung writes
//! fresh erase blocks, once in linear order and once shuffled. See docs/methods/write-size.md.

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::session::{Session, Stop, conditions, range};
use super::units::Units;
use super::{Estimate, Experiment, Observer};
use crate::observation::{Data, Ended, Observations, Order, Times, WriteSizeCell, WriteSizeData};

/// Writes per rung: enough for a median, few enough that the slowest stick (1 s a write) ends within minutes.
const WRITES: u64 = 24;
/// Once a rung has written so much, the figure is clear.
const RUNG_BYTES: Bytes = Bytes::mib(8);
/// The ladder ends at so many erase blocks.
const ERASE_BLOCKS_MAX: u64 = 4;

/// Where rungs of 3 x 2^n stand between the powers of two: around every page that was ever seen.
const TRIPLES: std::ops::RangeInclusive<Bytes> = Bytes::kib(6)..=Bytes::kib(384);

/// The experiment *write-size*.
#[derive(Debug, Clone, Copy)]
pub struct WriteSize {
    /// The erase block: rungs start at its multiples.
    pub erase_block: Bytes,
    /// Whether the erase block was found, or is a guess.
    pub erase_block_is_known: bool,
    /// The seed of data and order.
    pub seed: u64,
}

impl WriteSize {
    fn sizes(self, device: &dyn Device) -> Vec<Bytes> {
        let capabilities = device.capabilities();
        let largest = (self.erase_block * ERASE_BLOCKS_MAX)
            .min(capabilities.max_request)
            .min(capabilities.capacity / 8);
        let block = capabilities.logical_block;
        let doubling =
            std::iter::successors(Some(block), |size| Some(*size * 2)).take_while(|size| *size <= largest);
        // Pages of 3 x 2^n show only on rungs of 3 x 2^n.
        let between = |size: Bytes| {
            let middle = size * 3 / 2;
            (TRIPLES.contains(&middle) && middle.is_multiple_of(block) && middle <= largest).then_some(middle)
        };
        doubling.flat_map(|size| [Some(size), between(size)]).flatten().collect()
    }
}

/// How many writes of `size` a rung makes in each order: at least two up to the erase block, one beyond. Shuffling a
/// single position says nothing, so that order ends at half the erase block.
fn writes(size: Bytes, order: Order, erase_block: Bytes) -> u64 {
    let least = if size <= erase_block { 2 } else { 1 };
    let enough = (RUNG_BYTES / size).clamp(least, WRITES);
    match order {
        Order::Linear => enough,
        Order::Random if size * 2 <= erase_block => enough.min(erase_block / size),
        Order::Random => 0,
    }
}

impl Experiment for WriteSize {
    fn name(&self) -> &'static str {
        "write-size"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let mut estimate = Estimate::default();
        for size in self.sizes(device) {
            for order in [Order::Linear, Order::Random] {
                let count = writes(size, order, self.erase_block);
                estimate.requests += count;
                estimate.bytes_written += size * count;
            }
        }
        estimate
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let erase_block = self.erase_block_is_known.then_some(self.erase_block);
        let mut data = WriteSizeData { erase_block, cells: Vec::new() };
        let sizes = self.sizes(device);
        let needed: u64 = sizes.iter().map(|size| units_per_rung(*size, self.erase_block) * 2).sum();
        let mut units = Units::new(device, self.erase_block, needed);
        if let Some(reason) = why_not(device, &units) {
            let conditions = conditions(device, self.seed);
            return Observations {
                data: Data::WriteSize(data),
                conditions,
                ended: Ended::NotStarted { reason },
            };
        }
        let estimate = self.estimate(device);
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut result = Ok(());
        for (size, order) in sizes.iter().flat_map(|size| [(*size, Order::Linear), (*size, Order::Random)]) {
            result = self.rung(&mut session, &mut units, size, order, &mut data.cells);
            if result.is_err() {
                break;
            }
        }
        let (conditions, ended) = session.end(result);
        Observations { data: Data::WriteSize(data), conditions, ended }
    }
}

/// The smallest erase block that the experiments take: sixteen requests of 4 KiB.
const ERASE_BLOCK_MIN: Bytes = Bytes::kib(64);

/// Why a writing experiment cannot begin on this device, if it cannot.
pub fn why_not(device: &dyn Device, units: &Units) -> Option<String> {
    let capabilities = device.capabilities();
    if !capabilities.writable {
        return Some("the device was opened read-only; this experiment writes".to_owned());
    }
    if units.erase_block() < ERASE_BLOCK_MIN {
        return Some(format!(
            "an erase block of {} is below any that was ever seen ({ERASE_BLOCK_MIN})",
            units.erase_block()
        ));
    }
    (units.left() < 2)
        .then(|| format!("{} hold fewer than two erase blocks to write to", capabilities.capacity))
}

fn units_per_rung(size: Bytes, erase_block: Bytes) -> u64 {
    (size * writes(size, Order::Linear, erase_block)).round_up(erase_block) / erase_block.max(Bytes::new(1))
}

impl WriteSize {
    /// Writes one rung and keeps what was seen, also when it is cut short.
    fn rung(
        &self,
        session: &mut Session<'_>,
        units: &mut Units,
        size: Bytes,
        order: Order,
        cells: &mut Vec<WriteSizeCell>,
    ) -> Result<(), Stop> {
        let mut offsets = self.offsets(units, size, order);
        if order == Order::Random {
            session.shuffle(&mut offsets);
        }
        let mut times = Vec::with_capacity(offsets.len());
        let result = offsets.into_iter().try_for_each(|offset| {
            times.extend(session.write(range(offset, size))?);
            Ok(())
        });
        if !times.is_empty() {
            cells.push(WriteSizeCell { order, request: size, times: Times::Each(times) });
        }
        result
    }

    /// Where a rung writes: consecutive places from the start of fresh erase blocks; in random order, before the shuffle,
    /// places evenly spread over one erase block.
    fn offsets(&self, units: &mut Units, size: Bytes, order: Order) -> Vec<Bytes> {
        let count = writes(size, order, self.erase_block);
        if count == 0 {
            return Vec::new();
        }
        let (per_unit, blocks_per_write) = if size <= self.erase_block {
            (self.erase_block / size, 1)
        } else {
            (1, size.round_up(self.erase_block) / self.erase_block)
        };
        let spread = if order == Order::Random { (per_unit / count).max(1) } else { 1 };
        let mut offsets = Vec::new();
        while (offsets.len() as u64) < count {
            let Some(unit) = units.take_adjacent(blocks_per_write) else { break };
            let places = (count - offsets.len() as u64).min(per_unit);
            offsets.extend((0..places).map(|place| unit + size * (place * spread)));
        }
        offsets
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::experiment::Silent;

    #[test]
    fn the_ladder_reaches_from_the_sector_to_four_erase_blocks() {
        let mut device = MemoryDevice::new(Bytes::mib(512));
        let experiment = WriteSize { erase_block: Bytes::mib(1), erase_block_is_known: true, seed: 1 };
        let estimate = experiment.estimate(&device);
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let Data::WriteSize(data) = seen.data else { panic!("write-size saw something else") };
        let sizes: Vec<_> =
            data.cells.iter().filter(|cell| cell.order == Order::Linear).map(|cell| cell.request).collect();
        assert_eq!(sizes.first(), Some(&Bytes::new(512)));
        assert_eq!(sizes.last(), Some(&Bytes::mib(4)));
        let written: u64 = data
            .cells
            .iter()
            .map(|cell| match &cell.times {
                Times::Each(each) => each.len() as u64,
                Times::Mean { .. } => 0,
            })
            .sum();
        assert_eq!(written, estimate.requests);
    }

    #[test]
    fn a_read_only_device_is_refused_in_words() {
        let mut device = flashscope_device::layer::ReadOnly::new(MemoryDevice::new(Bytes::mib(64)));
        let experiment = WriteSize { erase_block: Bytes::mib(1), erase_block_is_known: true, seed: 1 };
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { reason } if reason.contains("read-only")));
    }
}
