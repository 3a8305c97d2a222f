//! A random assignment of units to blocks: a shuffle that stays inside the processor's caches.
//!
//! After the divide-and-conquer shuffle of C. R. Rao ("Generation of random permutations of given number of
//! elements using random sampling numbers", Sankhya 23, 1961) and M. Sandelius (1962). Block numbers are
//! shuffled inside groups, and each unit draws a group. All groups have nearly the same length, so only the
//! last units meet an exhausted group.

use std::ops::Range;

use crate::rng::StreamRng;

// The number of groups read in parallel, one cache line each. Small enough groups fit into a cache while
// being shuffled.
const GROUPS: usize = 64;

/// A source of the block of each unit.
pub(super) struct RandomAssignment {
    /// Block numbers inside each group, group by group.
    entries: Vec<u16>,
    /// The entries left in each group.
    left: Vec<Range<usize>>,
    rng: StreamRng,
}

impl RandomAssignment {
    /// Assigns `valid[block]` units to each block.
    pub(super) fn new(valid: &[u32], mut rng: StreamRng) -> Self {
        // An entry of 16 bits distinguishes 2^16 blocks.
        let groups = GROUPS.max(valid.len().div_ceil(1 << 16)).min(valid.len());
        let mut entries: Vec<u16> = Vec::with_capacity(valid.iter().map(|units| *units as usize).sum());
        let mut left = Vec::with_capacity(groups);
        for group in 0..groups {
            let start = entries.len();
            // Blocks are taken with a stride: neighbours hold about the same number of units, so all groups
            // do.
            for (block, units) in (0..=u16::MAX).zip(valid.iter().skip(group).step_by(groups)) {
                entries.extend(std::iter::repeat_n(block, *units as usize));
            }
            shuffle(&mut entries[start..], &mut rng);
            left.push(start..entries.len());
        }
        Self { entries, left, rng }
    }

    /// The block of the next unit. There is one entry for every unit.
    pub(super) fn next_block(&mut self) -> usize {
        let groups = self.left.len();
        let mut group = self.rng.below(groups);
        loop {
            if let Some(entry) = self.left[group].next() {
                return usize::from(self.entries[entry]) * groups + group;
            }
            group = (group + 1) % groups;
        }
    }
}

fn shuffle(entries: &mut [u16], rng: &mut StreamRng) {
    for last in (1..entries.len()).rev() {
        entries.swap(last, rng.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The block of each unit.
    fn assigned(valid: &[u32]) -> Vec<u32> {
        let mut assignment = RandomAssignment::new(valid, StreamRng::new(1, 1));
        (0..valid.iter().sum::<u32>()).map(|_| u32::try_from(assignment.next_block()).unwrap()).collect()
    }

    #[test]
    fn each_block_gets_its_number_of_units() {
        for valid in [vec![3, 0, 5, 1], (0..1000).map(|block| block % 7).collect::<Vec<u32>>()] {
            let mut counts = vec![0; valid.len()];
            for block in assigned(&valid) {
                counts[block as usize] += 1;
            }
            assert_eq!(counts, valid);
        }
    }

    #[test]
    fn blocks_of_neighbouring_units_are_uncorrelated() {
        let centred: Vec<f64> = assigned(&[64; 1024]).iter().map(|block| f64::from(*block) - 511.5).collect();
        let variance: f64 = centred.iter().map(|block| block.powi(2)).sum();
        for lag in [1, 2, 10, 64, 1000] {
            let correlation: f64 =
                centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>() / variance;
            // 65 536 draws: four standard deviations are 0.016.
            assert!(correlation.abs() < 0.016, "lag {lag}: {correlation}");
        }
    }

    #[test]
    fn every_order_of_three_entries_is_equally_likely() {
        let mut rng = StreamRng::new(1, 1);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut entries = [0_u16, 1, 2];
            shuffle(&mut entries, &mut rng);
            *counts.entry(entries).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6, "{counts:?}");
        // Five standard deviations are 144.
        assert!(counts.values().all(|count| count.abs_diff(1000) < 144), "{counts:?}");
    }
}
