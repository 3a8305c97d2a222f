//! Places of which any may have to go: which units hold one is not known, only how likely each does.
//!
//! The probabilities move on with every write and always add up to the number of places that are not held by what was
//! open before: a unit seen to hold one makes the others less likely to. That is what a conditional Bernoulli model says
//! (S. Chen, A. Dempster and J. Liu, "Weighted finite population sampling to maximize entropy", Biometrika 81, 1994), taken
//! unit by unit.

use std::ops::Range;

use crate::inference::statistics::count;

/// Probabilities stay this far from 0 and 1: the model is not that good.
const LEAST: f64 = 1e-4;
/// How often a write is slow without a merge, and a merge does not show, as far as single units are concerned.
const SURPRISE: f64 = 0.005;
/// The sum need not be more exact than this.
const EXACT: f64 = 0.01;
/// Steps towards it; two or three do but at the ends, and the next write goes on from there.
const STEPS_MAX: usize = 4;
/// No step changes the odds by more than e to this power.
const STEP_MAX: f64 = 3.0;

/// The places of a controller that closes any of its open blocks.
#[derive(Debug, Clone)]
pub(super) struct AnyPlace {
    count: f64,
    two_steps: bool,
    /// How many places are held by what was open before.
    strange: f64,
    /// How many places hold nothing at all: units that were written to their end gave them back.
    free: f64,
    units: Vec<Unit>,
}

/// The probabilities that a unit holds a place, and that it was written once since it lost one.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    placed: f64,
    begun: f64,
}

impl AnyPlace {
    pub(super) fn new(number: usize, two_steps: bool) -> Self {
        Self { count: count(number), two_steps, strange: count(number), free: 0.0, units: Vec::new() }
    }

    /// How likely a write into a unit that was open before contains a merge.
    pub(super) fn chance(&self, unit: usize) -> f64 {
        let unit = self.units.get(unit).copied().unwrap_or_default();
        let misses = if self.two_steps { unit.begun } else { 1.0 - unit.placed };
        misses.clamp(LEAST, 1.0 - LEAST)
    }

    /// Moves on after a write that is slow with this probability; an opening write says nothing of the unit.
    pub(super) fn take(&mut self, unit: usize, is_opening: bool, slow: f64) {
        if self.units.len() <= unit {
            self.units.resize(unit + 1, Unit::default());
        }
        if is_opening {
            self.open(unit, slow);
            self.add_up(unit);
        } else {
            self.write(unit, slow);
        }
    }

    /// These units hold places already.
    pub(super) fn hold(&mut self, units: Range<usize>) {
        self.units.resize(units.end, Unit::default());
        self.strange = (self.strange - count(units.len())).max(0.0);
        self.units[units].fill(Unit { placed: 1.0, begun: 0.0 });
    }

    /// The unit's place is free.
    pub(super) fn close(&mut self, unit: usize) {
        self.free += self.units[unit].placed;
        self.units[unit] = Unit::default();
    }

    /// The unit gets a place, where nothing was merged one that held nothing of ours. In two steps the first one only
    /// begins it.
    fn open(&mut self, unit: usize, slow: f64) {
        if self.two_steps && self.units[unit].placed + self.units[unit].begun < 0.5 {
            self.units[unit].begun = 1.0;
            return;
        }
        let needed = 1.0 - self.units[unit].placed;
        let taken = self.free.min(needed);
        self.free -= taken;
        self.make_room(slow * (1.0 - taken));
        self.strange = (self.strange - (1.0 - slow) * (needed - taken)).max(0.0);
        self.units[unit] = Unit { placed: 1.0, begun: 0.0 };
    }

    /// What was seen of this unit first moves the probabilities of the others; only then one of them may have to go.
    fn write(&mut self, unit: usize, slow: f64) {
        let Unit { placed, begun } = self.units[unit];
        let closed = (1.0 - placed - begun).max(0.0);
        let merges = slow.max(SURPRISE);
        let is_clean = (1.0 - slow).max(SURPRISE);
        let (hit, late, miss) =
            if self.two_steps { (placed, begun, closed) } else { (placed, 1.0 - placed, 0.0) };
        let (hit, late, miss) = (hit * is_clean, late * merges, miss * is_clean);
        let total = hit + late + miss;
        self.units[unit] = Unit { placed: hit / total, begun: 0.0 };
        self.add_up(unit);
        self.make_room(late / total);
        self.units[unit] = Unit { placed: (hit + late) / total, begun: miss / total };
    }

    /// Any place goes, if there was a merge with this probability.
    fn make_room(&mut self, merged: f64) {
        let stays = 1.0 - merged / self.count;
        for other in &mut self.units {
            other.placed *= stays;
        }
        self.strange *= stays;
    }

    /// Moves the odds of all units but this one so that the places held add up to their number (Newton's method). What was
    /// open before holds what our units cannot fill.
    fn add_up(&mut self, unit: usize) {
        let least = (self.count - self.free - count(self.units.len())).max(0.0);
        let wanted = self.count - self.free - self.units[unit].placed;
        for _ in 0..STEPS_MAX {
            let missing = wanted - self.held(unit);
            if missing.abs() < EXACT {
                return;
            }
            let factor = (missing / self.slope(unit).max(LEAST)).clamp(-STEP_MAX, STEP_MAX).exp();
            let (before, behind) = self.units.split_at_mut(unit);
            for other in before.iter_mut().chain(&mut behind[1..]) {
                other.rescale(factor);
            }
            let strange = scale_odds(self.strange / self.count, factor) * self.count;
            self.strange = strange.max(least);
        }
    }

    /// How many places all but this unit hold.
    fn held(&self, unit: usize) -> f64 {
        self.units.iter().map(|each| each.placed).sum::<f64>() - self.units[unit].placed + self.strange
    }

    /// How fast that grows with the logarithm of the odds.
    fn slope(&self, unit: usize) -> f64 {
        let of = |placed: f64| placed * (1.0 - placed);
        let all: f64 = self.units.iter().map(|each| of(each.placed)).sum();
        all - of(self.units[unit].placed) + of(self.strange / self.count) * self.count
    }
}

impl Unit {
    /// Multiplies the odds that it holds a place; what it is otherwise stays in proportion.
    fn rescale(&mut self, factor: f64) {
        let placed = scale_odds(self.placed, factor);
        self.begun *= (1.0 - placed) / (1.0 - self.placed).max(LEAST);
        self.begun = self.begun.min(1.0 - placed);
        self.placed = placed;
    }
}

fn scale_odds(probability: f64, factor: f64) -> f64 {
    let probability = probability.clamp(LEAST, 1.0 - LEAST);
    let odds = probability / (1.0 - probability) * factor;
    odds / (1.0 + odds)
}
