//! A contrast: a weighted sum of the cells' mean logarithms whose weights sum to zero.

/// The weight of each cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contrast {
    weights: Vec<f64>,
}

impl Contrast {
    /// The mean over groups of cells; in each, cells with +1 and with -1. `None` without a group.
    pub fn mean(cells: usize, groups: &[Vec<(usize, f64)>]) -> Option<Self> {
        if groups.is_empty() {
            return None;
        }
        let mut weights = vec![0.0; cells];
        for (cell, sign) in groups.iter().flatten() {
            weights[*cell] += sign / groups.len() as f64;
        }
        Some(Self { weights })
    }

    /// The cells that have a weight, and their weights.
    pub fn weighted(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.weights.iter().copied().enumerate().filter(|(_, weight)| *weight != 0.0)
    }

    /// The same contrast of its own cells only.
    pub fn of_its_cells(&self) -> Self {
        Self { weights: self.weighted().map(|(_, weight)| weight).collect() }
    }

    /// The weighted sum of these values, one a cell.
    pub fn of(&self, values: &[f64]) -> f64 {
        self.weighted().map(|(cell, weight)| weight * values[cell]).sum()
    }
}
