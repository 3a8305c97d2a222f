//! The identifiers of a plan: drawn once, so that the same plan always makes the same bytes.

use std::fmt::Write as _;

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::SplitMix64;

/// An MBR has room for as many.
const PARTITIONS_MAX: usize = 4;

/// The identifiers of a table, its partitions and their filesystems: UUIDs, version 4 (RFC 9562, 5.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// Of the table. An MBR takes the first 8 digits.
    pub table: String,
    /// Of the partitions of a GPT.
    pub partitions: Vec<String>,
    /// Of the filesystems. FAT takes the first 8 digits.
    pub filesystems: Vec<String>,
}

impl Ids {
    /// Identifiers that follow from a seed.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut draw = || uuid(&mut random);
        Self {
            table: draw(),
            partitions: (0..PARTITIONS_MAX).map(|_| draw()).collect(),
            filesystems: (0..PARTITIONS_MAX).map(|_| draw()).collect(),
        }
    }
}

fn uuid(random: &mut SplitMix64) -> String {
    let mut half = || random.next_u64().to_be_bytes();
    let mut bytes: Vec<u8> = half().into_iter().chain(half()).collect();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes.iter().enumerate().fold(String::new(), |mut text, (index, byte)| {
        let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
        let _ = write!(text, "{dash}{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_identifiers_and_another_seed_others() {
        let ids = Ids::of_seed(1);
        assert_eq!(ids, Ids::of_seed(1));
        assert_ne!(ids.table, Ids::of_seed(2).table);
        let digits: Vec<usize> = ids.table.split('-').map(str::len).collect();
        assert_eq!(digits, [8, 4, 4, 4, 12]);
        assert_eq!(ids.table.as_bytes()[14], b'4');
    }
}
