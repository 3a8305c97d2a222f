//! Preconditioning: the state of the layer before the first request, constructed directly.

use super::assignment::RandomAssignment;
use super::layout::RESERVE;
use super::valid_distribution::ValidDistribution;
use super::{Mapped, Prefill};
use crate::profile::{GcVictim, State};
use crate::rng::StreamRng;

// Overwrites of the whole stick before the first request. Guess: older than any block in steady state.
const STEADY_OVERWRITES: u64 = 64;

impl Mapped {
    /// Preconditions a new layer. The counters stay at zero.
    pub(super) fn fill(&mut self, state: State, rng: StreamRng) {
        match state {
            // A stick that was discarded as a whole is erased, like a new one.
            State::New | State::Trimmed => {}
            State::Full => self.fill_sequentially(),
            State::Steady => self.fill_randomly(rng),
        }
    }

    /// Writes every unit once, sequentially.
    fn fill_sequentially(&mut self) {
        let (units, block_units) = (self.layout.units, self.layout.block_units);
        for (word, slot) in self.map.iter_mut().zip(1..) {
            *word = slot;
        }
        for (unit_in_slot, unit) in self.unit_in_slot.iter_mut().zip(0..units) {
            *unit_in_slot = unit;
        }
        // The rest of the last block counts as programmed and invalid, so that it closes like the others.
        let firsts = (0..units).step_by(block_units as usize);
        self.close_all((0..).zip(firsts.map(|first| ((units - first).min(block_units), 0))));
    }

    /// Places every unit as endless random overwriting would.
    fn fill_randomly(&mut self, rng: StreamRng) {
        let valid = self.steady_valid_counts();
        let mut slot_of: Vec<u32> =
            (0..).step_by(self.layout.block_units as usize).take(valid.len()).collect();
        let mut assignment = RandomAssignment::new(&valid, rng.clone());
        for (word, unit) in self.map.iter_mut().zip(0..) {
            let slot = &mut slot_of[assignment.next_block()];
            self.unit_in_slot[*slot as usize] = unit;
            *slot += 1;
            *word = *slot;
        }
        self.programs = u64::from(self.layout.units) * STEADY_OVERWRITES;
        let changes = self.by_last_change(&valid, rng);
        self.close_all(changes.into_iter().map(|(block, at)| (block, (valid[block as usize], at))));
    }

    /// Valid units of each block in use: all but the reserve and one block for each frontier.
    fn steady_valid_counts(&self) -> Vec<u32> {
        let closed = self.layout.blocks as usize - RESERVE - self.frontiers.len();
        let mean = f64::from(self.layout.units) / f64::from(u32::try_from(closed).unwrap_or(u32::MAX));
        ValidDistribution::with_mean(self.layout.block_units, mean)
            .counts(closed, u64::from(self.layout.units))
    }

    /// The blocks with the time of their last change, oldest first. Only the cost-benefit policy needs times.
    fn by_last_change(&self, valid: &[u32], mut rng: StreamRng) -> Vec<(u32, u64)> {
        let mut changes: Vec<(u32, u64)> = (0..).zip(valid.iter().map(|_| 0)).collect();
        if self.layout.victim == GcVictim::CostBenefit {
            for ((_, changed_at), valid) in changes.iter_mut().zip(valid) {
                *changed_at = self.programs.saturating_sub(since_change(self.layout.units, *valid, &mut rng));
            }
            changes.sort_by_key(|(_, changed_at)| *changed_at);
        }
        changes
    }

    /// Closes the first blocks, each with its valid units and the time of its last change.
    fn close_all(&mut self, blocks: impl Iterator<Item = (u32, (u32, u64))>) {
        let mut closed = 0;
        for (block, (valid, changed_at)) in blocks {
            self.blocks.set_valid(block, valid);
            self.blocks.list(block, changed_at);
            closed += 1;
        }
        self.free.drain(..closed);
        self.prefill =
            Prefill { programs: self.programs, slots: closed as u64 * u64::from(self.layout.block_units) };
    }
}

/// The age of a block's last change, in units written. The gaps are exponential.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few times the capacity in units"
)]
fn since_change(units: u32, valid: u32, rng: &mut StreamRng) -> u64 {
    (f64::from(units) / f64::from(valid.max(1)) * rng.exponential()) as u64
}
