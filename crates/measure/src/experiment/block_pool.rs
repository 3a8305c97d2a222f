//! A pool of erase blocks that are written round-robin.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use crate::experiment::erase_blocks::EraseBlocks;
use crate::session::{Session, Stop, range};

/// Two random writes into half a unit lie at least four positions apart.
const POSITIONS_APART: u64 = 4;
/// Each round of random continuations moves on by two positions, so that one lies between its writes and
/// those of the round before.
const POSITIONS_PER_ROUND: u64 = 2;
/// Blocks of fewer positions are written to their end in random order too: half of them would be too few
/// writes for each.
const FEW_POSITIONS: u32 = 40;

/// Erase blocks that are written round-robin. Each is a row of positions, of one request each.
///
/// Open blocks stay in use: opening another one would close one of them.
#[derive(Debug)]
pub struct BlockPool {
    erase_block: Bytes,
    /// The size of each write.
    pub request: Bytes,
    /// The order of positions inside each block.
    pub order: Order,
    /// The distance of positions.
    stride: Bytes,
    /// Whether each write is preceded by one to the position before it.
    repeats_previous: bool,
    members: Vec<Member>,
    units_taken: u32,
    /// Positions of each unit that are written before the first of them is written again; 0: all are written
    /// once.
    prewritten: u32,
    /// The offset of a unit's first position.
    first_offset: Bytes,
    /// Units that were members until all their positions were written, and their offsets.
    filled: Vec<(u32, Bytes)>,
}

/// One erase block and the positions still to be written, the last one first.
#[derive(Debug)]
struct Member {
    unit: u32,
    offset: Bytes,
    positions: Vec<u32>,
}

/// One write into a pool.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    /// The number of the unit, counted in the order in which they were taken.
    pub unit: u32,
    /// The latency; `None` if it failed.
    pub latency: Option<Duration>,
}

impl BlockPool {
    /// An empty pool.
    pub const fn new(erase_block: Bytes, request: Bytes, order: Order) -> Self {
        Self {
            erase_block,
            request,
            order,
            stride: request,
            repeats_previous: false,
            members: Vec::new(),
            units_taken: 0,
            prewritten: 0,
            first_offset: Bytes::ZERO,
            filled: Vec::new(),
        }
    }

    /// The same, with `positions` positions of each new unit written first, in one request. A smaller unit is
    /// written whole.
    pub fn with_prewritten(self, positions: u32) -> Self {
        Self { prewritten: positions, ..self }
    }

    /// The same, with the first position of each unit at this offset.
    pub fn with_first_offset(self, first_offset: Bytes) -> Self {
        Self { first_offset, ..self }
    }

    /// The same, with smaller requests at the start of each position.
    pub fn with_request(self, request: Bytes) -> Self {
        Self { request: request.min(self.stride), ..self }
    }

    /// The same, with units numbered from this one on.
    pub fn numbered_from(self, first: u32) -> Self {
        Self { units_taken: first, ..self }
    }

    /// Writes once into the member of this index. `None` if no fresh block is left.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write(
        &mut self,
        session: &mut Session<'_>,
        blocks: &mut EraseBlocks,
        index: usize,
    ) -> Result<Option<Written>, Stop> {
        if self.members.get(index).is_none_or(|member| member.positions.is_empty()) {
            let Some(member) = self.fresh(session, blocks)? else { return Ok(None) };
            if index < self.members.len() {
                let filled = std::mem::replace(&mut self.members[index], member);
                self.filled.push((filled.unit, filled.offset));
            } else {
                self.members.push(member);
            }
        }
        let member = &mut self.members[index];
        let Some(position) = member.positions.pop() else { return Ok(None) };
        let (unit, offset) = (member.unit, member.offset);
        let mut latency = Some(Duration::ZERO);
        let first = if self.repeats_previous { position.saturating_sub(1) } else { position };
        for position in first..=position {
            let start = offset + self.first_offset + self.stride * u64::from(position);
            let took = session.write_through(range(start, self.request))?;
            latency = latency.zip(took).map(|(before, took)| before + took);
        }
        Ok(Some(Written { unit, latency }))
    }

    /// Continues a member with two separate writes beyond its last sequential one, and returns both
    /// latencies. `position` is the size of a position. Each round uses other positions. `None` if the unit
    /// is no member, has too few positions left, or a write failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn continue_randomly(
        &self,
        session: &mut Session<'_>,
        unit: u32,
        (request, position): (Bytes, Bytes),
        round: u64,
    ) -> Result<Option<(Duration, Duration)>, Stop> {
        let Some((offset, written)) = self.written_in(unit, position) else { return Ok(None) };
        let left = self.erase_block.saturating_sub(written) / position;
        let used = round * POSITIONS_PER_ROUND;
        if left < 2 * (POSITIONS_APART + 2 * used) {
            return Ok(None);
        }
        let mut latencies = [None; 2];
        for (latency, index) in latencies.iter_mut().zip([left - POSITIONS_APART - used, left / 2 + used]) {
            *latency = session.write_through(range(offset + written + position * index, request))?;
        }
        Ok(latencies[0].zip(latencies[1]))
    }

    /// The offset of the member with this unit, and the bytes written in it, rounded up to whole positions of
    /// this size.
    fn written_in(&self, unit: u32, position: Bytes) -> Option<(Bytes, Bytes)> {
        let member = self.members.iter().find(|member| member.unit == unit)?;
        let next = member.positions.last()?;
        let written = self.first_offset + self.stride * u64::from(*next);
        Some((member.offset, written.round_up(position)))
    }

    /// From now on each write is preceded by one to the position before it, as long as the requests have this
    /// size. Sequential pools only.
    pub const fn repeat_previous(&mut self) {
        self.repeats_previous = true;
    }

    /// Writes the gap in each of these members up to the next position of larger requests. Sequential pools
    /// only.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn fill_gaps(
        &self,
        session: &mut Session<'_>,
        indices: impl IntoIterator<Item = usize>,
        larger: Bytes,
    ) -> Result<(), Stop> {
        for member in indices.into_iter().filter_map(|index| self.members.get(index)) {
            let Some(next) = member.positions.last() else { continue };
            let written = self.stride * u64::from(*next);
            let gap = written.round_up(larger) - written;
            if gap > Bytes::ZERO && written + gap < self.erase_block {
                session.write_through(range(member.offset + self.first_offset + written, gap))?;
            }
        }
        Ok(())
    }

    /// Writes the rest of a member whose positions are all written, so that it frees its slot. False for a
    /// random pool, or if more of the member is left.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write_rest(&self, session: &mut Session<'_>, index: usize) -> Result<bool, Stop> {
        let Some(member) = self.members.get(index).filter(|_| self.order == Order::Linear) else {
            return Ok(false);
        };
        if self.prewritten > 0 {
            return Ok(false);
        }
        let all = positions(self.erase_block.saturating_sub(self.first_offset), self.stride).max(2);
        let written = self.first_offset + self.stride * u64::from(all - 1);
        session.write_through(range(member.offset + written, self.erase_block.saturating_sub(written)))?;
        Ok(true)
    }

    /// Continues each block with requests of another size, none of them preceded by another. Sequential pools
    /// only.
    pub fn set_request(&mut self, request: Bytes) {
        let count = positions(self.erase_block, request).max(2) - 1;
        for member in &mut self.members {
            let written =
                member.positions.last().map_or(self.erase_block, |next| self.stride * u64::from(*next));
            let next = positions(written.round_up(request), request);
            member.positions = (next..count).rev().collect();
        }
        (self.request, self.stride, self.repeats_previous) = (request, request, false);
    }

    /// Ensures that the first `number` members have room. If they have not, all members start again at their
    /// first position, under new unit numbers.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn prepare(
        &mut self,
        session: &mut Session<'_>,
        blocks: &mut EraseBlocks,
        number: u32,
    ) -> Result<(), Stop> {
        let number = number as usize;
        let has_room = |member: &Member| !member.positions.is_empty();
        if self.members.len() >= number && self.members.iter().take(number).all(has_room) {
            return Ok(());
        }
        while self.members.len() < number {
            let Some(member) = self.fresh(session, blocks)? else { break };
            self.members.push(member);
        }
        for index in 0..self.members.len() {
            let offset = self.members[index].offset;
            self.units_taken += 1;
            self.members[index] = self.member(offset, session);
        }
        Ok(())
    }

    /// The index of the member with this unit, and whether it has room.
    pub fn member_of(&self, unit: u32) -> Option<(usize, bool)> {
        let index = self.members.iter().position(|member| member.unit == unit)?;
        Some((index, !self.members[index].positions.is_empty()))
    }

    /// Whether the member of this index has a position left.
    pub fn has_room(&self, index: usize) -> bool {
        self.members.get(index).is_some_and(|member| !member.positions.is_empty())
    }

    /// The offsets of the members.
    pub fn offsets(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.members.iter().map(|member| member.offset)
    }

    /// The offset of a unit that is or was a member.
    pub fn offset_of(&self, unit: u32) -> Option<Bytes> {
        let members = self.members.iter().map(|member| (member.unit, member.offset));
        members.chain(self.filled.iter().copied()).find(|(other, _)| *other == unit).map(|(_, offset)| offset)
    }

    /// The number of members.
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    fn fresh(&mut self, session: &mut Session<'_>, blocks: &mut EraseBlocks) -> Result<Option<Member>, Stop> {
        let Some(offset) = blocks.take() else { return Ok(None) };
        self.units_taken += 1;
        if self.prewritten > 0 {
            let length = self.first_offset * 2 + self.stride * u64::from(self.prewritten);
            session.write_through(range(offset, length.min(self.erase_block)))?;
        }
        Ok(Some(self.member(offset, session)))
    }

    /// A unit to be written from its first position on.
    ///
    /// The last position of a sequential unit is left out: what happens to a full block differs between
    /// controllers. A random unit leaves out the first and the last position: a run from the start, or one
    /// that reaches the end, may be closed for free. Of the others every second one is written. So no write
    /// continues another one, and half the block is left when its log fills up.
    fn member(&self, offset: Bytes, session: &mut Session<'_>) -> Member {
        let all = positions(self.erase_block.saturating_sub(self.first_offset), self.stride);
        let count = if self.prewritten > 0 { self.prewritten.min(all) } else { all };
        let positions = match self.order {
            Order::Linear if self.prewritten > 0 => (0..count).rev().collect(),
            Order::Linear => (u32::from(self.repeats_previous)..count.max(2) - 1).rev().collect(),
            Order::Random => self.random_positions(count, session),
        };
        Member { unit: self.units_taken.saturating_sub(1), offset, positions }
    }

    fn random_positions(&self, count: u32, session: &mut Session<'_>) -> Vec<u32> {
        let mut odd: Vec<u32> = (1..count.saturating_sub(1)).step_by(2).collect();
        session.shuffle(&mut odd);
        if count >= FEW_POSITIONS || self.prewritten > 0 {
            return odd;
        }
        let mut even: Vec<u32> = (2..count.saturating_sub(1)).step_by(2).collect();
        session.shuffle(&mut even);
        // The first even position must not continue the last odd one.
        if odd.first().is_some_and(|last| even.last() == Some(&(last + 1))) {
            even.rotate_right(1);
        }
        even.append(&mut odd);
        even
    }
}

/// How many positions of this size fit into `length`.
fn positions(length: Bytes, request: Bytes) -> u32 {
    u32::try_from(length / request).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use flashscope_device::OpKind;
    use flashscope_device::layer::{Budget, Trace};
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::{Estimate, Silent};

    /// One more write would open the next block, or reach beyond the device.
    #[test]
    fn units_written_before_stay_inside_their_blocks() {
        let erase_block = Bytes::mib(1);
        for (request, order) in [(Bytes::kib(64), Order::Random), (Bytes::kib(24), Order::Linear)] {
            let mut device = Trace::new(MemoryDevice::new(Bytes::mib(32)));
            let mut blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
            let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
            let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
            let mut pool = BlockPool::new(erase_block, request, order).with_prewritten(48);
            while pool.write(&mut session, &mut blocks, pool.len()).unwrap().is_some() {}
            drop(session);
            let writes = device.records().iter().filter(|record| record.kind == OpKind::Write);
            let ranges: Vec<_> = writes.map(|record| record.range).collect();
            assert!(ranges.iter().any(|range| range.length > Bytes::kib(512)), "{ranges:?}");
            for range in ranges {
                let last = range.end().saturating_sub(Bytes::new(1));
                assert_eq!(range.offset / erase_block, last / erase_block, "{range:?}");
            }
        }
    }

    /// A write beyond the last position would open the next block, and one beside another continues it.
    #[test]
    fn rounds_of_random_continuations_meet_separate_positions_inside_the_block() {
        let (erase_block, request) = (Bytes::mib(1), Bytes::kib(16));
        let mut device = Trace::new(MemoryDevice::new(Bytes::mib(32)));
        let mut blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let mut pool = BlockPool::new(erase_block, request, Order::Linear);
        for _ in 0..3 {
            pool.write(&mut session, &mut blocks, 0).unwrap().unwrap();
        }
        let start = pool.offset_of(0).unwrap();
        let mut rounds = 0;
        while pool.continue_randomly(&mut session, 0, (request, request), rounds).unwrap().is_some() {
            rounds += 1;
        }
        drop(session);
        assert_eq!(rounds, 7, "of the 61 positions left, each round needs eight more");
        let writes = device.records().iter().filter(|record| record.kind == OpKind::Write);
        let mut positions: Vec<u64> =
            writes.map(|record| record.range.offset.saturating_sub(start) / request).collect();
        assert_eq!(positions.len(), 3 + 14);
        positions.sort_unstable();
        assert_eq!(positions[..3], [0, 1, 2]);
        assert!(positions[2..].windows(2).all(|pair| pair[1] - pair[0] >= 2), "{positions:?}");
        assert!(positions.last() < Some(&63), "{positions:?}");
    }

    /// A gap would leave the block open.
    #[test]
    fn the_rest_of_a_full_block_is_written_up_to_its_end() {
        let (erase_block, request) = (Bytes::mib(1), Bytes::kib(24));
        for first_offset in [Bytes::ZERO, Bytes::kib(16)] {
            let mut device = Trace::new(MemoryDevice::new(Bytes::mib(32)));
            let mut blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
            let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
            let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
            let pool = BlockPool::new(erase_block, request, Order::Linear);
            let mut pool = pool.with_first_offset(first_offset);
            pool.write(&mut session, &mut blocks, 0).unwrap().unwrap();
            while pool.has_room(0) {
                pool.write(&mut session, &mut blocks, 0).unwrap().unwrap();
            }
            assert_eq!(pool.write_rest(&mut session, 0), Ok(true));
            let start = pool.offset_of(0).unwrap();
            drop(session);
            let mut end = start + first_offset;
            for record in device.records().iter().filter(|record| record.kind == OpKind::Write) {
                assert_eq!(record.range.offset, end, "{first_offset}");
                end = record.range.end();
            }
            assert_eq!(end, start + erase_block, "{first_offset}");
        }
    }

    /// A run that ends with the data would leave nothing to merge.
    #[test]
    fn data_written_before_reaches_as_far_beyond_all_positions_as_before_them() {
        let (erase_block, page) = (Bytes::mib(1), Bytes::kib(16));
        let mut device = Trace::new(MemoryDevice::new(Bytes::mib(32)));
        let mut blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let pool = BlockPool::new(erase_block, page * 2, Order::Linear);
        let mut pool = pool.with_first_offset(page).with_prewritten(4);
        for _ in 0..4 {
            pool.write(&mut session, &mut blocks, 0).unwrap().unwrap();
        }
        let start = pool.offset_of(0).unwrap();
        drop(session);
        let writes = device.records().iter().filter(|record| record.kind == OpKind::Write);
        let pages: Vec<(u64, u64)> = writes
            .map(|record| (record.range.offset.saturating_sub(start) / page, record.range.length / page))
            .collect();
        assert_eq!(pages, [(0, 10), (1, 2), (3, 2), (5, 2), (7, 2)], "first page, and number of pages");
    }
}
