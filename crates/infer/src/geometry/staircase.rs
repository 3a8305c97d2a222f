//! The boundaries that explain the extra time of reads across multiples of candidate sizes.
//!
//! The model: crossing a boundary at offset x costs a base difference plus a step for every *level* whose
//! unit divides x (a page, two planes' pages, an erase block), plus noise with heavy tails. A hypothesis is a
//! set of up to three levels; each is fitted by iteratively reweighted least squares with Student-t weights
//! (K. Lange, R. Little and J. Taylor, "Robust statistical modeling using the t distribution", JASA 84,
//! 1989), weighed with the Bayesian information criterion (G. Schwarz, Annals of Statistics 6, 1978) and a
//! prior, and normalised over all hypotheses.

use flashscope_device::Bytes;

use crate::sizes::{FACTORS, plausible, sizes};
use crate::statistics::{count, robust};
use crate::thresholds::{NOT_NOISE, SEVERAL};

/// One candidate's extra read time: a mean over boundaries at odd multiples of `candidate`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The candidate size.
    pub candidate: Bytes,
    /// Extra time of the read across, seconds.
    pub extra: f64,
}

/// Where extra time appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// At every multiple of this size.
    Multiples(Bytes),
    /// At odd multiples of this size only: a plane's page inside a larger effective page of twice the size.
    OddMultiples(Bytes),
}

impl Level {
    /// The size.
    #[must_use]
    pub const fn size(self) -> Bytes {
        match self {
            Self::Multiples(size) | Self::OddMultiples(size) => size,
        }
    }

    /// The share of a candidate's boundaries at which this level shows.
    fn share(self, candidate: Bytes, positions: Positions) -> f64 {
        match positions {
            Positions::Coprime => f64::from(u8::from(self.is_at(candidate))),
            Positions::OddMultiples => {
                let shown = (0..7).filter(|index| self.is_at(candidate * (2 * index + 1))).count();
                f64::from(u8::try_from(shown).unwrap_or(7)) / 7.0
            }
        }
    }

    /// Whether this level shows at an offset.
    #[must_use]
    pub fn is_at(self, offset: Bytes) -> bool {
        match self {
            Self::Multiples(size) => offset.is_multiple_of(size),
            Self::OddMultiples(size) => offset.is_multiple_of(size) && !offset.is_multiple_of(size * 2),
        }
    }

    /// The prior weight of a size.
    fn prior(self) -> f64 {
        plausible(self.size(), 0.2, 0.02)
    }
}

/// One explanation with its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Pages' levels, ascending.
    pub pages: Vec<Level>,
    /// The erase block's level, if one shows.
    pub block: Option<Level>,
    /// The base difference, then the step of each page level, then of the block, seconds.
    pub coefficients: Vec<f64>,
    /// The noise of one candidate's figure, seconds.
    pub noise: f64,
    /// Posterior probability among all explanations.
    pub probability: f64,
}

impl Explanation {
    /// The extra time at a block's boundary, seconds.
    #[must_use]
    pub fn block_step(&self) -> Option<f64> {
        self.block.and(self.coefficients.last().copied())
    }

    /// The extra time at a block's boundary together with that of the pages that end there, seconds.
    #[must_use]
    pub fn at_block(&self) -> Option<f64> {
        Some(self.block_step()? + self.of_pages(self.block?.size()))
    }

    /// The extra time of the pages' boundaries at an offset, seconds.
    #[must_use]
    pub fn of_pages(&self, offset: Bytes) -> f64 {
        let steps = self.pages.iter().zip(self.coefficients.iter().skip(1));
        steps.filter(|(level, _)| level.is_at(offset)).map(|(_, step)| step).sum()
    }

    /// The extra time of a read across an offset, seconds.
    #[must_use]
    pub fn extra(&self, offset: Bytes) -> f64 {
        let levels = self.pages.iter().copied().chain(self.block);
        let steps = levels.zip(self.coefficients.iter().skip(1));
        let shown: f64 = steps.filter(|(level, _)| level.is_at(offset)).map(|(_, step)| step).sum();
        self.coefficients.first().copied().unwrap_or(0.0) + shown
    }

    /// The page's level and the extra time at its boundary, seconds. It is the smaller of two levels, unless
    /// the larger one's step is more than `hardly` times as large. Two planes inside a larger page show at
    /// odd multiples only; a larger step of theirs excludes a smaller page.
    #[must_use]
    pub fn page(&self, hardly: f64) -> Option<(Level, f64)> {
        let mut steps = self.pages.iter().copied().zip(self.coefficients.iter().skip(1).copied());
        let smaller = steps.next()?;
        let prevails = |(level, step): &(Level, f64)| match level {
            Level::Multiples(_) => *step > hardly * smaller.1,
            Level::OddMultiples(_) => *step > smaller.1,
        };
        Some(steps.next().filter(prevails).unwrap_or(smaller))
    }
}

/// The boundaries that a figure is the mean of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Positions {
    /// At the odd multiples 1 to 13 of the candidate: flashbench's.
    OddMultiples,
    /// At multiples that share no factor with 2, 3, 5, 7: our own.
    Coprime,
}

/// The smallest erase block. Guess: that of the oldest sticks still in use.
pub const ERASE_BLOCK_MIN: Bytes = Bytes::kib(128);
/// The largest page in reads: the largest effective page seen. It is below the smallest erase block, so that
/// no size is both.
const PAGE_MAX: Bytes = Bytes::kib(64);

/// All explanations, most probable first. `read_time`: of a read beside a boundary, seconds. Empty for fewer
/// than four candidates.
#[must_use]
pub fn explain(steps: &[Step], positions: Positions, read_time: f64) -> Vec<Explanation> {
    if steps.len() < SEVERAL {
        return Vec::new();
    }
    let blocks: Vec<Option<Level>> = std::iter::once(None).chain(block_levels(steps).map(Some)).collect();
    let page_sets = page_sets(steps);
    // Each kind of level is as likely to show as not. Its prior is spread over the sizes, so that many sizes
    // do not make one of them likely.
    let blocks_total: f64 = blocks.iter().flatten().map(|level| level.prior()).sum();
    let pages_total: f64 =
        page_sets.iter().map(|levels| levels.iter().map(|level| level.prior()).product::<f64>()).sum();
    let mut weighed = Vec::new();
    for pages in page_sets {
        for block in &blocks {
            let are_separate =
                pages.last().zip(block.as_ref()).is_none_or(|(page, block)| page.size() * 2 <= block.size());
            if are_separate {
                let mut explanation = weigh(steps, positions, &pages, *block);
                if let Some(explanation) = &mut explanation {
                    let blocks_share = if block.is_some() { blocks_total } else { 1.0 };
                    let pages_share = if pages.is_empty() { 1.0 } else { pages_total };
                    explanation.probability -= (blocks_share * pages_share).ln();
                    explanation.probability +=
                        explanation.block_step().map_or(0.0, |step| step_prior(step / read_time));
                }
                weighed.extend(explanation);
            }
        }
    }
    normalise(weighed)
}

/// The logarithm of the prior of a block's step, as a share of a read's time. Published steps (Patriot 0.29,
/// README card 0.19, PQI 0.14, wirenboard cards 01 and 03 0.2 and 0.28) lie around 0.22 within a factor of
/// two. The prior decides only if a table cannot: with powers of two alone, a block of 3 x 2^n looks like 2^n
/// with a step of 2/7.
fn step_prior(share: f64) -> f64 {
    let deviation = (share / 0.22).ln() / 0.7;
    -deviation * deviation / 2.0
}

/// No page, one page, or a page and its multi-plane multiple.
fn page_sets(steps: &[Step]) -> Vec<Vec<Level>> {
    let smallest = steps.iter().map(|step| step.candidate).min().unwrap_or(Bytes::ZERO);
    let single: Vec<Level> = sizes(&[1, 3], smallest, PAGE_MAX)
        .flat_map(|size| {
            let plane = size.get().is_power_of_two() && size > smallest;
            [Some(Level::Multiples(size)), plane.then_some(Level::OddMultiples(size))]
        })
        .flatten()
        .collect();
    let pairs =
        single.iter().flat_map(|small| single.iter().map(move |large| vec![*small, *large])).filter(|pair| {
            let ratio = pair[1].size() / pair[0].size();
            let nested = matches!(pair[0], Level::Multiples(size) if pair[1].size().is_multiple_of(size));
            nested && (2..=8).contains(&ratio)
        });
    std::iter::once(Vec::new()).chain(single.iter().map(|level| vec![*level])).chain(pairs).collect()
}

fn block_levels(steps: &[Step]) -> impl Iterator<Item = Level> {
    let largest = steps.iter().map(|step| step.candidate).max().unwrap_or(Bytes::ZERO);
    let shown = |size: &Bytes| steps.iter().filter(|step| step.candidate.is_multiple_of(*size)).count();
    sizes(FACTORS, ERASE_BLOCK_MIN, largest)
        .filter(move |size| shown(size) >= NOT_NOISE)
        .map(Level::Multiples)
}

/// Fits one hypothesis; its `probability` is still a logarithm. `None` if its levels are not separable here,
/// or if a step is negative.
fn weigh(steps: &[Step], positions: Positions, pages: &[Level], block: Option<Level>) -> Option<Explanation> {
    let levels: Vec<Level> = pages.iter().copied().chain(block).collect();
    let rows: Vec<Vec<f64>> = steps
        .iter()
        .map(|step| {
            let shares = levels.iter().map(|level| level.share(step.candidate, positions));
            std::iter::once(1.0).chain(shares).collect()
        })
        .collect();
    let extras: Vec<f64> = steps.iter().map(|step| step.extra).collect();
    let fit = robust::fit(&rows, &extras)?;
    if fit.coefficients[1..].iter().any(|step| *step <= 0.0) {
        return None;
    }
    let parameters = f64::from(u8::try_from(fit.coefficients.len() + 1).unwrap_or(u8::MAX));
    let penalty = parameters * count(steps.len()).ln() / 2.0;
    let prior: f64 = levels.iter().map(|level| level.prior().ln()).sum();
    Some(Explanation {
        pages: pages.to_vec(),
        block,
        coefficients: fit.coefficients,
        noise: fit.scale,
        probability: fit.log_likelihood - penalty + prior,
    })
}

/// A larger boundary, up to `largest`, that together with the explanation's block explains the steps better
/// than the block alone, and its step in seconds. The gain must exceed that of choosing among all sizes by
/// chance.
#[must_use]
pub fn larger_boundary(
    explanation: &Explanation,
    steps: &[Step],
    positions: Positions,
    largest: Bytes,
) -> Option<(Bytes, f64)> {
    let block = explanation.block?;
    let is_larger = |size: Bytes| size > block.size() && size <= largest && size.is_multiple_of(block.size());
    let levels: Vec<Level> = block_levels(steps).filter(|level| is_larger(level.size())).collect();
    let smaller: Vec<Level> = explanation.pages.iter().copied().chain([block]).collect();
    let alone = weigh(steps, positions, &explanation.pages, Some(block))?.probability;
    let both = levels.iter().filter_map(|level| weigh(steps, positions, &smaller, Some(*level)));
    let best = both.max_by(|a, b| a.probability.total_cmp(&b.probability))?;
    let is_better = best.probability - count(levels.len()).ln() > alone;
    best.block.zip(best.block_step()).filter(|_| is_better).map(|(level, step)| (level.size(), step))
}

/// Turns logarithms into probabilities, most probable first.
fn normalise(mut explanations: Vec<Explanation>) -> Vec<Explanation> {
    let best = explanations.iter().map(|each| each.probability).fold(f64::NEG_INFINITY, f64::max);
    for explanation in &mut explanations {
        explanation.probability = (explanation.probability - best).exp();
    }
    let total: f64 = explanations.iter().map(|each| each.probability).sum();
    for explanation in &mut explanations {
        explanation.probability /= total;
    }
    explanations.retain(|each| each.probability > 1e-9);
    explanations.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    explanations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(positions: Positions, levels: &[(Level, f64)], noise: &[f64]) -> Vec<Step> {
        let candidates = sizes(&[1, 3], Bytes::kib(2), Bytes::mib(64));
        candidates
            .enumerate()
            .map(|(index, candidate)| {
                let extra: f64 =
                    levels.iter().map(|(level, step)| level.share(candidate, positions) * step).sum();
                Step { candidate, extra: extra + noise[index % noise.len()] }
            })
            .collect()
    }

    const NOISE: [f64; 7] = [3e-6, -5e-6, 1e-6, 8e-6, -2e-6, 90e-6, -4e-6];

    #[test]
    fn three_levels_are_found_under_outliers() {
        let truth = [
            (Level::Multiples(Bytes::kib(8)), 50e-6),
            (Level::Multiples(Bytes::kib(16)), 95e-6),
            (Level::Multiples(Bytes::mib(12)), 140e-6),
        ];
        let best = &explain(&steps(Positions::Coprime, &truth, &NOISE), Positions::Coprime, 700e-6)[0];
        assert_eq!(best.block, Some(Level::Multiples(Bytes::mib(12))));
        assert_eq!(best.pages, [truth[0].0, truth[1].0]);
        assert!(best.probability > 0.9, "{best:?}");
    }

    #[test]
    fn a_page_may_be_half_of_the_smallest_block() {
        let truth = [(Level::Multiples(Bytes::kib(64)), 200e-6), (Level::Multiples(Bytes::kib(128)), 140e-6)];
        let best = &explain(&steps(Positions::Coprime, &truth, &NOISE), Positions::Coprime, 700e-6)[0];
        assert_eq!(best.block, Some(truth[1].0), "{best:?}");
        assert_eq!(best.pages, [truth[0].0], "{best:?}");
    }

    #[test]
    fn a_block_of_three_shows_at_two_of_seven_odd_multiples() {
        let truth = [(Level::Multiples(Bytes::mib(3)), 200e-6)];
        let best =
            &explain(&steps(Positions::OddMultiples, &truth, &NOISE), Positions::OddMultiples, 700e-6)[0];
        assert_eq!(best.block, Some(truth[0].0));
    }

    #[test]
    fn noise_alone_has_no_block() {
        let none = explain(&steps(Positions::Coprime, &[], &NOISE), Positions::Coprime, 700e-6);
        let with_block: f64 =
            none.iter().filter(|each| each.block.is_some()).map(|each| each.probability).sum();
        assert!(with_block < 0.5, "{with_block}");
    }

    #[test]
    fn four_candidates_can_be_explained_and_three_cannot() {
        let steps = steps(Positions::Coprime, &[], &NOISE);
        let explanations = |candidates: usize| explain(&steps[..candidates], Positions::Coprime, 700e-6);
        assert_eq!(explanations(3), []);
        assert!(!explanations(4).is_empty());
    }
}
