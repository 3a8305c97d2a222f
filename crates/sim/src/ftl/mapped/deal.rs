//! Dealing units to blocks at random, fast: a shuffle that stays inside the processor's caches.
//!
//! After the divide-and-conquer shuffle of C. R. Rao ("Generation of random permutations of given number of elements using
//! random sampling numbers", Sankhya 23, 1961) and M. Sandelius (1962): tickets for blocks are shuffled inside groups, and each
//! unit draws its group. Groups hold equally many tickets, so only among the last units some have run out.

use std::ops::Range;

use crate::chance::Chance;

// So many lists of tickets are read at a time, a cache line each; and one of them fits into a cache while it is shuffled.
const GROUPS: usize = 64;

/// Which block each unit lies in.
pub(super) struct Deal {
    /// Group by group: which of the group's blocks.
    tickets: Vec<u16>,
    /// Of each group, the tickets that are left.
    left: Vec<Range<usize>>,
    chance: Chance,
}

impl Deal {
    /// Gives each block as many units as `valid` says.
    pub(super) fn new(valid: &[u32], mut chance: Chance) -> Self {
        // A ticket tells 2^16 blocks apart.
        let groups = GROUPS.max(valid.len().div_ceil(1 << 16)).min(valid.len());
        let mut tickets: Vec<u16> = Vec::with_capacity(valid.iter().map(|units| *units as usize).sum());
        let mut left = Vec::with_capacity(groups);
        for group in 0..groups {
            let start = tickets.len();
            // Every so manieth block: neighbours hold about the same, and so do the groups.
            for (block, units) in (0..=u16::MAX).zip(valid.iter().skip(group).step_by(groups)) {
                tickets.extend(std::iter::repeat_n(block, *units as usize));
            }
            shuffle(&mut tickets[start..], &mut chance);
            left.push(start..tickets.len());
        }
        Self { tickets, left, chance }
    }

    /// The block of the next unit. There are as many tickets as units.
    pub(super) fn draw(&mut self) -> usize {
        let groups = self.left.len();
        let mut group = self.chance.below(groups);
        loop {
            if let Some(ticket) = self.left[group].next() {
                return usize::from(self.tickets[ticket]) * groups + group;
            }
            group = (group + 1) % groups;
        }
    }
}

fn shuffle(tickets: &mut [u16], chance: &mut Chance) {
    for last in (1..tickets.len()).rev() {
        tickets.swap(last, chance.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The block of each unit.
    fn dealt(valid: &[u32]) -> Vec<u32> {
        let mut deal = Deal::new(valid, Chance::new(1, 1));
        (0..valid.iter().sum::<u32>()).map(|_| u32::try_from(deal.draw()).unwrap()).collect()
    }

    #[test]
    fn each_block_gets_as_many_units_as_it_holds() {
        for valid in [vec![3, 0, 5, 1], (0..1000).map(|block| block % 7).collect::<Vec<u32>>()] {
            let mut counts = vec![0; valid.len()];
            for block in dealt(&valid) {
                counts[block as usize] += 1;
            }
            assert_eq!(counts, valid);
        }
    }

    #[test]
    fn neighbours_lie_in_blocks_that_have_nothing_to_do_with_each_other() {
        let centred: Vec<f64> = dealt(&[64; 1024]).iter().map(|block| f64::from(*block) - 511.5).collect();
        let variance: f64 = centred.iter().map(|block| block.powi(2)).sum();
        for lag in [1, 2, 10, 64, 1000] {
            let correlation: f64 =
                centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>() / variance;
            // 65 536 draws: four standard deviations are 0.016.
            assert!(correlation.abs() < 0.016, "lag {lag}: {correlation}");
        }
    }
}
