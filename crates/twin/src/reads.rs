//! Reads: at which sizes of boundary their times change, and by how much.

use crate::measured::Side;
use crate::summary::median;

/// Times that differ by less than this share are the same: repeated rows of the logs differ by 1 to 2 %.
const SAME: f64 = 0.015;

/// What was fitted of reads. Times in seconds, as a read of the log's size takes them.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Reads {
    /// Away from every boundary.
    pub(crate) base_s: f64,
    /// From the narrowest boundary to the widest.
    pub(crate) levels: Vec<Level>,
    /// How many cells they were fitted from.
    pub(crate) cells: usize,
    /// Periods that one would assume anyway: the erase block that flashbench was told, and the typical page. A boundary
    /// there is no choice.
    pub(crate) expected: [u64; 2],
}

/// What boundaries of one period and wider add to a read before, across and after; zero where it is nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub(crate) period: u64,
    pub(crate) adds_s: [f64; 3],
}

/// A read of a log: the size of boundary, which of the three, and its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read {
    pub(crate) candidate: u64,
    pub(crate) side: Side,
    pub(crate) seconds: f64,
}

impl Reads {
    /// How many numbers were chosen: the base, and of each level its period and what it adds.
    pub(crate) fn parameters(&self) -> usize {
        let of = |level: &Level| {
            let chosen = usize::from(!self.expected.contains(&level.period));
            chosen + level.adds_s.iter().filter(|adds| **adds != 0.0).count()
        };
        usize::from(self.cells > 0) + self.levels.iter().map(of).sum::<usize>()
    }

    /// The time of a read.
    fn predicted_s(&self, read: &Read) -> f64 {
        let level = self.levels.iter().rev().find(|level| read.candidate.is_multiple_of(level.period));
        self.base_s + level.map_or(0.0, |level| level.adds_s[read.side as usize])
    }

    /// The sum over reads of how far off they are, as logarithms; one that is far off counts no more than 30 %.
    fn loss(&self, reads: &[Read]) -> f64 {
        reads.iter().map(|read| (self.predicted_s(read) / read.seconds).ln().abs().min(0.3)).sum()
    }
}

/// A stretch of boundary sizes, as exponents of two, in which times do not change.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    first: u32,
    last: u32,
}

/// Fits reads with at most `budget` numbers.
pub(crate) fn fit(reads: &[Read], expected: [u64; 2], budget: usize) -> Reads {
    let exponents = reads.iter().map(|read| read.candidate.trailing_zeros());
    let (Some(low), Some(high)) = (exponents.clone().min(), exponents.max()) else {
        return Reads { expected, ..Reads::default() };
    };
    let mut stretches: Vec<Stretch> = (low..=high).map(|first| Stretch { first, last: first }).collect();
    stretches.retain(|stretch| of(*stretch, reads).next().is_some());
    join_equal(&mut stretches, reads);
    let mut best = Reads { expected, ..assemble(&stretches, reads) };
    prune(&mut best, reads, budget);
    best
}

fn of(stretch: Stretch, reads: &[Read]) -> impl Iterator<Item = &Read> {
    let within =
        move |read: &&Read| (stretch.first..=stretch.last).contains(&read.candidate.trailing_zeros());
    reads.iter().filter(within)
}

/// Joins neighbours as long as two are left that a read can hardly tell apart.
fn join_equal(stretches: &mut Vec<Stretch>, reads: &[Read]) {
    loop {
        let joined = |pair: &[Stretch]| Stretch { first: pair[0].first, last: pair[1].last };
        let costs = stretches.windows(2).map(|pair| {
            let apart = spread(pair[0], reads) + spread(pair[1], reads);
            let count = of(joined(pair), reads).count().max(1);
            (spread(joined(pair), reads) - apart) / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
        });
        let cheapest = costs.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        match cheapest {
            Some((at, cost)) if cost < SAME => {
                stretches[at].last = stretches[at + 1].last;
                stretches.remove(at + 1);
            }
            _ => return,
        }
    }
}

/// How far the reads of a stretch lie from the medians of their sides, summed as logarithms.
fn spread(stretch: Stretch, reads: &[Read]) -> f64 {
    let medians = sides(stretch, reads);
    of(stretch, reads).filter_map(|read| Some((read.seconds / medians[read.side as usize]?).ln().abs())).sum()
}

/// The median of each side.
fn sides(stretch: Stretch, reads: &[Read]) -> [Option<f64>; 3] {
    [Side::Before, Side::Across, Side::After]
        .map(|side| median(of(stretch, reads).filter(|read| read.side == side).map(|read| read.seconds)))
}

/// The base is what reads at the narrowest boundaries take; each stretch above adds to it.
fn assemble(stretches: &[Stretch], reads: &[Read]) -> Reads {
    let base_s = stretches
        .first()
        .and_then(|first| median(sides(*first, reads).into_iter().flatten()))
        .unwrap_or_default();
    let level = |stretch: &Stretch| Level {
        period: 1 << stretch.first,
        adds_s: sides(*stretch, reads).map(|side| {
            let adds = side.unwrap_or(base_s) - base_s;
            if adds.abs() < SAME * base_s { 0.0 } else { adds }
        }),
    };
    let levels = stretches.iter().map(level).collect();
    let mut fitted = Reads { base_s, levels, cells: reads.len(), expected: [0; 2] };
    drop_needless(&mut fitted);
    fitted
}

/// A level that adds nothing where nothing is below it says nothing.
fn drop_needless(reads: &mut Reads) {
    while reads.levels.first().is_some_and(|level| level.adds_s == [0.0; 3]) {
        reads.levels.remove(0);
    }
}

/// Takes away what is missed least, until the budget is met.
fn prune(fitted: &mut Reads, reads: &[Read], budget: usize) {
    while fitted.parameters() > budget.max(1) && !fitted.levels.is_empty() {
        let simpler = simpler(fitted);
        let excess = fitted.parameters() - budget.max(1);
        let Some(best) = simpler.into_iter().min_by(|a, b| {
            let per_number = |other: &Reads| {
                let saved = fitted.parameters().saturating_sub(other.parameters()).clamp(1, excess);
                (other.loss(reads) - fitted.loss(reads)) / f64::from(u32::try_from(saved).unwrap_or(u32::MAX))
            };
            per_number(a).total_cmp(&per_number(b))
        }) else {
            return;
        };
        *fitted = best;
    }
}

/// Every model that lacks one level, or one addition.
fn simpler(fitted: &Reads) -> Vec<Reads> {
    let mut models = Vec::new();
    for at in 0..fitted.levels.len() {
        let mut without = fitted.clone();
        without.levels.remove(at);
        models.push(without);
        for side in 0..3 {
            if fitted.levels[at].adds_s[side] != 0.0 {
                let mut without = fitted.clone();
                without.levels[at].adds_s[side] = 0.0;
                drop_needless(&mut without);
                models.push(without);
            }
        }
    }
    models
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of a card with a page of 16 KiB and an erase block of 4 MiB.
    fn made_up() -> Vec<Read> {
        let times = |exponent: u32| match exponent {
            ..14 => [1.0, 1.0, 1.0],
            14..22 => [0.9, 1.3, 1.0],
            _ => [0.9, 1.6, 1.0],
        };
        (11..30)
            .flat_map(|exponent| {
                [Side::Before, Side::Across, Side::After].map(|side| Read {
                    candidate: 1 << exponent,
                    side,
                    seconds: times(exponent)[side as usize] * 1e-3,
                })
            })
            .collect()
    }

    #[test]
    fn levels_are_found_where_times_change() {
        let fitted = fit(&made_up(), [0; 2], 20);
        let periods: Vec<u64> = fitted.levels.iter().map(|level| level.period >> 10).collect();
        assert_eq!(periods, [16, 4096]);
        assert!((fitted.levels[1].adds_s[1] - 0.6e-3).abs() < 1e-9);
        assert_eq!(fitted.parameters(), 7);
        assert_eq!(fit(&made_up(), [16 << 10, 4 << 20], 20).parameters(), 5, "where they are was expected");
    }

    #[test]
    fn a_small_budget_keeps_what_is_missed_most() {
        let fitted = fit(&made_up(), [0; 2], 3);
        assert_eq!(fitted.parameters(), 3);
        assert!(fitted.levels[0].adds_s[1] > 0.2e-3);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(fit(&[], [0; 2], 5), Reads::default());
    }
}
