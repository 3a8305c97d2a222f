//! The number of units that fit in each order.

use flashscope_record::observation::Order;

use super::kind::LayerKind;
use super::weighed::Search;
use crate::open_blocks::eviction::EvictionLaw;
use crate::thresholds::{GRANTED, LITTLE, SEVERAL};

/// Above the probability [`GRANTED`], one in this many units, or one, need not have been seen open. Guess.
const UNSEEN_SHARE: u32 = 10;

impl Search<'_> {
    /// Whether the layer maps less than an erase block at once. A layer with a single open block looks the
    /// same in blocks of a wrong size.
    pub fn maps_less(&self) -> bool {
        match self.kind {
            LayerKind::Log => self.fits(Order::Linear).is_some_and(|fits| fits > 1),
            LayerKind::Collected(_) => true,
            _ => false,
        }
    }

    /// The number of units that fit, if one was found.
    pub fn fits(&self, order: Order) -> Option<u32> {
        match (self.kind, order) {
            (LayerKind::OneRun, Order::Linear) => return Some(1),
            (LayerKind::OneRun, Order::Random) | (LayerKind::Collected(_), _) => {
                return None;
            }
            (kind, Order::Random) if kind.is_log() => return None,
            _ => {}
        }
        let posterior = self.posterior(order);
        let verdict = posterior.verdict();
        // No more fit in random order than in sequential order, so that more need not be tried.
        let units_max = match order {
            Order::Linear => self.units_max(order),
            Order::Random => match (self.units_max(order), self.fits(Order::Linear)) {
                (tried, Some(linear)) if tried >= linear => tried.max(linear + 1),
                (tried, _) => tried,
            },
        };
        // Under LRU eviction each write decides for itself. Under random eviction the posterior follows the
        // controller on average only, and as many must have been seen open at once, or nearly as many if it
        // is sure.
        let is_seen = posterior.is_seen_open()
            || (order == Order::Random && self.freed_cells.is_some())
            || (verdict.probability > GRANTED
                && verdict.number - posterior.open_at_once_max().min(verdict.number)
                    <= (verdict.number / UNSEEN_SHARE).max(1));
        // Under random eviction only the sequential result separates merges from stalls, and no more fit than
        // there. If none fits, each write merges under either rule.
        let sequential = || self.fits(Order::Linear).or(self.between(Order::Linear).map(|(low, _)| low));
        let is_clear = order == Order::Linear
            || sequential().map_or(
                verdict.number == 0 || posterior.eviction_probability(EvictionLaw::Random) < 0.5,
                |linear| verdict.number <= linear,
            );
        // What hides merges in random order hides them in sequential order.
        let fits_sequentially = || self.fits(Order::Linear);
        let is_plain = order == Order::Linear
            || !posterior.hides_merges()
            || fits_sequentially()
                .is_some_and(|linear| self.linear.hides_merges() || linear == verdict.number);
        let is_found = verdict.is_found(units_max) && is_seen && is_clear && is_plain;
        is_found.then_some(verdict.number)
    }

    /// The interval of the number of units that fit, if no single number is sure, but one is surely too many
    /// and was tried in both orders.
    pub fn between(&self, order: Order) -> Option<(u32, u32)> {
        let posterior = self.posterior(order);
        let verdict = posterior.verdict();
        let beyond: f64 = posterior.numbers().iter().skip(self.units_max(order) as usize).sum();
        (beyond < LITTLE && self.shows_merges(order)).then_some((verdict.low, verdict.high))
    }

    /// Whether merges show clearly, whatever the number of units that fit, and random order was tried.
    pub fn shows_merges(&self, order: Order) -> bool {
        let posterior = self.posterior(order);
        let merges = self.merge(order, posterior.verdict().low).map_or(0, |(_, merges)| merges);
        // If every write merges, the sequential ones show how many stall.
        let stalls =
            if posterior.verdict().number == 0 { self.linear.stall_share() } else { posterior.stall_share() };
        merges >= SEVERAL && stalls <= LITTLE && self.is_tried(Order::Random)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData};

    use super::*;

    const FAST: Duration = Duration::from_millis(2);
    const MERGE: Duration = Duration::from_millis(200);

    /// Sequential round-robin turns on a controller with random eviction: the number of blocks, and how many
    /// turns. If it `is_full`, other blocks hold all slots at first.
    fn turns(slots: usize, is_full: bool, turns: &[(u32, u32)]) -> Vec<OpenUnitsCell> {
        turns_with(slots, is_full, turns, |open, evicted, _| open.swap_remove(evicted))
    }

    /// The same on a controller of which `evicts` removes one of the open blocks, given an index drawn at
    /// random, and the block written last.
    fn turns_with(
        slots: usize,
        is_full: bool,
        turns: &[(u32, u32)],
        evicts: impl Fn(&mut Vec<u32>, usize, u32) -> u32,
    ) -> Vec<OpenUnitsCell> {
        let mut open: Vec<u32> = if is_full { (1000..).take(slots).collect() } else { Vec::new() };
        let (mut state, mut last, mut cells) = (5_u32, 0, Vec::new());
        let mut write = |number: u32, unit: u32| {
            let is_open = open.contains(&unit);
            let merges = !is_open && open.len() == slots;
            if merges {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                evicts(&mut open, (state >> 16) as usize % slots, last);
            }
            if !is_open {
                open.push(unit);
            }
            last = unit;
            let latency = if merges { MERGE } else { FAST };
            OpenUnitsCell::keep(&mut cells, (Order::Linear, number, Bytes::kib(4)), unit, latency);
        };
        (0..12).for_each(|_| write(1, 0));
        for (number, times) in turns {
            (0..*times).flat_map(|_| 0..*number).for_each(|unit| write(*number, unit));
        }
        cells
    }

    /// Two random writes into each of this number of blocks; the second one merges in some of them.
    fn openings(number: u32, merges: impl Fn(u32) -> bool) -> Vec<OpenUnitsCell> {
        let mut cells = Vec::new();
        for unit in 0..number {
            for latency in [FAST, if merges(unit) { MERGE } else { FAST }] {
                OpenUnitsCell::keep(&mut cells, (Order::Random, unit + 1, Bytes::kib(4)), unit, latency);
            }
        }
        cells
    }

    fn fits(cells: Vec<OpenUnitsCell>, continued: Vec<OpenUnitsCell>, order: Order) -> Option<u32> {
        let erase_block = Bytes::mib(64);
        let data = OpenUnitsData { erase_block, cells, continued, ..OpenUnitsData::default() };
        let Ok(search) = Search::new(&data) else { panic!("nothing is known") };
        search.fits(order)
    }

    #[test]
    fn under_random_eviction_openings_into_freed_slots_need_not_be_seen_open_at_once() {
        let sequential = || turns(20, false, &[(20, 2), (23, 20)]);
        // The seventh opening stalls, so that only ten are seen open at once.
        let continued = || openings(20, |unit| unit == 6 || unit >= 16);
        assert_eq!(fits(sequential(), continued(), Order::Linear), Some(20));
        assert_eq!(fits(sequential(), continued(), Order::Random), Some(16));
    }

    #[test]
    fn under_random_eviction_a_sequential_number_has_to_be_seen_open_at_once() {
        let sequential = turns(12, true, &[(16, 40)]);
        let continued = openings(16, |unit| unit == 4 || unit >= 12);
        assert_eq!(fits(sequential, continued, Order::Linear), None, "at most eight were open at once");
    }

    /// The block written just before is never evicted, so that one of 13 is missing at any time.
    #[test]
    fn under_random_eviction_a_sure_number_need_not_be_seen_open_at_once_but_for_one() {
        let spares_last = |open: &mut Vec<u32>, drawn: usize, last: u32| {
            let next = (drawn + 1) % open.len();
            open.swap_remove(if open[drawn] == last { next } else { drawn })
        };
        let sequential = turns_with(12, true, &[(13, 60)], spares_last);
        assert_eq!(fits(sequential, Vec::new(), Order::Linear), Some(12), "eleven were open at once");
    }
}
