//! Erase blocks that are written in turn.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use crate::experiment::units::Units;
use crate::session::{Session, Stop, range};

/// Erase blocks that are written in turn, each from place to place.
///
/// Those already open stay in use: opening another one would close one of them.
#[derive(Debug)]
pub struct Pool {
    erase_block: Bytes,
    /// The size of each write.
    pub request: Bytes,
    /// The order of places inside each block.
    pub order: Order,
    /// How far apart the places of a block are.
    stride: Bytes,
    /// Whether each write is led by one over the place before.
    led: bool,
    members: Vec<Member>,
    taken: u32,
    /// So many places of each unit are written before the first of them is written again; 0: all are written once.
    written_before: u32,
    /// Where the first place of a unit begins.
    lead: Bytes,
    /// Units that were members until all their places were written, and where they lie.
    full: Vec<(u32, Bytes)>,
}

/// One erase block and the places still to be written, last first.
#[derive(Debug)]
struct Member {
    unit: u32,
    offset: Bytes,
    places: Vec<u32>,
}

/// One write into a pool.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    /// Which unit, counted in the order in which they were taken.
    pub unit: u32,
    /// How long it took; `None` if it failed.
    pub latency: Option<Duration>,
}

impl Pool {
    /// An empty pool.
    pub const fn new(erase_block: Bytes, request: Bytes, order: Order) -> Self {
        Self {
            erase_block,
            request,
            order,
            stride: request,
            led: false,
            members: Vec::new(),
            taken: 0,
            written_before: 0,
            lead: Bytes::ZERO,
            full: Vec::new(),
        }
    }

    /// An empty pool of units of which so many places were written just before, in one piece.
    pub fn written_before(self, places: u32) -> Self {
        Self { written_before: places, ..self }
    }

    /// An empty pool whose units' first places begin so far behind their start.
    pub fn behind(self, lead: Bytes) -> Self {
        Self { lead, ..self }
    }

    /// An empty pool of which only the start of each place is written, with requests of this size.
    pub fn starts_of_places(self, request: Bytes) -> Self {
        Self { request: request.min(self.stride), ..self }
    }

    /// Writes once into the member of this index; `None` if the device has no more fresh units.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write(
        &mut self,
        session: &mut Session<'_>,
        units: &mut Units,
        index: usize,
    ) -> Result<Option<Written>, Stop> {
        if self.members.get(index).is_none_or(|member| member.places.is_empty()) {
            let Some(member) = self.fresh(session, units)? else { return Ok(None) };
            if index < self.members.len() {
                let full = std::mem::replace(&mut self.members[index], member);
                self.full.push((full.unit, full.offset));
            } else {
                self.members.push(member);
            }
        }
        let member = &mut self.members[index];
        let Some(place) = member.places.pop() else { return Ok(None) };
        let (unit, offset) = (member.unit, member.offset);
        let mut latency = Some(Duration::ZERO);
        for place in if self.led { place.saturating_sub(1)..=place } else { place..=place } {
            let start = offset + self.lead + self.stride * u64::from(place);
            let took = session.write_through(range(start, self.request))?;
            latency = latency.zip(took).map(|(before, took)| before + took);
        }
        Ok(Some(Written { unit, latency }))
    }

    /// Begins a fresh unit out of order, with two writes behind its middle that lie apart: how long the slower one takes, since with the
    /// first alone it may not be opened. It is no member. `None` if the device has no more fresh units, a unit holds too little, or a write
    /// failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn begin_apart(
        &self,
        session: &mut Session<'_>,
        units: &mut Units,
    ) -> Result<Option<Duration>, Stop> {
        let middle = u64::from(places(self.erase_block, self.request)) / 2;
        if middle < PLACES_APART {
            return Ok(None);
        }
        let Some(offset) = units.take() else { return Ok(None) };
        let mut latency = Some(Duration::ZERO);
        for place in [middle + PLACES_APART / 2, middle] {
            let took = session.write_through(range(offset + self.request * place, self.request))?;
            latency = latency.zip(took).map(|(before, took)| before.max(took));
        }
        Ok(latency)
    }

    /// An empty pool whose units are numbered from this one on.
    pub fn numbered_from(self, first: u32) -> Self {
        Self { taken: first, ..self }
    }

    /// Goes on out of order in a member, with two writes of this size behind where its writing stands, at places of so much that lie apart:
    /// how long each took. In each turn at other places. `None` if it is no member, too little of it is left, or a write failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn go_on_apart(
        &self,
        session: &mut Session<'_>,
        unit: u32,
        (request, place): (Bytes, Bytes),
        turn: u64,
    ) -> Result<Option<(Duration, Duration)>, Stop> {
        let Some((offset, written)) = self.written_in(unit, place) else { return Ok(None) };
        let left = self.erase_block.saturating_sub(written) / place;
        let others = turn * PLACES_PER_TURN;
        if left < 2 * (PLACES_APART + 2 * others) {
            return Ok(None);
        }
        let mut took = [None; 2];
        for (took, behind) in took.iter_mut().zip([left - PLACES_APART - others, left / 2 + others]) {
            *took = session.write_through(range(offset + written + place * behind, request))?;
        }
        Ok(took[0].zip(took[1]))
    }

    /// Where the member that is this unit lies, and how far it was written, in whole places of so much.
    fn written_in(&self, unit: u32, place: Bytes) -> Option<(Bytes, Bytes)> {
        let member = self.members.iter().find(|member| member.unit == unit)?;
        let next = member.places.last()?;
        Some((member.offset, (self.lead + self.stride * u64::from(*next)).round_up(place)))
    }

    /// From now on each write is led by one over the place before it, as long as the requests have this size. In linear order only.
    pub const fn lead_each(&mut self) {
        self.led = true;
    }

    /// Writes what lies between where the writing of each of these members stands and the next place of larger requests, which then go on
    /// without a gap. In linear order only.
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
            let Some(next) = member.places.last() else { continue };
            let written = self.stride * u64::from(*next);
            let gap = written.round_up(larger) - written;
            if gap > Bytes::ZERO && written + gap < self.erase_block {
                session.write_through(range(member.offset + self.lead + written, gap))?;
            }
        }
        Ok(())
    }

    /// Writes what is left behind the last place of the member of this index, which was written, so that it gives its place back. False out of
    /// order, or where more than that is left.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write_rest(&self, session: &mut Session<'_>, index: usize) -> Result<bool, Stop> {
        let Some(member) = self.members.get(index).filter(|_| self.order == Order::Linear) else {
            return Ok(false);
        };
        if self.written_before > 0 {
            return Ok(false);
        }
        let all = places(self.erase_block.saturating_sub(self.lead), self.stride).max(2);
        let written = self.lead + self.stride * u64::from(all - 1);
        session.write_through(range(member.offset + written, self.erase_block.saturating_sub(written)))?;
        Ok(true)
    }

    /// Goes on with requests of another size, none of them led by another, from where each block's writing stands. In linear order only.
    pub fn set_request(&mut self, request: Bytes) {
        let count = places(self.erase_block, request).max(2) - 1;
        for member in &mut self.members {
            let written =
                member.places.last().map_or(self.erase_block, |next| self.stride * u64::from(*next));
            let next = places(written.round_up(request), request);
            member.places = (next..count).rev().collect();
        }
        (self.request, self.stride, self.led) = (request, request, false);
    }

    /// Sees to it that the first so many members have a place left: if one has not, or there are not so many, all begin again
    /// at their first place, under new numbers.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn prepare(&mut self, session: &mut Session<'_>, units: &mut Units, number: u32) -> Result<(), Stop> {
        let number = number as usize;
        let has_place = |member: &Member| !member.places.is_empty();
        if self.members.len() >= number && self.members.iter().take(number).all(has_place) {
            return Ok(());
        }
        while self.members.len() < number {
            let Some(member) = self.fresh(session, units)? else { break };
            self.members.push(member);
        }
        for index in 0..self.members.len() {
            let offset = self.members[index].offset;
            self.taken += 1;
            self.members[index] = self.member(offset, session);
        }
        Ok(())
    }

    /// The member that is this unit, and whether it has a place left.
    pub fn member_of(&self, unit: u32) -> Option<(usize, bool)> {
        let index = self.members.iter().position(|member| member.unit == unit)?;
        Some((index, !self.members[index].places.is_empty()))
    }

    /// Whether the member of this index has a place left.
    pub fn has_place(&self, index: usize) -> bool {
        self.members.get(index).is_some_and(|member| !member.places.is_empty())
    }

    /// Where the members lie.
    pub fn offsets(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.members.iter().map(|member| member.offset)
    }

    /// Where the unit lies that is a member, or was one until it was full.
    pub fn offset_of(&self, unit: u32) -> Option<Bytes> {
        let members = self.members.iter().map(|member| (member.unit, member.offset));
        members.chain(self.full.iter().copied()).find(|(other, _)| *other == unit).map(|(_, offset)| offset)
    }

    /// How many members it has.
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    fn fresh(&mut self, session: &mut Session<'_>, units: &mut Units) -> Result<Option<Member>, Stop> {
        let Some(offset) = units.take() else { return Ok(None) };
        self.taken += 1;
        if self.written_before > 0 {
            session
                .write_through(range(offset, self.lead * 2 + self.stride * u64::from(self.written_before)))?;
        }
        Ok(Some(self.member(offset, session)))
    }

    /// A unit to be written from its first place on. In order its last place is left out: what becomes of a block that is full
    /// differs from one controller to another. Out of order the places at its start and its end are left out: a
    /// run from the start, and one that reaches the end, may be closed for free. Of the others every second one is written,
    /// so that none goes on where another ended; and a block's log fills up and is merged, for which half the block is left.
    fn member(&self, offset: Bytes, session: &mut Session<'_>) -> Member {
        let all = places(self.erase_block.saturating_sub(self.lead), self.stride);
        let count = if self.written_before > 0 { self.written_before.min(all) } else { all };
        let places = match self.order {
            Order::Linear if self.written_before > 0 => (0..count).rev().collect(),
            Order::Linear => (u32::from(self.led)..count.max(2) - 1).rev().collect(),
            Order::Random => {
                let mut inner: Vec<u32> = (1..count.saturating_sub(1)).step_by(2).collect();
                session.shuffle(&mut inner);
                if count < FEW_PLACES && self.written_before == 0 {
                    let mut others: Vec<u32> = (2..count.saturating_sub(1)).step_by(2).collect();
                    session.shuffle(&mut others);
                    // The first of these does not go on behind the last of those.
                    if inner.first().is_some_and(|last| others.last() == Some(&(last + 1))) {
                        others.rotate_right(1);
                    }
                    others.append(&mut inner);
                    return Member { unit: self.taken.saturating_sub(1), offset, places: others };
                }
                inner
            }
        };
        Member { unit: self.taken.saturating_sub(1), offset, places }
    }
}

/// Half of a unit that is begun out of order holds so many places at least.
const PLACES_APART: u64 = 4;
/// A turn that goes on out of order leaves one place between itself and the turn before.
const PLACES_PER_TURN: u64 = 2;

/// Blocks of fewer places are written to their end out of order too, or too little would be seen of each.
const FEW_PLACES: u32 = 40;

/// How many requests fit into `length`.
fn places(length: Bytes, request: Bytes) -> u32 {
    u32::try_from(length / request).unwrap_or(u32::MAX)
}
