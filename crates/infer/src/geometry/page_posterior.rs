//! The posterior probability of every effective page, from small writes across possible boundaries.
//!
//! A write of a part of a page costs as much as the page. A write across a boundary touches two pages, so it
//! takes longer than writes of the same size beside it, by the same share at every boundary.

use std::collections::VecDeque;

use flashscope_device::Bytes;

use flashscope_record::observation::PageEdge;

use crate::sizes::{FACTORS, OF_THREE, plausible, sizes};
use crate::statistics::{count, median};
use crate::thresholds::{DECIDED, UNUSUAL};

/// The smallest page that is searched for. Guess: raw pages of USB sticks have at least 2 KiB.
const PAGE_MIN: Bytes = Bytes::kib(2);
/// The largest page that is searched for. Guess.
const PAGE_MAX: Bytes = Bytes::mib(1);
/// The extra time of a write across a boundary, as a share of those beside it. Up to 1 if each part of a page
/// costs a program; more if the writes beside it stay in the controller's memory until the page is full.
/// Steps: guess.
const EXCESSES: [f64; 13] = [0.012, 0.02, 0.035, 0.06, 0.1, 0.15, 0.22, 0.32, 0.45, 0.65, 0.9, 2.0, 6.0];
/// The relative deviation of that extra time between boundaries. Guess: the steps above differ by as much.
const SPREAD: f64 = 0.15;
/// The noise of that share. Guess.
const NOISES: [f64; 9] = [0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4, 1.0];
/// The probability of an outlier: on a quiet device, and on a busy one. Guess.
const OUTLIERS: [f64; 2] = [0.03, 0.15];
/// The least probability of an outlier across a boundary. Guess.
const OUTLIERS_AT_EDGE: f64 = 0.15;
/// The fewest writes across a page's boundaries, and beside them, before it is accepted. Guess: the size
/// sweep uses these writes. With two, six write units of 500 were lost (zoo, seeds 9301, 9302 and 9401).
const TRIED_MIN: usize = 3;
/// Writes beside boundaries are compared over this many recent boundaries: devices drift more slowly. Guess.
const LAST: usize = 5;
/// The prior probability that no page shows. Guess.
const NONE: f64 = 0.1;
/// Pages below this posterior probability are ignored. Guess.
const IMPLAUSIBLE: f64 = 1e-4;

/// What has to be tried before a page is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Writes across boundaries of this page.
    Edges(Bytes),
    /// Writes elsewhere.
    Others,
}

/// The posterior probability of every page, and of none.
#[derive(Debug, Clone)]
pub struct PagePosterior {
    /// The two without pages first.
    hypotheses: Vec<Hypothesis>,
    /// Times of the last writes beside boundaries, seconds.
    beside: VecDeque<f64>,
    tried: usize,
}

/// What the writes may show.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// Pages of this size.
    Pages(Bytes),
    /// Nothing.
    Even,
    /// The second of three writes takes longer everywhere: the device slows down, or its noise is asymmetric.
    Lopsided,
}

/// One shape, with the logarithm of its weight for each noise, share of outliers and extra time.
#[derive(Debug, Clone)]
struct Hypothesis {
    shape: Shape,
    plausible: f64,
    at_edge: usize,
    weights: Vec<[[f64; NOISES.len()]; OUTLIERS.len()]>,
}

impl Hypothesis {
    fn new(shape: Shape, plausible: f64) -> Self {
        let excesses = if shape == Shape::Even { 1 } else { EXCESSES.len() };
        let each = (plausible / count(excesses * NOISES.len() * OUTLIERS.len())).ln();
        Self { shape, plausible, at_edge: 0, weights: vec![[[each; NOISES.len()]; OUTLIERS.len()]; excesses] }
    }

    /// Multiplies by the likelihood of an extra time, up to a constant: Student's t with three degrees of
    /// freedom, or an outlier. Outliers are likelier across a boundary, where a controller may do postponed
    /// work.
    fn take(&mut self, edge: &PageEdge, excess: f64) {
        let (expected, at_edge) = match self.shape {
            Shape::Pages(page) => (more_pages(edge, page), true),
            Shape::Even => (0.0, false),
            Shape::Lopsided => (1.0, false),
        };
        let is_edge = at_edge && expected > 0.0;
        self.at_edge += usize::from(is_edge);
        for (weights, share) in self.weights.iter_mut().zip(EXCESSES) {
            for (weights, outliers) in weights.iter_mut().zip(OUTLIERS) {
                let outliers = if is_edge { OUTLIERS_AT_EDGE.max(outliers) } else { outliers };
                for (weight, noise) in weights.iter_mut().zip(NOISES) {
                    let spread = noise.hypot(SPREAD * share * expected);
                    let regular = (1.0 - outliers) * student((excess - share * expected) / spread) / spread;
                    *weight += (regular + outliers * cauchy(excess)).ln();
                }
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = f64> + '_ {
        self.weights.iter().flatten().flatten().copied()
    }
}

/// The density of Student's t with three degrees of freedom.
fn student(x: f64) -> f64 {
    0.367_552_6 / (1.0 + x * x / 3.0).powi(2)
}

/// The density of Cauchy's distribution.
fn cauchy(x: f64) -> f64 {
    std::f64::consts::FRAC_1_PI / (1.0 + x * x)
}

/// The number of pages that the write across touches, less the average of those beside it.
fn more_pages(edge: &PageEdge, page: Bytes) -> f64 {
    let start = edge.edge.saturating_sub(edge.write / 2 + edge.write);
    let touched = |index: u64| {
        let from = start + edge.write * index;
        let end = from + edge.write;
        Bytes::new(end.round_up(page) / page - from / page).as_f64()
    };
    touched(1) - (touched(0) + touched(2)) / 2.0
}

impl PagePosterior {
    /// The prior, on a device with this erase block if reads showed one.
    #[must_use]
    pub fn new(erase_block: Option<Bytes>) -> Self {
        let fits = |page: Bytes| match erase_block {
            Some(block) if !block.is_multiple_of(page) || page >= block => UNUSUAL,
            _ => 1.0,
        };
        let pages: Vec<(Bytes, f64)> = sizes(FACTORS, PAGE_MIN, PAGE_MAX)
            .map(|page| (page, plausible(page, OF_THREE, UNUSUAL) * fits(page)))
            .collect();
        let total: f64 = pages.iter().map(|(_, weight)| weight).sum();
        let page = |(page, weight): &(Bytes, f64)| {
            Hypothesis::new(Shape::Pages(*page), weight / total * (1.0 - NONE))
        };
        let without = [Shape::Even, Shape::Lopsided].map(|shape| Hypothesis::new(shape, NONE / 2.0));
        let hypotheses = without.into_iter().chain(pages.iter().map(page)).collect();
        Self { hypotheses, beside: VecDeque::new(), tried: 0 }
    }

    /// Takes three writes into account.
    pub fn take(&mut self, edge: &PageEdge) {
        let Some(excess) = self.excess(edge) else { return };
        self.tried += 1;
        for hypothesis in &mut self.hypotheses {
            hypothesis.take(edge, excess);
        }
        let best = self.hypotheses.iter().flat_map(Hypothesis::all).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = self.hypotheses.iter_mut().map(|each| each.weigh(best)).sum();
        self.hypotheses.iter_mut().for_each(|each| each.plausible /= total);
    }

    /// The extra time of the write across, as a share of recent writes beside boundaries; `None` if those
    /// took no time.
    fn excess(&mut self, edge: &PageEdge) -> Option<f64> {
        self.beside.extend([edge.before, edge.after].map(|latency| latency.as_secs_f64()));
        while self.beside.len() > 2 * LAST {
            self.beside.pop_front();
        }
        let beside = median(self.beside.make_contiguous()).filter(|seconds| *seconds > 0.0)?;
        Some(edge.across.as_secs_f64() / beside - 1.0)
    }

    /// Each page that is still plausible, with its probability.
    pub fn pages(&self) -> impl Iterator<Item = (Bytes, f64)> + '_ {
        self.hypotheses.iter().filter_map(|each| match each.shape {
            Shape::Pages(page) if each.plausible > IMPLAUSIBLE => Some((page, each.plausible)),
            _ => None,
        })
    }

    /// The most probable page, or that none shows, with its probability.
    #[must_use]
    pub fn verdict(&self) -> (Option<Bytes>, f64) {
        let none = 1.0 - self.hypotheses[2..].iter().map(|each| each.plausible).sum::<f64>();
        let best = self.pages().max_by(|(_, a), (_, b)| a.total_cmp(b));
        match best {
            Some((page, probability)) if probability > none => (Some(page), probability),
            _ => (None, none),
        }
    }

    /// Whether one page, or none, is left.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.verdict().1 > DECIDED && self.missing().is_none()
    }

    /// What was tried too few times to accept the most probable page: writes across its boundaries, or
    /// beside.
    #[must_use]
    pub fn missing(&self) -> Option<Missing> {
        let page = self.verdict().0?;
        let at_edge = self.hypotheses.iter().find(|each| each.shape == Shape::Pages(page))?.at_edge;
        match (at_edge < TRIED_MIN, self.tried - at_edge < TRIED_MIN) {
            (true, _) => Some(Missing::Edges(page)),
            (_, true) => Some(Missing::Others),
            _ => None,
        }
    }

    /// The probability that a write of this size across `edge` takes longer than those beside it.
    #[must_use]
    pub fn is_edge(&self, edge: Bytes, write: Bytes) -> f64 {
        let zero = std::time::Duration::ZERO;
        let edge = PageEdge { edge, write, before: zero, across: zero, after: zero };
        let is_slow = |shape: Shape| match shape {
            Shape::Pages(page) => more_pages(&edge, page) > 0.0,
            Shape::Even => false,
            Shape::Lopsided => true,
        };
        self.hypotheses.iter().filter(|each| is_slow(each.shape)).map(|each| each.plausible).sum()
    }
}

impl Hypothesis {
    /// Sets the probability, up to a factor that all hypotheses share, and returns it.
    fn weigh(&mut self, best: f64) -> f64 {
        self.plausible = self.all().map(|weight| (weight - best).exp()).sum();
        self.plausible
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The writes of a stick with this page at this boundary: 2 ms for each page touched, and 0.5 ms.
    fn seen(edge: Bytes, page: Bytes) -> PageEdge {
        let write = Bytes::kib(1);
        let at = |start: Bytes| {
            let end = start + write;
            Duration::from_micros(500 + 2000 * (end.round_up(page) / page - start / page))
        };
        let start = edge - write / 2;
        PageEdge { edge, write, before: at(start - write), across: at(start), after: at(start + write) }
    }

    #[test]
    fn a_dozen_boundaries_decide_a_page_of_48_kib() {
        let mut posterior = PagePosterior::new(None);
        for kib in [16, 24, 32, 48, 64, 72, 96, 120, 144, 160, 192, 240, 336, 480] {
            posterior.take(&seen(Bytes::kib(kib), Bytes::kib(48)));
        }
        let (page, probability) = posterior.verdict();
        assert_eq!(page, Some(Bytes::kib(48)), "{probability}");
        assert!(posterior.is_decided(), "{probability}");
        assert!(posterior.is_edge(Bytes::kib(528), Bytes::kib(1)) > 0.99);
        assert!(posterior.is_edge(Bytes::kib(512), Bytes::kib(1)) < 0.01);
    }

    #[test]
    fn equal_times_decide_that_no_page_shows() {
        let mut posterior = PagePosterior::new(None);
        let time = Duration::from_micros(300);
        for index in 1..80 {
            let (edge, write) = (Bytes::kib(index * 64), Bytes::kib(1));
            posterior.take(&PageEdge { edge, write, before: time, across: time, after: time });
        }
        assert_eq!(posterior.verdict().0, None);
        assert!(posterior.is_decided());
    }

    #[test]
    fn a_standing_clock_changes_nothing() {
        let mut posterior = PagePosterior::new(None);
        let zero = Duration::ZERO;
        posterior.take(&PageEdge {
            edge: Bytes::kib(64),
            write: Bytes::kib(1),
            before: zero,
            across: zero,
            after: zero,
        });
        assert!(!posterior.is_decided());
    }

    #[test]
    fn the_probabilities_of_all_pages_and_of_none_are_one_before_any_write() {
        for erase_block in [None, Some(Bytes::mib(6))] {
            let posterior = PagePosterior::new(erase_block);
            let all: f64 = posterior.hypotheses.iter().map(|each| each.plausible).sum();
            assert!((all - 1.0).abs() < 1e-9, "{all}");
            for each in &posterior.hypotheses {
                let weights: f64 = each.all().map(f64::exp).sum();
                assert!((weights / each.plausible - 1.0).abs() < 1e-9, "{:?}: {weights}", each.shape);
            }
        }
    }
}
