//! Least squares of cells and blocks: an incomplete block design.
//!
//! With the blocks eliminated, the normal equations of the cells are a graph's Laplacian: cells that share a
//! block are joined. Its rank is known without a tolerance: each connected component lacks one.

use super::contrast::Contrast;
use super::design::Design;
use crate::statistics::count;

/// The fitted cells and blocks.
#[derive(Debug)]
pub(super) struct Fit {
    /// The mean logarithm of each cell, counted from the first cell of its component.
    pub cells: Vec<f64>,
    /// What the model leaves of each trial.
    pub residuals: Vec<f64>,
    /// The degrees of freedom of the residuals.
    pub freedom: usize,
    /// The covariance of the cells in units of the residual variance.
    covariance: Vec<Vec<f64>>,
    /// The connected component of each cell.
    components: Vec<usize>,
}

impl Fit {
    /// The fit of a design.
    pub fn new(design: &Design) -> Self {
        let components = components(design);
        let means = Means::of(design);
        let (laplacian, totals) = means.equations(design);
        let covariance = inverse(&laplacian, &components);
        let cells: Vec<f64> = covariance.iter().map(|row| dot(row, &totals)).collect();
        let blocks = means.blocks(&cells);
        let residual =
            |trial: &super::design::Trial| trial.log_seconds - cells[trial.cell] - blocks[trial.block];
        let residuals: Vec<f64> = design.trials.iter().map(residual).collect();
        let roots = components.iter().enumerate().filter(|(cell, root)| cell == *root).count();
        let freedom = (design.trials.len() + roots).saturating_sub(cells.len() + design.blocks);
        Self { cells, residuals, freedom, covariance, components }
    }

    /// The residual variance; `None` without a degree of freedom.
    pub fn variance(&self) -> Option<f64> {
        let squares: f64 = self.residuals.iter().map(|residual| residual * residual).sum();
        (self.freedom > 0).then(|| squares / count(self.freedom))
    }

    /// The degrees of freedom of the residual variance where cells may differ in spread: fewer by the factor
    /// of G. E. P. Box, Annals of Mathematical Statistics 25 (1954), as estimated by H. Huynh and L. Feldt,
    /// Journal of Educational Statistics 1 (1976). Where trials are missing, it is an approximation.
    pub fn freedom_of_unequal(&self, design: &Design) -> f64 {
        let (cells, rounds) = (count(design.cells.len()), count(design.blocks));
        let free = cells - 1.0;
        let box_factor = self.box_sum(design) / free;
        let room = rounds - 1.0 - free * box_factor;
        let factor = (rounds * free * box_factor - 2.0) / (free * room);
        // Without room, the residuals spread in as many directions as they can.
        let factor = if room > 1e-9 && factor.is_finite() { factor } else { 1.0 };
        count(self.freedom) * factor.clamp(1.0 / free.max(1.0), 1.0)
    }

    /// The number of directions in which the residuals of a block spread: the squared trace of their
    /// covariance over the trace of its square.
    fn box_sum(&self, design: &Design) -> f64 {
        let cells = design.cells.len();
        let mut by_block = vec![vec![0.0; cells]; design.blocks];
        for (trial, residual) in design.trials.iter().zip(&self.residuals) {
            by_block[trial.block][trial.cell] += residual;
        }
        let covariance = |a: usize, b: usize| by_block.iter().map(|block| block[a] * block[b]).sum::<f64>();
        let trace: f64 = (0..cells).map(|cell| covariance(cell, cell)).sum();
        let pairs = (0..cells).flat_map(|a| (0..cells).map(move |b| (a, b)));
        trace * trace / pairs.map(|(a, b)| covariance(a, b).powi(2)).sum::<f64>()
    }

    /// Whether blocks connect all cells of the contrast: its weights sum to zero in each component.
    pub fn connects(&self, contrast: &Contrast) -> bool {
        let mut sums = vec![0.0; self.components.len()];
        contrast.weighted().for_each(|(cell, weight)| sums[self.components[cell]] += weight);
        // The weights are small fractions: far above the rounding of their sum.
        sums.into_iter().all(|sum| sum.abs() < 1e-9)
    }

    /// The variance of the contrast in units of the residual variance.
    pub fn variance_of(&self, contrast: &Contrast) -> f64 {
        let along = |(cell, weight): (usize, f64)| weight * contrast.of(&self.covariance[cell]);
        contrast.weighted().map(along).sum()
    }
}

/// The first cell of the component of each cell.
fn components(design: &Design) -> Vec<usize> {
    let mut roots: Vec<usize> = (0..design.cells.len()).collect();
    let mut first: Vec<Option<usize>> = vec![None; design.blocks];
    for trial in &design.trials {
        let other = *first[trial.block].get_or_insert(trial.cell);
        let (a, b) = (roots[trial.cell], roots[other]);
        let (low, high) = (a.min(b), a.max(b));
        roots.iter_mut().filter(|root| **root == high).for_each(|root| *root = low);
    }
    roots
}

/// The number of trials in each block and cell, and the mean of each block.
struct Means {
    counts: Vec<Vec<f64>>,
    sizes: Vec<f64>,
    means: Vec<f64>,
}

impl Means {
    fn of(design: &Design) -> Self {
        let mut counts = vec![vec![0.0; design.cells.len()]; design.blocks];
        let (mut sizes, mut means) = (vec![0.0; design.blocks], vec![0.0; design.blocks]);
        for trial in &design.trials {
            counts[trial.block][trial.cell] += 1.0;
            sizes[trial.block] += 1.0;
            means[trial.block] += trial.log_seconds;
        }
        means.iter_mut().zip(&sizes).for_each(|(mean, size)| *mean /= size);
        Self { counts, sizes, means }
    }

    /// The Laplacian of the cells, and their totals with the blocks eliminated.
    fn equations(&self, design: &Design) -> (Vec<Vec<f64>>, Vec<f64>) {
        let cells = design.cells.len();
        let (mut laplacian, mut totals) = (vec![vec![0.0; cells]; cells], vec![0.0; cells]);
        for trial in &design.trials {
            laplacian[trial.cell][trial.cell] += 1.0;
            totals[trial.cell] += trial.log_seconds - self.means[trial.block];
            for (other, number) in self.counts[trial.block].iter().enumerate() {
                laplacian[trial.cell][other] -= number / self.sizes[trial.block];
            }
        }
        (laplacian, totals)
    }

    /// The effect of each block, given the cells.
    fn blocks(&self, cells: &[f64]) -> Vec<f64> {
        let means = self.counts.iter().zip(&self.sizes).zip(&self.means);
        means.map(|((counts, size), mean)| mean - dot(counts, cells) / size).collect()
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// The inverse of the Laplacian without the first cell of each component; that cell's rows are zero.
fn inverse(laplacian: &[Vec<f64>], components: &[usize]) -> Vec<Vec<f64>> {
    let cells = laplacian.len();
    let kept: Vec<usize> = (0..cells).filter(|cell| components[*cell] != *cell).collect();
    let mut rows: Vec<Vec<f64>> = kept
        .iter()
        .map(|row| {
            let left = kept.iter().map(|column| laplacian[*row][*column]);
            left.chain(kept.iter().map(|column| f64::from(u8::from(row == column)))).collect()
        })
        .collect();
    // Gauss and Jordan without pivoting: a grounded Laplacian is positive definite.
    for pivot in 0..kept.len() {
        let scale = rows[pivot][pivot];
        rows[pivot].iter_mut().for_each(|value| *value /= scale);
        let pivot_row = rows[pivot].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&pivot_row).for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut inverse = vec![vec![0.0; cells]; cells];
    for (row, cell) in rows.iter().zip(&kept) {
        for (value, column) in row.iter().skip(kept.len()).zip(&kept) {
            inverse[*cell][*column] = *value;
        }
    }
    inverse
}
