//! The cells and blocks of an experiment, and the contrasts that its cells allow.

use std::collections::BTreeSet;

use super::contrast::Contrast;
use super::data::{Factor, Row};
use super::effect::{Change, EffectKind, Held};

/// The cells, the blocks, and each trial's place among them.
#[derive(Debug)]
pub(super) struct Design {
    /// The levels of each cell, sorted.
    pub cells: Vec<Vec<usize>>,
    /// The number of blocks.
    pub blocks: usize,
    /// The trials.
    pub trials: Vec<Trial>,
}

/// One trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    /// An index of the cells.
    pub cell: usize,
    /// The block, an index.
    pub block: usize,
    /// The logarithm of the time.
    pub log_seconds: f64,
}

impl Design {
    /// The design of rows that were checked.
    pub fn new(rows: &[Row]) -> Self {
        let trials = rows.iter().map(|row| (&row.levels, row.block as usize, row.seconds.ln()));
        Self::of(trials.collect())
    }

    fn of(rows: Vec<(&Vec<usize>, usize, f64)>) -> Self {
        let cells: BTreeSet<&Vec<usize>> = rows.iter().map(|(levels, ..)| *levels).collect();
        let cells: Vec<Vec<usize>> = cells.into_iter().cloned().collect();
        let blocks: BTreeSet<usize> = rows.iter().map(|(_, block, _)| *block).collect();
        let blocks: Vec<usize> = blocks.into_iter().collect();
        let trial = |(levels, block, log_seconds): (&Vec<usize>, usize, f64)| {
            let cell = cells.binary_search(levels).ok()?;
            Some(Trial { cell, block: blocks.binary_search(&block).ok()?, log_seconds })
        };
        let trials = rows.into_iter().filter_map(trial).collect();
        Self { blocks: blocks.len(), trials, cells }
    }

    /// The design of the cells that this contrast compares alone.
    pub fn of_cells(&self, contrast: &Contrast) -> Self {
        let cells: BTreeSet<usize> = contrast.weighted().map(|(cell, _)| cell).collect();
        let trials = self.trials.iter().filter(|trial| cells.contains(&trial.cell));
        Self::of(trials.map(|trial| (&self.cells[trial.cell], trial.block, trial.log_seconds)).collect())
    }

    /// All effects of these factors; without a contrast where the cells do not allow it. Of two factors that
    /// are not crossed, only the interaction is listed, as unknown.
    pub fn contrasts(&self, factors: &[Factor]) -> Vec<(EffectKind, Option<Contrast>)> {
        let changes: Vec<Change> = changes(factors).collect();
        let mains = changes.iter().map(|change| (EffectKind::Main(*change), self.main(*change)));
        let pairs = changes.iter().enumerate().flat_map(|(index, first)| {
            let later = changes.iter().skip(index + 1);
            later.filter(|second| second.factor != first.factor).map(|second| (*first, *second))
        });
        mains.chain(pairs.flat_map(|(first, second)| self.pair(first, second))).collect()
    }

    /// A change wherever both cells exist.
    fn main(&self, change: Change) -> Option<Contrast> {
        let pair = |from: &Vec<usize>| self.signed(from, &[(&[], 1.0), (&[change], -1.0)]);
        self.over(|levels| levels[change.factor] == 0, pair)
    }

    /// The effects of two changes, compared wherever all four cells exist.
    fn pair(&self, first: Change, second: Change) -> Vec<(EffectKind, Option<Contrast>)> {
        let is_first = |levels: &[usize]| levels[first.factor] == 0 && levels[second.factor] == 0;
        let all: [&[Change]; 4] = [&[], &[first], &[second], &[first, second]];
        let contrast = |signs: [f64; 4]| {
            let four: Vec<(&[Change], f64)> = all.into_iter().zip(signs).collect();
            self.over(is_first, |from| self.signed(from, &four))
        };
        let interaction = (EffectKind::Interaction(first, second), contrast([-1.0, 1.0, 1.0, -1.0]));
        if interaction.1.is_none() {
            return vec![interaction];
        }
        vec![
            (EffectKind::Alone { change: first, without: second }, contrast([1.0, -1.0, 0.0, 0.0])),
            (EffectKind::Alone { change: second, without: first }, contrast([1.0, 0.0, -1.0, 0.0])),
            (EffectKind::Both(first, second), contrast([1.0, 0.0, 0.0, -1.0])),
            interaction,
        ]
    }

    /// The mean over all cells that `starts` picks and `group` completes.
    fn over(
        &self,
        starts: impl Fn(&[usize]) -> bool,
        group: impl Fn(&Vec<usize>) -> Option<Vec<(usize, f64)>>,
    ) -> Option<Contrast> {
        let groups: Vec<_> = self.cells.iter().filter(|levels| starts(levels)).filter_map(group).collect();
        Contrast::mean(self.cells.len(), &groups)
    }

    /// The cells after these changes, with their signs; `None` if one does not exist.
    fn signed(&self, from: &[usize], changed: &[(&[Change], f64)]) -> Option<Vec<(usize, f64)>> {
        let cell = |(changes, sign): &(&[Change], f64)| {
            let mut levels = from.to_vec();
            changes.iter().for_each(|change| levels[change.factor] = change.to);
            Some((self.cells.binary_search(&levels).ok()?, *sign))
        };
        changed.iter().map(cell).collect()
    }

    /// The levels of the factors that the effect does not change.
    pub fn held(&self, kind: &EffectKind, contrast: &Contrast) -> Vec<Held> {
        let changed = match kind {
            EffectKind::Main(change) => [change.factor, change.factor],
            EffectKind::Alone { change, without } => [change.factor, without.factor],
            EffectKind::Both(first, second) | EffectKind::Interaction(first, second) => {
                [first.factor, second.factor]
            }
        };
        let factors = (0..self.cells.first().map_or(0, Vec::len)).filter(|factor| !changed.contains(factor));
        let levels = |factor: usize| -> BTreeSet<usize> {
            contrast.weighted().map(|(cell, _)| self.cells[cell][factor]).collect()
        };
        factors.map(|factor| Held { factor, levels: levels(factor).into_iter().collect() }).collect()
    }
}

/// Every change of every factor.
fn changes(factors: &[Factor]) -> impl Iterator<Item = Change> + '_ {
    factors
        .iter()
        .enumerate()
        .flat_map(|(factor, each)| (1..each.levels.len()).map(move |to| Change { factor, to }))
}
