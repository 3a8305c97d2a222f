//! The choice of the next boundaries to read, and when to stop.

use flashscope_device::Bytes;

use crate::geometry::boundary::figure::{Figure, Figures};
use crate::geometry::boundary::levels::PAGES_PER_BLOCK_MIN;
use crate::geometry::boundary::limits::{ERASE_BLOCK_MIN, HARDLY, step_min_s};
use crate::geometry::staircase::Explanation;
use crate::sizes::{FACTORS, sizes};
use crate::statistics::count;
use crate::thresholds::{CLEAR, DECIDED, SURE, SURE_ENOUGH};

/// The largest block that has to be excluded. Guess: larger ones are rare, and have so few boundaries that
/// excluding them would cost more than all others.
const COMMON_BLOCK_MAX: Bytes = Bytes::mib(32);

/// Whether page and erase block are decided, or that no boundary shows.
#[must_use]
pub fn is_decided(explanations: &[Explanation], figures: &Figures) -> bool {
    let Some(best) = explanations.first() else { return false };
    let level = |each: &Explanation| each.page(HARDLY).map(|(level, _)| level);
    let page = probability_of(explanations, |each| level(each) == level(best));
    let block_is_decided = match best.block {
        Some(_) => of_block(explanations) >= DECIDED,
        None => nothing_hides(figures) && hiding(explanations, figures).is_empty(),
    };
    block_is_decided && (page >= SURE || (best.pages.is_empty() && nothing_hides(figures)))
}

/// Whether one block of at most [`COMMON_BLOCK_MAX`] is sure enough to be reported.
#[must_use]
pub fn has_common_block(explanations: &[Explanation]) -> bool {
    let block = explanations.first().and_then(|best| best.block);
    block.is_some_and(|block| block.size() <= COMMON_BLOCK_MAX) && of_block(explanations) >= SURE_ENOUGH
}

/// The probability of the block that explains the reads best, or of none.
fn of_block(explanations: &[Explanation]) -> f64 {
    let block = explanations.first().and_then(|best| best.block);
    probability_of(explanations, |each| each.block == block)
}

fn probability_of(explanations: &[Explanation], matches: impl Fn(&Explanation) -> bool) -> f64 {
    explanations.iter().filter(|each| matches(each)).map(|each| each.probability).sum()
}

/// Whether even the smallest step that counts would have shown.
fn nothing_hides(figures: &Figures) -> bool {
    is_too_small(2.0 / count(figures.samples().max(1)).sqrt(), figures)
}

/// Whether the least step would show with this standard error, in units of a sample's noise.
fn is_too_small(error: f64, figures: &Figures) -> bool {
    error * figures.noise_s * CLEAR < step_min_s(figures.read_s)
}

/// If no block shows, the candidates with too few samples to exclude one. A block's step shows only against
/// boundaries of the same pages, which may be few.
#[must_use]
pub fn hiding(explanations: &[Explanation], figures: &Figures) -> Vec<Bytes> {
    let Some(best) = explanations.first().filter(|best| best.block.is_none()) else { return Vec::new() };
    let page = best.pages.last().map_or(Bytes::ZERO, |level| level.size());
    let block_min = ERASE_BLOCK_MIN.max(page * PAGES_PER_BLOCK_MIN);
    let of_pages = |block: &Bytes| page.is_zero() || block.is_multiple_of(page);
    let blocks = sizes(FACTORS, block_min, COMMON_BLOCK_MAX).filter(of_pages);
    let groups = blocks.map(|block| Contrast::of(block, best, figures));
    let worst = groups.max_by(|a, b| a.error().total_cmp(&b.error()));
    let hides = worst.filter(|worst| !is_too_small(worst.error(), figures));
    hides.map_or_else(Vec::new, Contrast::fewer)
}

/// The boundaries at which a block's step would show, and those that differ from them in nothing else.
struct Contrast<'a> {
    with: Vec<&'a Figure>,
    without: Vec<&'a Figure>,
}

impl<'a> Contrast<'a> {
    fn of(block: Bytes, best: &Explanation, figures: &'a Figures) -> Self {
        let same_pages = |figure: &&Figure| {
            best.pages.iter().all(|page| page.is_at(figure.candidate) == page.is_at(block))
        };
        let (with, without) =
            figures.each.iter().filter(same_pages).partition(|figure| figure.candidate.is_multiple_of(block));
        Self { with, without }
    }

    fn samples(figures: &[&Figure]) -> f64 {
        count(figures.iter().map(|figure| figure.samples).sum::<usize>())
    }

    /// The standard error of the step, in units of a sample's noise; 0 without such boundaries.
    fn error(&self) -> f64 {
        let (with, without) = (Self::samples(&self.with), Self::samples(&self.without));
        if with * without > 0.0 { (1.0 / with + 1.0 / without).sqrt() } else { 0.0 }
    }

    /// The candidates of the side with fewer samples.
    fn fewer(self) -> Vec<Bytes> {
        let is_with = Self::samples(&self.with) < Self::samples(&self.without);
        let fewer = if is_with { self.with } else { self.without };
        fewer.into_iter().map(|figure| figure.candidate).collect()
    }
}

/// The `number` most informative candidates: those at which the explanations differ most relative to what is
/// known there, and those that fit none of them. If reads do not depend on the offset, a candidate is
/// repeated while it is the most informative.
#[must_use]
pub fn informative(explanations: &[Explanation], figures: &Figures, number: usize) -> Vec<Bytes> {
    let mut scored: Vec<Candidate> =
        figures.each.iter().map(|figure| Candidate::of(figure, explanations, figures)).collect();
    scored.sort_by(|a, b| b.score().total_cmp(&a.score()));
    if !figures.is_even {
        return scored.into_iter().take(number).map(|each| each.candidate).collect();
    }
    most_informative(&mut scored, number)
}

/// `number` candidates, half of them at boundaries of the block that fits best and half elsewhere; none if no
/// block fits. At its boundaries, candidates with the fewest samples per boundary come first: a difference at
/// one offset is no block's.
#[must_use]
pub fn at_block_and_beside(
    explanations: &[Explanation],
    figures: &Figures,
    number: usize,
    boundaries: impl Fn(Bytes) -> usize,
) -> Vec<Bytes> {
    let Some(block) = explanations.first().and_then(|best| best.block) else { return Vec::new() };
    let (at, mut beside): (Vec<Figure>, Vec<Figure>) =
        figures.each.iter().partition(|figure| block.is_at(figure.candidate));
    beside.sort_by_key(|figure| figure.samples);
    // The largest have the fewest boundaries: with equal knowledge, the smallest come first.
    let at_edge = |Figure { candidate, samples, .. }: Figure| {
        let information = count(boundaries(candidate).max(1));
        Candidate { candidate, information, samples }
    };
    let mut at: Vec<Candidate> = at.into_iter().rev().map(at_edge).collect();
    let at = most_informative(&mut at, number / 2);
    at.into_iter().zip(beside.iter().cycle()).flat_map(|(at, beside)| [at, beside.candidate]).collect()
}

/// `number` candidates, each time the one with the most information per sample so far.
fn most_informative(each: &mut [Candidate], number: usize) -> Vec<Bytes> {
    let mut next = Vec::with_capacity(number);
    while next.len() < number {
        let most = each.iter_mut().max_by(|a, b| a.score().total_cmp(&b.score()));
        let Some(most) = most else { break };
        most.samples += 1;
        next.push(most.candidate);
    }
    next
}

/// The information in samples of one candidate.
struct Candidate {
    candidate: Bytes,
    /// The information of a first sample.
    information: f64,
    samples: usize,
}

impl Candidate {
    fn of(figure: &Figure, explanations: &[Explanation], figures: &Figures) -> Self {
        let (mean, variance) = predicted(explanations, figure.candidate);
        let surprise = ((figure.extra_s - mean).powi(2) - (3.0 * figure.error_s).powi(2)).max(0.0);
        let information = (variance + surprise) / figures.noise_s.powi(2) + 1e-3;
        Self { candidate: figure.candidate, information, samples: figure.samples }
    }

    fn score(&self) -> f64 {
        self.information / count(self.samples.max(1))
    }
}

/// Mean and variance over the explanations of the extra time at a candidate's boundaries, seconds.
fn predicted(explanations: &[Explanation], candidate: Bytes) -> (f64, f64) {
    let (mut mean, mut square) = (0.0, 0.0);
    for explanation in explanations {
        let extra = explanation.extra(candidate);
        mean += explanation.probability * extra;
        square += explanation.probability * extra * extra;
    }
    (mean, (square - mean * mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::staircase::Level;

    /// Reads of 400 µs with this noise that show a page of 2.5 KiB and no block, with `samples` at each
    /// candidate.
    fn seen(noise_s: f64, samples: usize) -> (Vec<Explanation>, Figures) {
        let page = Level::Multiples(Bytes::new(2560));
        let best = Explanation {
            pages: vec![page],
            block: None,
            coefficients: vec![0.0, 30e-6],
            noise: noise_s,
            probability: 1.0,
        };
        let figure = |candidate: Bytes| Figure {
            candidate,
            extra_s: if page.is_at(candidate) { 30e-6 } else { 0.0 },
            error_s: noise_s / count(samples).sqrt(),
            samples,
        };
        let each = sizes(FACTORS, Bytes::kib(2), Bytes::gib(2)).map(figure).collect();
        (vec![best], Figures { each, read_s: 400e-6, noise_s, is_even: false })
    }

    #[test]
    fn a_block_may_hide_if_few_boundaries_are_those_of_pages_alone() {
        let (explanations, figures) = seen(20e-6, 8);
        assert!(nothing_hides(&figures), "all samples together would decide");
        let of_pages_alone = [2560, 5120, 10_240, 20_480, 40_960].map(Bytes::new);
        assert!(!is_decided(&explanations, &figures));
        assert_eq!(hiding(&explanations, &figures), of_pages_alone);
    }

    #[test]
    fn the_most_informative_candidate_is_repeated_if_reads_do_not_depend_on_the_offset() {
        let (mut explanations, mut figures) = seen(20e-6, 8);
        let block = Level::Multiples(Bytes::mib(1));
        let other = Explanation {
            block: Some(block),
            coefficients: vec![0.0, 30e-6, 40e-6],
            probability: 0.5,
            ..explanations[0].clone()
        };
        explanations[0].probability = 0.5;
        explanations.push(other);
        let at_block = |next: &[Bytes]| next.iter().filter(|size| block.is_at(**size)).count();
        let candidates = figures.each.len();
        let once = informative(&explanations, &figures, candidates);
        let blocks = at_block(&once);
        assert!(once.len() == candidates && at_block(&once[..blocks]) == blocks);
        figures.is_even = true;
        let next = informative(&explanations, &figures, candidates);
        assert_eq!((next.len(), at_block(&next)), (candidates, candidates));
    }

    #[test]
    fn candidates_at_a_block_are_read_in_proportion_to_their_boundaries() {
        let (mut explanations, figures) = seen(20e-6, 8);
        assert!(at_block_and_beside(&explanations, &figures, 8, |_| 1).is_empty(), "no block");
        let block = Level::Multiples(Bytes::mib(512));
        explanations[0] = Explanation {
            block: Some(block),
            coefficients: vec![0.0, 30e-6, 40e-6],
            ..explanations[0].clone()
        };
        // Of 512 MiB there are 30, of each larger one 3.
        let boundaries = |candidate| if candidate == Bytes::mib(512) { 30 } else { 3 };
        let next = at_block_and_beside(&explanations, &figures, 60, boundaries);
        let (at, beside): (Vec<Bytes>, Vec<Bytes>) = next.iter().partition(|size| block.is_at(**size));
        assert_eq!((at.len(), beside.len()), (30, 30));
        assert!(at.iter().all(|size| *size == Bytes::mib(512)), "{at:?}");
        let mut different = beside.clone();
        different.dedup();
        assert_eq!(different, beside);
    }

    #[test]
    fn little_noise_excludes_every_block() {
        let (explanations, figures) = seen(2e-6, 8);
        assert!(hiding(&explanations, &figures).is_empty());
        assert!(is_decided(&explanations, &figures));
    }
}
