//! The holdout: a random share of each table's cells.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::measured::Measured;

/// For each table and cell, whether it is held out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split(Vec<Vec<bool>>);

impl Split {
    /// Holds out at least `share` (0 to 1) of the cells of each table. Depends only on the shape of the
    /// tables and the seed, not on any figure.
    #[must_use]
    pub fn new(measured: &Measured, share: f64, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self(measured.tables.iter().map(|table| hold_out(table.cells.len(), share, &mut random)).collect())
    }

    /// Whether the cell of this table is held out.
    #[must_use]
    pub fn is_held_out(&self, table: usize, cell: usize) -> bool {
        self.0.get(table).and_then(|cells| cells.get(cell)).copied().unwrap_or(false)
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a table has a few hundred cells"
)]
fn hold_out(cells: usize, share: f64, random: &mut Xoshiro256PlusPlus) -> Vec<bool> {
    let held_out = (cells as f64 * share.clamp(0.0, 1.0)).ceil() as usize;
    let mut order: Vec<usize> = (0..cells).collect();
    for last in (1..cells).rev() {
        let chosen = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        order.swap(last, chosen as usize);
    }
    let mut is_held_out = vec![false; cells];
    for cell in &order[..held_out.min(cells)] {
        is_held_out[*cell] = true;
    }
    is_held_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holdout_takes_its_share_of_each_table() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let marks: Vec<Vec<bool>> = [11, 11, 0, 1].map(|cells| hold_out(cells, 0.5, &mut random)).to_vec();
        let held: Vec<usize> = marks.iter().map(|marks| marks.iter().filter(|held| **held).count()).collect();
        assert_eq!(held, [6, 6, 0, 1]);
        assert_ne!(marks[0], marks[1]);
    }
}
