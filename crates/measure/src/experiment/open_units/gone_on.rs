//! Out of order in the blocks that are open in order: each of them is gone on with out of order, and then fresh ones are begun, until that
//! costs a merge. See docs/methods/open-units.md.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::laws::Law;
use flashscope_infer::open_blocks::posterior::Belief;
use flashscope_record::observation::{OpenUnitsCell, Order};

use crate::experiment::open_units::{Search, TIME_MAX, oldest_first};
use crate::experiment::pool::Pool;
use crate::session::{Stop, fill, range};

/// From so many open blocks on this is tried: that one or two fit is told by a few writes into them in turn.
const NUMBER_MIN: u32 = 3;
/// So many behind the last that cost nothing are enough, all but one of which cost something,
const BEYOND: u32 = 4;
/// and no more where stalls make that likely by themselves,
const BEYOND_MAX: u32 = 8;
/// which is more than this.
const BY_CHANCE: f64 = 0.002;
/// The largest block that is written to its end to give back its place; one that is larger goes by chance.
const WHOLE_MAX: Bytes = Bytes::mib(32);
/// Turns of as many as fit, until all of them are open, where one of them at most is not; and where another holds a place, which goes with
/// one merge in as many as there are, some two of which come in a turn.
const TURNS: u32 = 4;
const TURNS_PER_PLACE: u32 = 3;
/// Nothing is tried unless so many can be afforded.
const TURNS_AFFORDED: u64 = 3;
/// So many turns of all that were gone on with, some of which were slow, unless so much is written.
const VERIFIED: u64 = 3;
const VERIFIED_BYTES: Bytes = Bytes::mib(24);

/// How many requests this takes at most.
pub(super) const fn requests_max(units_max: u32) -> u64 {
    (units_max as u64 + BEYOND_MAX as u64) * (5 + VERIFIED * 2)
        + TURNS_PER_PLACE as u64 * units_max as u64 * units_max as u64
}

impl Search<'_, '_> {
    /// Goes on out of order in each of the blocks that are open in order, where so many were seen open; none of them wants for a place,
    /// unless fewer fit out of order. Whether that tells how many do.
    pub(super) fn go_on_out_of_order(&mut self, pool: &mut Pool, linear: &Belief) -> Result<bool, Stop> {
        let (number, most) = (linear.verdict().number, self.experiment.units_max);
        // Small steps are what a log completes, which takes nothing out of order for free. What takes small requests elsewhere takes those
        // that fill a gap too: then blocks are out of order that were to be open in order.
        let leaves_gaps = self.data.led && linear.law(Law::Any) > 0.5;
        let turns = self.request * u64::from(number) * TURNS_AFFORDED;
        if number < NUMBER_MIN
            || leaves_gaps
            || self.session.bytes_written() + turns > self.experiment.bytes_max
            || linear.slowness().is_small()
            || !self.open_all(pool, linear, number)?
        {
            return Ok(false);
        }
        let cells = std::mem::take(&mut self.data.cells);
        let gone_on = self.go_on_in_each(pool, linear, number);
        self.data.gone_on = std::mem::replace(&mut self.data.cells, cells);
        gone_on?;
        Ok(evidence::given_back_tells(&self.data.gone_on, linear, most).is_some())
    }

    /// First in the blocks of the search. Some of them may be full, or slow: that may be the price of what was written to them in order, or
    /// of a gap that smaller requests left. Then, where the block written longest ago goes, fresh ones that are begun out of order tell,
    /// and where any goes, whether turns of all of them are as slow.
    fn go_on_in_each(&mut self, pool: &Pool, linear: &Belief, number: u32) -> Result<(), Stop> {
        let mut random = evidence::given_back(&[], linear, self.experiment.units_max);
        let mut units: Vec<u32> = linear.latest().take(number as usize).collect();
        units.reverse();
        let (size, beyond) = (self.size(), beyond(linear.stalls()));
        let (mut gone_on, mut slow, mut is_full) = (0, 0, false);
        for (opened, unit) in (0..).zip(&units) {
            let Some(took) = pool.go_on_apart(&mut self.session, *unit, size, 0)? else {
                is_full = true;
                break;
            };
            self.begun.extend(pool.offset_of(*unit));
            self.keep_apart(opened + 1, opened, took, &mut random);
            gone_on += 1;
            slow += usize::from(random.slowness().is_slow(took.0.max(took.1)));
            if random.openings_were_slow(beyond) {
                break;
            }
        }
        if slow == 0 && !is_full {
            let begun = self.pool(Order::Random).numbered_from(number);
            return self.begin_beyond(begun, (number, beyond), &mut random);
        }
        let any_goes = linear.law(Law::Any) > 0.5;
        if any_goes && !is_full && self.are_closed_in_turns(pool, &units[..gone_on], slow, &mut random)? {
            return Ok(());
        }
        self.data.cells.clear();
        if !any_goes && self.may_open_anew(linear, number) {
            return self.begin_anew_out_of_order(linear, number);
        }
        Ok(())
    }

    /// The size of what is written, and of the place that it takes.
    const fn size(&self) -> (Bytes, Bytes) {
        (self.request, self.experiment.request)
    }

    /// Whether turns of these blocks meet so many each that were closed: if no more of them fit, as many are before each turn. The turns are
    /// kept: what comes again in each of them is no stall.
    fn are_closed_in_turns(
        &mut self,
        pool: &Pool,
        units: &[u32],
        closed: usize,
        random: &mut Belief,
    ) -> Result<bool, Stop> {
        let size = self.size();
        if units.len() <= BEYOND as usize {
            return Ok(false);
        }
        let writes = u64::try_from(units.len()).unwrap_or(u64::MAX) * 2;
        let in_turn = u32::try_from(units.len()).unwrap_or(u32::MAX);
        for turn in 1..=VERIFIED {
            if self.request * writes * turn > VERIFIED_BYTES {
                return Ok(turn > 1);
            }
            let mut slow = 0;
            for (index, unit) in (0..).zip(units) {
                let Some(took) = pool.go_on_apart(&mut self.session, *unit, size, turn)? else {
                    return Ok(false);
                };
                slow += usize::from(random.slowness().is_slow(took.0.max(took.1)));
                self.keep_apart(in_turn, index, took, random);
            }
            if slow < closed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fresh blocks that are begun out of order, which closes all that were open before, those out of order among them; and then gone on with:
    /// two writes more into each want for a place only if fewer fit out of order.
    fn begin_anew_out_of_order(&mut self, linear: &Belief, number: u32) -> Result<(), Stop> {
        let (mut random, beyond) =
            (evidence::given_back(&[], linear, self.experiment.units_max), beyond(linear.stalls()));
        let mut pool = self.pool(Order::Random);
        for index in 0..number as usize {
            pool.write(&mut self.session, &mut self.units, index)?;
        }
        for unit in 0..number {
            let mut took = [None; 2];
            for took in &mut took {
                let written = pool.write(&mut self.session, &mut self.units, unit as usize)?;
                *took = written.and_then(|written| written.latency);
            }
            let Some(took) = took[0].zip(took[1]) else { return Ok(()) };
            self.keep_apart(unit + 1, unit, took, &mut random);
            if random.openings_were_slow(beyond) {
                return Ok(());
            }
        }
        let begun = self.pool(Order::Random).numbered_from(number);
        self.begin_beyond(begun, (number, beyond), &mut random)
    }

    /// Fresh blocks beyond as many as are open: all places are taken.
    fn begin_beyond(
        &mut self,
        mut begun: Pool,
        (number, beyond): (u32, u32),
        random: &mut Belief,
    ) -> Result<(), Stop> {
        for opened in number + 1..=number + beyond {
            if !self.open(&mut begun, opened, random)? {
                break;
            }
        }
        self.begun.extend(begun.offsets());
        Ok(())
    }

    /// Whether there are as many fresh blocks, which take no longer to be opened than is left.
    fn may_open_anew(&self, linear: &Belief, number: u32) -> bool {
        let opening = linear.merge_seconds().unwrap_or(0.0) + linear.slowness().typical_seconds();
        let takes = Duration::try_from_secs_f64(opening * f64::from(number)).unwrap_or(Duration::MAX);
        self.units.left() >= u64::from(number + beyond(linear.stalls()))
            && self.session.device_time() + takes < TIME_MAX
    }

    /// Writes into so many blocks in turn until all are open; whether they are. Where the block written longest ago goes, one turn sees to
    /// that. Where any has to go, the one that is too many is written whole first.
    fn open_all(&mut self, pool: &mut Pool, linear: &Belief, number: u32) -> Result<bool, Stop> {
        let erase_block = self.experiment.erase_block;
        let any_goes = linear.law(Law::Any) > 0.5;
        let mut turns = TURNS;
        let surveyed = oldest_first(pool, linear, number as usize + 1);
        pool.fill_gaps(&mut self.session, surveyed, self.request)?;
        pool.set_request(self.request);
        if any_goes {
            let too_many = linear.longest_ago_of(number + 1).and_then(|(unit, _)| pool.offset_of(unit));
            match too_many {
                Some(offset) if erase_block <= WHOLE_MAX => {
                    fill(&mut self.session, range(offset, erase_block))?;
                }
                _ => turns = TURNS_PER_PLACE * number,
            }
        }
        // Other requests went elsewhere in between: what has to be opened again tells nothing, so that the belief hears no word. Those that are
        // open still come first, so that what is opened again closes none of them.
        let units = linear.latest().take(number as usize);
        let Some(indices) = units.map(|unit| Some(pool.member_of(unit)?.0)).collect::<Option<Vec<usize>>>()
        else {
            return Ok(false);
        };
        if any_goes {
            return self.open_in_turn(pool, &indices, turns + 1, linear.slowness());
        }
        let have_places = indices.iter().all(|index| pool.has_place(*index));
        if have_places {
            self.open_in_turn(pool, &indices, 1, linear.slowness())?;
        }
        Ok(have_places)
    }

    /// Either of two writes may take the place out of order, the quicker one did not: it stands for the first.
    fn keep_apart(
        &mut self,
        in_turn: u32,
        unit: u32,
        (one, other): (Duration, Duration),
        random: &mut Belief,
    ) {
        for latency in [one.min(other), one.max(other)] {
            let kept = (Order::Random, in_turn, self.request);
            OpenUnitsCell::keep(&mut self.data.cells, kept, unit, latency);
            random.write(unit, latency);
        }
    }
}

/// So many openings, all but one of which were slow, are hardly made by stalls alone, which hold up this share of all writes: of two writes
/// into a block either may be.
fn beyond(stalls: f64) -> u32 {
    let slow = 1.0 - (1.0 - stalls).powi(2);
    let by_chance = |openings: u32| {
        let others = slow.powf(f64::from(openings - 1));
        others * (slow + f64::from(openings) * (1.0 - slow))
    };
    (BEYOND..BEYOND_MAX).find(|openings| by_chance(*openings) <= BY_CHANCE).unwrap_or(BEYOND_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_writes_stall_more_slow_openings_are_asked_for() {
        assert_eq!([0.0, 0.02, 0.05, 0.13, 0.3].map(beyond), [4, 4, 5, 7, 8]);
    }
}
