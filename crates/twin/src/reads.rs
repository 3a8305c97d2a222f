//! Reads: the boundary periods at which their times change, and by how much.

use crate::measured::Side;
use crate::summary::median;

/// Smaller relative differences count as noise: repeated rows of the logs differ by 1 to 2 %.
const NOISE: f64 = 0.015;

/// The model of reads. Times in seconds, for reads of the log's length.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Reads {
    /// The time away from every boundary.
    pub(crate) base_s: f64,
    /// The levels, from the narrowest boundary to the widest.
    pub(crate) levels: Vec<Level>,
    /// The number of cells of the fit.
    pub(crate) cells: usize,
    /// Periods that are assumed in any case: the erase block given to flashbench, and the typical page. They
    /// do not count as parameters.
    pub(crate) expected: [u64; 2],
}

/// The extra time of reads before, across and after boundaries of one period and wider; 0 if there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub(crate) period: u64,
    pub(crate) extra_s: [f64; 3],
}

/// A read of a log: the boundary period, the side, and the time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read {
    pub(crate) candidate: u64,
    pub(crate) side: Side,
    pub(crate) seconds: f64,
}

impl Reads {
    /// The number of fitted parameters: the base, and the period and extra times of each level.
    pub(crate) fn parameters(&self) -> usize {
        let of_level = |level: &Level| {
            let period = usize::from(!self.expected.contains(&level.period));
            period + level.extra_s.iter().filter(|extra| **extra != 0.0).count()
        };
        usize::from(self.cells > 0) + self.levels.iter().map(of_level).sum::<usize>()
    }

    /// The time of a read.
    fn predicted_s(&self, read: &Read) -> f64 {
        let level = self.levels.iter().rev().find(|level| read.candidate.is_multiple_of(level.period));
        self.base_s + level.map_or(0.0, |level| level.extra_s[read.side as usize])
    }

    /// The sum of the log errors. Each counts at most 0.3, so that outliers do not dominate.
    fn loss(&self, reads: &[Read]) -> f64 {
        reads.iter().map(|read| (self.predicted_s(read) / read.seconds).ln().abs().min(0.3)).sum()
    }
}

/// A range of boundary periods with equal times, as exponents of two.
#[derive(Debug, Clone, Copy)]
struct PeriodRange {
    first: u32,
    last: u32,
}

/// Fits reads with at most `budget` parameters.
pub(crate) fn fit(reads: &[Read], expected: [u64; 2], budget: usize) -> Reads {
    let exponents = reads.iter().map(|read| read.candidate.trailing_zeros());
    let (Some(low), Some(high)) = (exponents.clone().min(), exponents.max()) else {
        return Reads { expected, ..Reads::default() };
    };
    let mut ranges: Vec<PeriodRange> = (low..=high).map(|first| PeriodRange { first, last: first }).collect();
    ranges.retain(|range| reads_in(*range, reads).next().is_some());
    join_equal(&mut ranges, reads);
    let mut best = Reads { expected, ..assemble(&ranges, reads) };
    prune(&mut best, reads, budget);
    best
}

fn reads_in(range: PeriodRange, reads: &[Read]) -> impl Iterator<Item = &Read> {
    let is_inside = move |read: &&Read| (range.first..=range.last).contains(&read.candidate.trailing_zeros());
    reads.iter().filter(is_inside)
}

/// Joins neighbours as long as two of them differ by no more than the noise.
fn join_equal(ranges: &mut Vec<PeriodRange>, reads: &[Read]) {
    loop {
        let joined = |pair: &[PeriodRange]| PeriodRange { first: pair[0].first, last: pair[1].last };
        let costs = ranges.windows(2).map(|pair| {
            let separate = spread(pair[0], reads) + spread(pair[1], reads);
            let count = reads_in(joined(pair), reads).count().max(1);
            (spread(joined(pair), reads) - separate) / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
        });
        let cheapest = costs.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        match cheapest {
            Some((at, cost)) if cost < NOISE => {
                ranges[at].last = ranges[at + 1].last;
                ranges.remove(at + 1);
            }
            _ => return,
        }
    }
}

/// The sum of the log deviations of reads from the medians of their sides.
fn spread(range: PeriodRange, reads: &[Read]) -> f64 {
    let medians = sides(range, reads);
    reads_in(range, reads)
        .filter_map(|read| Some((read.seconds / medians[read.side as usize]?).ln().abs()))
        .sum()
}

/// The median time of each side.
fn sides(range: PeriodRange, reads: &[Read]) -> [Option<f64>; 3] {
    [Side::Before, Side::Across, Side::After]
        .map(|side| median(reads_in(range, reads).filter(|read| read.side == side).map(|read| read.seconds)))
}

/// The model of these ranges: the base is the time at the narrowest boundaries, and wider ranges add to it.
fn assemble(ranges: &[PeriodRange], reads: &[Read]) -> Reads {
    let base_s = ranges
        .first()
        .and_then(|first| median(sides(*first, reads).into_iter().flatten()))
        .unwrap_or_default();
    let level = |range: &PeriodRange| Level {
        period: 1 << range.first,
        extra_s: sides(*range, reads).map(|side| {
            let extra = side.unwrap_or(base_s) - base_s;
            if extra.abs() < NOISE * base_s { 0.0 } else { extra }
        }),
    };
    let levels = ranges.iter().map(level).collect();
    let mut fitted = Reads { base_s, levels, cells: reads.len(), expected: [0; 2] };
    drop_empty_levels(&mut fitted);
    fitted
}

/// Drops the narrowest levels while they add nothing.
fn drop_empty_levels(reads: &mut Reads) {
    while reads.levels.first().is_some_and(|level| level.extra_s == [0.0; 3]) {
        reads.levels.remove(0);
    }
}

/// Removes the parameters with the least effect on the error, until the budget is met.
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

/// Every model without one level, or without one extra time.
fn simpler(fitted: &Reads) -> Vec<Reads> {
    let mut models = Vec::new();
    for at in 0..fitted.levels.len() {
        let mut without = fitted.clone();
        without.levels.remove(at);
        models.push(without);
        for side in 0..3 {
            if fitted.levels[at].extra_s[side] != 0.0 {
                let mut without = fitted.clone();
                without.levels[at].extra_s[side] = 0.0;
                drop_empty_levels(&mut without);
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
    fn synthetic_reads() -> Vec<Read> {
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
    fn levels_are_fitted_where_times_change() {
        let fitted = fit(&synthetic_reads(), [0; 2], 20);
        let periods: Vec<u64> = fitted.levels.iter().map(|level| level.period >> 10).collect();
        assert_eq!(periods, [16, 4096]);
        assert!((fitted.levels[1].extra_s[1] - 0.6e-3).abs() < 1e-9);
        assert_eq!(fitted.parameters(), 7);
        assert_eq!(
            fit(&synthetic_reads(), [16 << 10, 4 << 20], 20).parameters(),
            5,
            "expected periods are not parameters"
        );
    }

    /// Every second period is 2 % slower.
    #[test]
    fn noise_makes_no_levels() {
        let slower = |read: &Read| if read.candidate.trailing_zeros() % 2 == 1 { 1.02 } else { 1.0 };
        let reads = synthetic_reads().into_iter().filter(|read| read.candidate < 1 << 22);
        let reads: Vec<Read> =
            reads.map(|read| Read { seconds: read.seconds * slower(&read), ..read }).collect();
        let fitted = fit(&reads, [0; 2], 20);
        let [level] = fitted.levels.as_slice() else { panic!("{fitted:?}") };
        assert_eq!(level.period, 16 << 10);
        assert!((level.extra_s[1] - 0.293e-3).abs() < 1e-9, "{fitted:?}");
    }

    #[test]
    fn small_budget_keeps_the_largest_effect() {
        let fitted = fit(&synthetic_reads(), [0; 2], 3);
        assert_eq!(fitted.parameters(), 3);
        assert!(fitted.levels[0].extra_s[1] > 0.2e-3);
    }

    /// Reads across 16 KiB take 30 % longer, those across 4 MiB 60 %. Beside 4 MiB they differ by 2 %. One of
    /// nine took ten times as long, which no number explains.
    #[test]
    fn numbers_with_the_least_effect_go_first_even_if_the_fit_is_poor() {
        let times = |exponent: u32| match exponent {
            ..14 => [1.0, 1.0, 1.0],
            14..22 => [1.0, 1.3, 1.0],
            _ => [0.98, 1.6, 1.02],
        };
        let read = |exponent: u32, side: Side, factor: f64| Read {
            candidate: 1 << exponent,
            side,
            seconds: times(exponent)[side as usize] * factor * 1e-3,
        };
        let usual = (11..30).map(|exponent| (exponent, 1.0));
        let slow = [(18, 10.0), (26, 10.0)];
        let sides = [Side::Before, Side::Across, Side::After];
        let of = |(exponent, factor): (u32, f64)| sides.map(|side| read(exponent, side, factor));
        let reads: Vec<Read> = usual.chain(slow).flat_map(of).collect();
        // Of six numbers the two beside 4 MiB go.
        let fitted = fit(&reads, [0, 4 << 20], 4);
        for (exponent, across_s) in [(12, 1e-3), (16, 1.3e-3), (24, 1.6e-3)] {
            let predicted_s = fitted.predicted_s(&read(exponent, Side::Across, 1.0));
            assert!((predicted_s - across_s).abs() < 1e-9, "{exponent}: {fitted:?}");
        }
        let beside_s = fitted.predicted_s(&read(24, Side::Before, 1.0));
        assert!((beside_s - 1e-3).abs() < 1e-9, "{fitted:?}");
    }

    #[test]
    fn no_reads_give_an_empty_model() {
        assert_eq!(fit(&[], [0; 2], 5), Reads::default());
    }
}
