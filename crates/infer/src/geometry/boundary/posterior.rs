//! The probability of every explanation of reads across boundaries.
//!
//! The model: crossing a boundary at offset x costs a base difference plus a step for every *level* whose
//! unit divides x (a page, several planes' pages together, an erase block). Bayesian linear regression with
//! known noise gives the marginal likelihood of every set of levels in closed form (A. Gelman et al.,
//! "Bayesian Data Analysis", 3rd ed., ch. 14): the noise is known from samples of the same candidate. If even
//! the best explanation fits worse than that noise allows, all errors are enlarged by that factor (R. Birge,
//! Physical Review 40, 1932).

use flashscope_device::Bytes;

use crate::geometry::boundary::figure::Figures;
use crate::geometry::boundary::levels::{PAGES_PER_BLOCK_MIN, block_prior, blocks, page_prior, page_sets};
use crate::geometry::boundary::limits::ERASE_BLOCK_MAX;
use crate::geometry::staircase::{Explanation, Level};
use crate::method::Method;
use crate::statistics::count;
use crate::thresholds::{NEGLIGIBLE_NATS, UNUSUAL};

/// The expected size of a step, as a share of a read's time. Published ones are 6 to 60 %
/// (docs/methods/align.md); the middle is a guess.
const STEP_SHARE: f64 = 0.3;
/// The prior probability that an erase block shows in reads. Guess.
const BLOCK_SHOWS: f64 = 0.7;
/// The prior probability that a page shows in reads. Guess.
const PAGE_SHOWS: f64 = 0.6;
/// The least error of a figure, as a share of a read's time: the error of the model. Guess.
const MODEL_SHARE: f64 = 0.002;
/// Columns of a regression: the base, up to two levels of pages, and the block.
const COLUMNS_MAX: usize = 4;

/// All explanations, most probable first. If the page is known from writes, larger pages and blocks of few
/// such pages are implausible.
#[must_use]
pub fn explain(figures: &Figures, method: Method, page: Option<Bytes>) -> Vec<Explanation> {
    let candidates: Vec<Bytes> = figures.each.iter().map(|figure| figure.candidate).collect();
    let shapes = shapes(&candidates, method, page);
    let moments = Moments::of(figures, &candidates, method);
    let first = moments.weigh_all(&shapes, 1.0);
    let misfit =
        first.iter().max_by(|a, b| a.log_weight.total_cmp(&b.log_weight)).map_or(1.0, |best| best.misfit);
    let weighed = if misfit > 1.0 { moments.weigh_all(&shapes, misfit) } else { first };
    normalise(&weighed, &shapes, figures)
}

/// Levels, with the logarithm of their joint prior.
#[derive(Debug, Clone)]
struct Shape {
    pages: Vec<Level>,
    block: Option<Level>,
    log_prior: f64,
}

fn shapes(candidates: &[Bytes], method: Method, known: Option<Bytes>) -> Vec<Shape> {
    let of_pages =
        |levels: &[Level]| levels.iter().map(|level| method.prior(page_prior(*level))).product::<f64>();
    let page_sets = page_sets(candidates, method);
    let blocks = blocks(candidates, method);
    let pages_total: f64 = page_sets.iter().filter(|set| !set.is_empty()).map(|set| of_pages(set)).sum();
    let blocks_total: f64 = blocks.iter().map(|level| method.prior(block_prior(*level))).sum();
    let mut shapes = Vec::new();
    for pages in page_sets {
        let of_pages =
            if pages.is_empty() { 1.0 - PAGE_SHOWS } else { PAGE_SHOWS * of_pages(&pages) / pages_total };
        let largest = pages.last().map_or(Bytes::ZERO, |level| level.size());
        let against = |block: Bytes| {
            let contradicts =
                known.is_some_and(|known| largest > known || block < known * PAGES_PER_BLOCK_MIN);
            if contradicts { UNUSUAL } else { 1.0 }
        };
        shapes.push(Shape {
            pages: pages.clone(),
            block: None,
            log_prior: (of_pages * (1.0 - BLOCK_SHOWS) * against(ERASE_BLOCK_MAX)).ln(),
        });
        for block in blocks.iter().filter(|block| block.size() >= largest * PAGES_PER_BLOCK_MIN) {
            let of_block = BLOCK_SHOWS * method.prior(block_prior(*block)) / blocks_total;
            shapes.push(Shape {
                pages: pages.clone(),
                block: Some(*block),
                log_prior: (of_pages * of_block * against(block.size())).ln(),
            });
        }
    }
    shapes
}

impl Shape {
    fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        self.pages.iter().copied().chain(self.block)
    }
}

/// Weighted sums over the candidates from which every regression follows.
struct Moments {
    levels: Vec<Level>,
    /// Sums over the candidates at which both of two levels show, by weight.
    products: Vec<Vec<f64>>,
    /// The same times the extra time.
    towards: Vec<f64>,
    squares: f64,
    candidates: usize,
    step_s: f64,
}

/// One regression's result.
#[derive(Debug, Clone)]
struct Weighed {
    shape: usize,
    coefficients: [f64; COLUMNS_MAX],
    log_weight: f64,
    misfit: f64,
}

impl Moments {
    fn of(figures: &Figures, candidates: &[Bytes], method: Method) -> Self {
        let mut levels: Vec<Level> =
            page_sets(candidates, method).into_iter().filter(|set| set.len() == 1).flatten().collect();
        levels.extend(blocks(candidates, method));
        levels.sort_unstable();
        levels.dedup();
        let model_s = figures.read_s * MODEL_SHARE;
        let weight = |error_s: f64| 1.0 / (error_s.powi(2) + model_s.powi(2));
        let columns = levels.len() + 1;
        let mut moments = Self {
            levels,
            products: vec![vec![0.0; columns]; columns],
            towards: vec![0.0; columns],
            squares: 0.0,
            candidates: figures.each.len(),
            step_s: figures.read_s * STEP_SHARE,
        };
        for figure in &figures.each {
            moments.add(figure.candidate, figure.extra_s, weight(figure.error_s));
        }
        moments
    }

    fn add(&mut self, candidate: Bytes, extra_s: f64, weight: f64) {
        let shows = |(index, level): (usize, &Level)| level.is_at(candidate).then_some(index + 1);
        let shown: Vec<usize> =
            std::iter::once(0).chain(self.levels.iter().enumerate().filter_map(shows)).collect();
        for row in &shown {
            for column in &shown {
                self.products[*row][*column] += weight;
            }
            self.towards[*row] += weight * extra_s;
        }
        self.squares += weight * extra_s * extra_s;
    }

    fn weigh_all(&self, shapes: &[Shape], misfit: f64) -> Vec<Weighed> {
        shapes.iter().enumerate().filter_map(|(index, shape)| self.weigh(index, shape, misfit)).collect()
    }

    /// `None` if a step is negative.
    fn weigh(&self, index: usize, shape: &Shape, misfit: f64) -> Option<Weighed> {
        let mut columns = [0; COLUMNS_MAX];
        let mut used = 1;
        for level in shape.levels() {
            columns[used] = self.levels.binary_search(&level).ok()? + 1;
            used += 1;
        }
        let columns = &columns[..used];
        let mut matrix = [[0.0; COLUMNS_MAX]; COLUMNS_MAX];
        let mut towards = [0.0; COLUMNS_MAX];
        for (i, row) in columns.iter().enumerate() {
            for (j, column) in columns.iter().enumerate() {
                matrix[i][j] = self.products[*row][*column] / misfit;
            }
            matrix[i][i] += self.step_s.powi(-2);
            towards[i] = self.towards[*row] / misfit;
        }
        let (coefficients, log_determinant) = solve(&mut matrix, towards, used)?;
        if coefficients[1..used].iter().any(|step| *step <= 0.0) {
            return None;
        }
        let explained: f64 = coefficients.iter().zip(towards).map(|(step, towards)| step * towards).sum();
        let chi_squared = self.squares - explained * misfit;
        let log_likelihood = (explained - log_determinant) / 2.0 - count(used) * self.step_s.ln();
        Some(Weighed {
            shape: index,
            coefficients,
            log_weight: log_likelihood + shape.log_prior,
            misfit: chi_squared / count(self.candidates.saturating_sub(used).max(1)),
        })
    }
}

/// Cholesky's solution of a symmetric system, and the logarithm of its determinant; `None` if it is not
/// positive definite.
fn solve(
    matrix: &mut [[f64; COLUMNS_MAX]; COLUMNS_MAX],
    mut values: [f64; COLUMNS_MAX],
    used: usize,
) -> Option<([f64; COLUMNS_MAX], f64)> {
    let mut log_determinant = 0.0;
    for i in 0..used {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let rest = matrix[i][j] - sum;
            matrix[i][j] = if i == j { rest.sqrt() } else { rest / matrix[j][j] };
        }
        if matrix[i][i].is_nan() || matrix[i][i] <= 0.0 {
            return None;
        }
        log_determinant += 2.0 * matrix[i][i].ln();
        let sum: f64 = (0..i).map(|k| matrix[i][k] * values[k]).sum();
        values[i] = (values[i] - sum) / matrix[i][i];
    }
    for i in (0..used).rev() {
        let sum: f64 = (i + 1..used).map(|k| matrix[k][i] * values[k]).sum();
        values[i] = (values[i] - sum) / matrix[i][i];
    }
    Some((values, log_determinant))
}

fn normalise(weighed: &[Weighed], shapes: &[Shape], figures: &Figures) -> Vec<Explanation> {
    let best = weighed.iter().map(|each| each.log_weight).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = weighed.iter().map(|each| (each.log_weight - best).exp()).sum();
    let noise = figures.noise_s / (count(figures.samples()) / count(figures.each.len().max(1))).sqrt();
    let explanation = |each: &Weighed| {
        let shape = &shapes[each.shape];
        Explanation {
            pages: shape.pages.clone(),
            block: shape.block,
            coefficients: each.coefficients[..=shape.levels().count()].to_vec(),
            noise,
            probability: (each.log_weight - best).exp() / total,
        }
    };
    let mut explanations: Vec<Explanation> =
        weighed.iter().filter(|each| each.log_weight > best - NEGLIGIBLE_NATS).map(explanation).collect();
    explanations.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    explanations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::boundary::figure::Figure;
    use crate::sizes::{FACTORS, sizes};

    /// Reads of 800 us; each level is a size, and the microseconds that reads take longer at its multiples.
    fn figures(levels: &[(Bytes, f64)]) -> Figures {
        let extra_us = |candidate: Bytes| {
            let at = levels.iter().filter(|(size, _)| candidate.is_multiple_of(*size));
            at.map(|(_, us)| us).sum::<f64>()
        };
        let figure = |candidate: Bytes| Figure {
            candidate,
            extra_s: extra_us(candidate) * 1e-6,
            error_s: 2e-6,
            samples: 3,
        };
        let each = sizes(FACTORS, Bytes::kib(2), Bytes::gib(2)).map(figure).collect();
        Figures { each, read_s: 800e-6, noise_s: 4e-6, is_even: false }
    }

    fn block(levels: &[(Bytes, f64)], page: Option<Bytes>) -> (Option<Bytes>, f64) {
        let explanations = explain(&figures(levels), Method::default(), page);
        let best = explanations.first().unwrap().block;
        let same = explanations.iter().filter(|each| each.block == best);
        (best.map(Level::size), same.map(|each| each.probability).sum())
    }

    #[test]
    fn a_page_that_writes_showed_is_weighed_but_does_not_make_another_block() {
        let levels = [(Bytes::kib(7), 36.0), (Bytes::kib(112), 170.0)];
        for page in [None, Some(Bytes::kib(7)), Some(Bytes::kib(14))] {
            let (size, probability) = block(&levels, page);
            assert_eq!(size, Some(Bytes::kib(112)), "{page:?}");
            assert!(probability > 0.99, "{page:?}: {probability}");
        }
    }

    #[test]
    fn the_probabilities_of_all_explanations_are_one_together() {
        // Nothing, a step within the noise, and two steps.
        let cases: [&[(Bytes, f64)]; 3] =
            [&[], &[(Bytes::mib(4), 3.0)], &[(Bytes::kib(16), 8.0), (Bytes::mib(4), 5.0)]];
        for levels in cases {
            let explanations = explain(&figures(levels), Method::default(), None);
            let all: f64 = explanations.iter().map(|each| each.probability).sum();
            assert!((all - 1.0).abs() < 1e-6, "{levels:?}: {all}");
        }
    }

    #[test]
    fn a_boundary_that_may_be_the_page_of_writes_is_no_block() {
        let of = |page| block(&[(Bytes::kib(256), 150.0)], Some(page)).0;
        assert_eq!(of(Bytes::kib(16)), Some(Bytes::kib(256)));
        assert_eq!(of(Bytes::kib(256)), None);
    }
}
