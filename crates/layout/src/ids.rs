//! The identifiers of a plan: drawn once, so that the same plan always makes the same bytes.

use std::fmt::Write as _;

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
        let mut state = seed;
        let mut draw = || uuid(&mut state);
        Self {
            table: draw(),
            partitions: (0..PARTITIONS_MAX).map(|_| draw()).collect(),
            filesystems: (0..PARTITIONS_MAX).map(|_| draw()).collect(),
        }
    }
}

/// The generator splitmix64 (S. Vigna, prng.di.unimi.it, public domain).
const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn uuid(state: &mut u64) -> String {
    let mut bytes: Vec<u8> = next(state).to_be_bytes().into_iter().chain(next(state).to_be_bytes()).collect();
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
