//! Rounds of writes into several erase blocks in turn, and when a round is clean.

use std::time::Duration;

use flashscope_device::Bytes;

use super::session::{Session, Stop, range};
use super::units::Units;
use crate::observation::Order;

/// From which latency on a write is taken to contain a merge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow(pub Duration);

impl Slow {
    /// A merge copies an erase block, a write a few pages: the two are apart by far more than a factor of four, and the
    /// published jitter of single writes stays below it.
    const FACTOR: u32 = 4;

    /// The threshold that follows from writes that contain no merge: their median, times [`Self::FACTOR`].
    #[must_use]
    pub fn beyond(unmerged: &[Duration]) -> Option<Self> {
        let mut sorted = unmerged.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).map(|median| Self(*median * Self::FACTOR))
    }

    /// The threshold for requests of another size, if time grows with size at most in proportion.
    #[must_use]
    pub fn scaled(self, from: Bytes, to: Bytes) -> Self {
        Self(self.0.mul_f64((to.as_f64() / from.as_f64()).max(1.0)))
    }

    /// What a write without a merge takes.
    #[must_use]
    pub fn unmerged(self) -> Duration {
        self.0 / Self::FACTOR
    }

    /// Whether a write of this latency contains a merge.
    #[must_use]
    pub fn is(self, latency: Duration) -> bool {
        latency > self.0
    }
}

/// Rounds of `open_units` writes each.
#[derive(Debug, Clone)]
pub struct Rounds {
    open_units: usize,
    /// The latency of each write, round after round.
    pub times: Vec<Duration>,
}

impl Rounds {
    /// Two clean rounds one after another decide for "fits": one could be luck of a merge that hides in the noise.
    const CLEAN: usize = 2;
    /// So many merges per unit without two clean rounds decide for "too many". Where the controller evicts a random
    /// block, a block left behind by an earlier trial is displaced with probability 1/K per merge, so that after 4 K
    /// merges the chance that N = K still looks unclean is exp(-4); the search confirms its answer with a second trial.
    pub const MISSES_PER_UNIT: u32 = 4;
    /// So many rounds in which every other write pays a merge decide as well: left-behind blocks never cost so much
    /// behind the second round.
    const HEAVY: usize = 3;
    /// Without a threshold (the very first trial) so many rounds are written.
    const FIRST: usize = 8;

    /// No round yet.
    #[must_use]
    pub const fn new(open_units: u32) -> Self {
        Self { open_units: open_units as usize, times: Vec::new() }
    }

    /// Rounds that were written before, with these latencies.
    #[must_use]
    pub const fn of(open_units: u32, times: Vec<Duration>) -> Self {
        Self { open_units: open_units as usize, times }
    }

    /// Completed rounds.
    #[must_use]
    pub const fn completed(&self) -> u32 {
        (self.times.len() / self.open_units) as u32
    }

    /// The number of merges in each round behind the first. (The first opens the blocks, and closes others.)
    fn merges(&self, slow: Slow) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.times
            .chunks_exact(self.open_units)
            .skip(1)
            .map(move |round| round.iter().filter(|time| slow.is(**time)).count())
    }

    /// Whether enough was seen; `slow` is unknown in the very first trial, of one unit in linear order.
    #[must_use]
    pub fn is_decided(&self, slow: Option<Slow>) -> bool {
        match slow {
            None => self.completed() as usize >= Self::FIRST,
            Some(_) => self.fits(slow).is_some(),
        }
    }

    /// Whether the units fit; `None` if that is open.
    #[must_use]
    pub fn fits(&self, slow: Option<Slow>) -> Option<bool> {
        let slow = slow?;
        if self
            .merges(slow)
            .collect::<Vec<_>>()
            .windows(Self::CLEAN)
            .any(|rounds| rounds.iter().all(|n| *n == 0))
        {
            return Some(true);
        }
        let heavy = |merges: &usize| merges * 2 >= self.open_units;
        if self
            .merges(slow)
            .skip(1)
            .collect::<Vec<_>>()
            .windows(Self::HEAVY)
            .any(|rounds| rounds.iter().all(heavy))
        {
            return Some(false);
        }
        let enough = self.open_units.max(2) * Self::MISSES_PER_UNIT as usize;
        (self.merges(slow).sum::<usize>() >= enough).then_some(false)
    }
}

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

    /// Writes once into each of the first `count` units. False if the device has no more fresh units.
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
            let place = member.places.pop().unwrap_or(0);
            let offset = member.offset + self.request * u64::from(place);
            // A failed write counts as one that never ended: it must not pass for a fast one.
            times.push(session.write(range(offset, self.request))?.unwrap_or(Duration::MAX / 1024));
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

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Slow = Slow(Duration::from_millis(16));

    fn rounds(open_units: u32, millis: &[u64]) -> Rounds {
        Rounds {
            times: millis.iter().copied().map(Duration::from_millis).collect(),
            ..Rounds::new(open_units)
        }
    }

    #[test]
    fn two_clean_rounds_behind_the_first_fit() {
        assert_eq!(rounds(2, &[300, 300, 4, 4, 4, 4]).fits(Some(SLOW)), Some(true));
        assert_eq!(rounds(2, &[4, 4, 4, 4]).fits(Some(SLOW)), None);
        assert_eq!(rounds(2, &[4, 4, 4, 4, 300, 4, 4, 4]).fits(Some(SLOW)), None);
    }

    #[test]
    fn merges_in_every_round_are_too_many() {
        let mut millis = vec![4; 4];
        millis.extend([300, 4, 4, 4].repeat(15));
        assert_eq!(rounds(4, &millis).fits(Some(SLOW)), None);
        millis.extend([300, 4, 4, 4]);
        assert_eq!(rounds(4, &millis).fits(Some(SLOW)), Some(false));
        assert_eq!(rounds(2, &[300; 8]).fits(Some(SLOW)), None);
        assert_eq!(rounds(2, &[300; 10]).fits(Some(SLOW)), Some(false));
    }
}
