//! Erase blocks that are written in turn.

use std::time::Duration;

use flashscope_device::Bytes;

use super::session::{Session, Stop, range};
use super::units::Units;
use crate::observation::Order;

/// Erase blocks that are written in turn, each from place to place.
#[derive(Debug)]
pub struct Pool {
    erase_block: Bytes,
    /// The size of each write.
    pub request: Bytes,
    /// The order of places inside each block.
    pub order: Order,
    members: Vec<Member>,
}

/// One erase block and the places still to be written, last first.
#[derive(Debug)]
struct Member {
    offset: Bytes,
    places: Vec<u32>,
}

impl Pool {
    /// An empty pool.
    pub const fn new(erase_block: Bytes, request: Bytes, order: Order) -> Self {
        Self { erase_block, request, order, members: Vec::new() }
    }

    /// Writes once into each of the first `count` units. False if the device has no more fresh units. A round in which a
    /// write failed tells nothing and is left out.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn round(
        &mut self,
        session: &mut Session<'_>,
        units: &mut Units,
        count: u32,
        times: &mut Vec<Duration>,
    ) -> Result<bool, Stop> {
        let mut round = Vec::with_capacity(count as usize);
        for index in 0..count as usize {
            if self.members.get(index).is_none_or(|member| member.places.is_empty()) {
                let Some(member) = self.fresh(session, units) else { return Ok(false) };
                if index < self.members.len() {
                    self.members[index] = member;
                } else {
                    self.members.push(member);
                }
            }
            let member = &mut self.members[index];
            let Some(place) = member.places.pop() else { return Ok(false) };
            let offset = member.offset + self.request * u64::from(place);
            round.extend(session.write(range(offset, self.request))?);
        }
        if round.len() == count as usize {
            times.append(&mut round);
        }
        Ok(true)
    }

    /// Goes on with requests of another size from where each block's writing stands. In linear order only.
    pub fn set_request(&mut self, request: Bytes) {
        let count = places(self.erase_block, request);
        for member in &mut self.members {
            let written =
                member.places.last().map_or(self.erase_block, |next| self.request * u64::from(*next));
            let next = places(written.round_up(request), request);
            member.places = (next..count).rev().collect();
        }
        self.request = request;
    }

    fn fresh(&self, session: &mut Session<'_>, units: &mut Units) -> Option<Member> {
        let offset = *units.take(1)?.first()?;
        let mut places: Vec<u32> = (0..places(self.erase_block, self.request)).rev().collect();
        if self.order == Order::Random {
            session.shuffle(&mut places);
        }
        Some(Member { offset, places })
    }
}

/// How many requests fit into `length`.
fn places(length: Bytes, request: Bytes) -> u32 {
    u32::try_from(length / request).unwrap_or(u32::MAX)
}
