//! What the stick has been through before its first request, built directly.

use super::deal::Deal;
use super::law::Law;
use super::layout::RESERVE;
use super::{MadeWith, Mapped};
use crate::chance::Chance;
use crate::profile::{CollectionVictim, State};

// How often everything was overwritten before: more than any block's age.
const STEADY_OVERWRITES: u64 = 64;

impl Mapped {
    /// Puts a new layer into a state. Nothing of it counts as work done.
    pub(super) fn fill(&mut self, state: State, chance: Chance) {
        match state {
            // What was discarded as a whole is erased as if it had never been there.
            State::New | State::Trimmed => {}
            State::Full => self.fill_in_order(),
            State::Steady => self.fill_at_random(chance),
        }
    }

    /// Every unit once, in order.
    fn fill_in_order(&mut self) {
        let (units, block_units) = (self.layout.units, self.layout.block_units);
        for (word, place) in self.map.iter_mut().zip(1..) {
            *word = place;
        }
        for (holder, unit) in self.holder.iter_mut().zip(0..units) {
            *holder = unit;
        }
        // What the last block lacks is programmed, too, and valid no more: it closes like the others.
        let firsts = (0..units).step_by(block_units as usize);
        self.close_all((0..).zip(firsts.map(|first| ((units - first).min(block_units), 0))));
    }

    /// Every unit somewhere, as random overwriting leaves them.
    fn fill_at_random(&mut self, chance: Chance) {
        let valid = self.steady_counts();
        let mut place_of: Vec<u32> =
            (0..).step_by(self.layout.block_units as usize).take(valid.len()).collect();
        let mut deal = Deal::new(&valid, chance.clone());
        for (word, unit) in self.map.iter_mut().zip(0..) {
            let place = &mut place_of[deal.draw()];
            self.holder[*place as usize] = unit;
            *place += 1;
            *word = *place;
        }
        self.programs = u64::from(self.layout.units) * STEADY_OVERWRITES;
        let changes = self.in_order_of_change(&valid, chance);
        self.close_all(changes.into_iter().map(|(block, at)| (block, (valid[block as usize], at))));
    }

    /// Valid units of each block that is not free; one block in reserve and one for each frontier are.
    fn steady_counts(&self) -> Vec<u32> {
        let closed = self.layout.blocks as usize - RESERVE - self.frontiers.len();
        let mean = f64::from(self.layout.units) / f64::from(u32::try_from(closed).unwrap_or(u32::MAX));
        Law::with_mean(self.layout.block_units, mean).counts(closed, u64::from(self.layout.units))
    }

    /// The blocks, those first that lost a unit the longest ago. Only a policy that asks for ages needs it.
    fn in_order_of_change(&self, valid: &[u32], mut chance: Chance) -> Vec<(u32, u64)> {
        let mut changes: Vec<(u32, u64)> = (0..).zip(valid.iter().map(|_| 0)).collect();
        if self.layout.victim == CollectionVictim::CostBenefit {
            for ((_, changed_at), valid) in changes.iter_mut().zip(valid) {
                *changed_at =
                    self.programs.saturating_sub(since_change(self.layout.units, *valid, &mut chance));
            }
            changes.sort_by_key(|(_, changed_at)| *changed_at);
        }
        changes
    }

    /// Closes blocks, each with its valid units and when it changed; together they are the first ones.
    fn close_all(&mut self, blocks: impl Iterator<Item = (u32, (u32, u64))>) {
        let mut closed = 0;
        for (block, (valid, changed_at)) in blocks {
            self.blocks.set_valid(block, valid);
            self.blocks.list(block, changed_at);
            closed += 1;
        }
        self.free.drain(..closed);
        self.made_with =
            MadeWith { programs: self.programs, places: closed as u64 * u64::from(self.layout.block_units) };
    }
}

/// How many units ago a block with so many valid units lost one: the gaps are exponential.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few times the capacity in units"
)]
fn since_change(units: u32, valid: u32, chance: &mut Chance) -> u64 {
    (f64::from(units) / f64::from(valid.max(1)) * chance.exponential()) as u64
}
