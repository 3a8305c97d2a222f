//! The data pattern: incompressible test data that is a function of (seed, LBA, generation).
//!
//! The first two words of a sector (512 bytes) hold LBA and generation, masked with the seed and with the
//! next two words. The other 62 words come from a stream with all three numbers as its key. A sector that is
//! read back is therefore *right*, *stale* (another generation), *misplaced* (written to another LBA, which
//! it names), *blank* (one byte value throughout: erased or dropped), or *corrupt*.
//!
//! The stream is a table of random words. Each word is combined with the sector's key and put through one
//! step of a multiply-with-carry generator (G. Marsaglia, "Random number generators", Journal of Modern
//! Applied Statistical Methods 2, 2003; the multiplier is that of D. B. Thomas, "The MWC64X random number
//! generator", 2011). The step is nearly one to one, so two keys almost never give the same word at the same
//! index. No word depends on the previous one, so compilers vectorise the loop for every CPU with a 32-bit
//! multiply, SSE2 included. The pattern is not a cipher: it only has to be incompressible, different in every
//! sector, and faster than any device.

use serde::{Deserialize, Serialize};

use crate::units::{Lba, SECTOR};

/// Bytes in a block of the pattern: one sector.
pub const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 8;
const HEADER_WORDS: usize = 2;

// MWC64X's multiplier: 2^32 times it, less one, is a safe prime, and it is close to 2^32, so that carries
// fill 32 bits.
const MULTIPLIER: u64 = 0xfffe_b81b;

// Odd constants for mixing the key: fractional digits of the golden ratio, sqrt(3) and sqrt(5).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_A: u64 = 0xbb67_ae85_84ca_a73b;
const MIX_B: u64 = 0x3c6e_f372_fe94_f82b;

/// One stream of test data: a seed and a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pattern {
    /// The random seed. Each run has its own, so that data of an earlier run is not mistaken for this run's.
    pub seed: u64,
    /// The version of the data. Increase it to write different data to the same sectors.
    pub generation: u32,
}

/// The state of a sector that was read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// The data that was written last.
    Right,
    /// Data of this sector, but of another generation.
    Stale {
        /// The generation found.
        generation: u32,
    },
    /// Data of another sector of this stream: an address line is missing, or a mapping is wrong.
    Misplaced {
        /// The sector that it was written to.
        home: Lba,
        /// The generation found.
        generation: u32,
    },
    /// One byte value throughout: never written, erased, or dropped.
    Blank {
        /// The byte.
        byte: u8,
    },
    /// Data that is not of this stream.
    Corrupt,
}

/// The result of a checked read: the number of sectors in each state.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Sectors with the data that was written last.
    pub right: u64,
    /// Sectors of another generation.
    pub stale: u64,
    /// Sectors with data of another sector.
    pub misplaced: u64,
    /// Sectors of one byte value.
    pub blank: u64,
    /// Sectors with unknown data.
    pub corrupt: u64,
    /// The first sector that is not right.
    pub first_wrong: Option<(Lba, BlockState)>,
}

impl CheckReport {
    /// True if every sector is right.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.first_wrong.is_none()
    }

    /// Counts one sector.
    pub fn count(&mut self, lba: Lba, state: BlockState) {
        match state {
            BlockState::Right => self.right += 1,
            BlockState::Stale { .. } => self.stale += 1,
            BlockState::Misplaced { .. } => self.misplaced += 1,
            BlockState::Blank { .. } => self.blank += 1,
            BlockState::Corrupt => self.corrupt += 1,
        }
        if state != BlockState::Right && self.first_wrong.is_none() {
            self.first_wrong = Some((lba, state));
        }
    }
}

impl Pattern {
    /// The stream of this seed, first generation.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, generation: 0 }
    }

    /// The next version of the same stream.
    #[must_use]
    pub const fn next_generation(self) -> Self {
        Self { seed: self.seed, generation: self.generation.wrapping_add(1) }
    }

    /// Fills `buffer` with the pattern's blocks, starting with sector `first`. A last block may be
    /// incomplete.
    pub fn fill(self, first: Lba, buffer: &mut [u8]) {
        let (blocks, rest) = buffer.as_chunks_mut::<BLOCK>();
        let mut lba = first;
        for block in blocks {
            self.fill_block(lba, block);
            lba.0 = lba.0.wrapping_add(1);
        }
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            self.fill_block(lba, &mut block);
            rest.copy_from_slice(&block[..rest.len()]);
        }
    }

    /// Compares `buffer` with the pattern's blocks, starting with sector `first`, and counts the state of
    /// every block.
    #[must_use]
    pub fn check(self, first: Lba, buffer: &[u8]) -> CheckReport {
        let (blocks, rest) = buffer.as_chunks::<BLOCK>();
        let mut report = CheckReport::default();
        let mut lba = first;
        for block in blocks {
            if self.is_block(lba, block) {
                report.right += 1;
            } else {
                report.count(lba, self.identify(lba, block));
            }
            lba.0 = lba.0.wrapping_add(1);
        }
        if !rest.is_empty() {
            let mut expected = [0; BLOCK];
            self.fill_block(lba, &mut expected);
            let right = expected[..rest.len()] == *rest;
            report.count(lba, if right { BlockState::Right } else { BlockState::Corrupt });
        }
        report
    }

    /// The state of `block`, which was read at `lba`.
    #[must_use]
    pub fn identify(self, lba: Lba, block: &[u8; BLOCK]) -> BlockState {
        if self.is_block(lba, block) {
            return BlockState::Right;
        }
        if block.iter().all(|byte| *byte == block[0]) {
            return BlockState::Blank { byte: block[0] };
        }
        let (words, _) = block.as_chunks::<8>();
        let [home, generation] = unmasked(words);
        let home = Lba(home ^ self.mask(MIX_A));
        let Ok(generation) = u32::try_from(generation ^ self.mask(MIX_B)) else {
            return BlockState::Corrupt;
        };
        if !(Self { seed: self.seed, generation }).is_block(home, block) {
            BlockState::Corrupt
        } else if home == lba {
            BlockState::Stale { generation }
        } else {
            BlockState::Misplaced { home, generation }
        }
    }

    fn fill_block(self, lba: Lba, block: &mut [u8; BLOCK]) {
        let key = self.key(lba);
        let (words, _) = block.as_chunks_mut::<8>();
        for (word, salt) in words.iter_mut().zip(&TABLE) {
            *word = step(salt ^ key).to_le_bytes();
        }
        let [home, generation] = self.header(lba);
        words[0] = (home ^ u64::from_le_bytes(words[2])).to_le_bytes();
        words[1] = (generation ^ u64::from_le_bytes(words[3])).to_le_bytes();
    }

    fn is_block(self, lba: Lba, block: &[u8; BLOCK]) -> bool {
        let key = self.key(lba);
        let (words, _) = block.as_chunks::<8>();
        let [home, generation] = self.header(lba);
        let [found_home, found_generation] = unmasked(words);
        let mut difference = (found_home ^ home) | (found_generation ^ generation);
        for (word, salt) in words[HEADER_WORDS..].iter().zip(&TABLE[HEADER_WORDS..]) {
            difference |= u64::from_le_bytes(*word) ^ step(salt ^ key);
        }
        difference == 0
    }

    fn header(self, lba: Lba) -> [u64; 2] {
        [lba.0 ^ self.mask(MIX_A), u64::from(self.generation) ^ self.mask(MIX_B)]
    }

    fn mask(self, salt: u64) -> u64 {
        fold(self.seed ^ salt, salt.rotate_left(32) ^ STEP)
    }

    /// The key of a block's stream. Every bit of seed, LBA and generation changes every bit of the key.
    fn key(self, lba: Lba) -> u64 {
        let position = fold(lba.0.wrapping_mul(STEP) ^ self.seed, MIX_A ^ self.seed.rotate_left(31));
        fold(position ^ u64::from(self.generation).wrapping_mul(MIX_B), MIX_A ^ lba.0)
    }
}

/// The first two words, unmasked with the next two, which are pseudo-random and stored in the same block.
fn unmasked(words: &[[u8; 8]]) -> [u64; HEADER_WORDS] {
    [0, 1].map(|index| u64::from_le_bytes(words[index]) ^ u64::from_le_bytes(words[index + HEADER_WORDS]))
}

/// Random words, the same for every block. They make the words of one block differ.
static TABLE: [u64; WORDS] = table();

const fn table() -> [u64; WORDS] {
    let mut words = [0; WORDS];
    let mut counter: u64 = 0;
    let mut index = 0;
    while index < WORDS {
        counter = counter.wrapping_add(STEP);
        words[index] = fold(counter, counter ^ MIX_B);
        index += 1;
    }
    words
}

/// One step of the generator: the low half times the multiplier, plus the carry in the high half.
const fn step(state: u64) -> u64 {
    (state & 0xffff_ffff) * MULTIPLIER + (state >> 32)
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves of the product are wanted")]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

const _: () = assert!(SECTOR.get() == BLOCK as u64);

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERN: Pattern = Pattern { seed: 7, generation: 3 };

    fn block(pattern: Pattern, lba: u64) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        pattern.fill(Lba(lba), &mut block);
        block
    }

    #[test]
    fn each_kind_of_wrong_block_is_identified() {
        let older = Pattern { generation: 2, ..PATTERN };
        let mut flipped = block(PATTERN, 100);
        flipped[300] ^= 4;
        let foreign = block(Pattern::new(8), 100);
        let cases = [
            (block(PATTERN, 100), BlockState::Right),
            (block(older, 100), BlockState::Stale { generation: 2 }),
            (block(PATTERN, 9), BlockState::Misplaced { home: Lba(9), generation: 3 }),
            ([0xff; BLOCK], BlockState::Blank { byte: 0xff }),
            (flipped, BlockState::Corrupt),
            (foreign, BlockState::Corrupt),
        ];
        for (block, state) in cases {
            assert_eq!(PATTERN.identify(Lba(100), &block), state);
        }
    }

    #[test]
    fn check_counts_states_and_reports_the_first_wrong_block() {
        let mut buffer = vec![0; 8 * BLOCK];
        PATTERN.fill(Lba(40), &mut buffer);
        assert!(PATTERN.check(Lba(40), &buffer).is_right());
        buffer[3 * BLOCK..4 * BLOCK].fill(0);
        buffer[5 * BLOCK] ^= 1;
        let report = PATTERN.check(Lba(40), &buffer);
        assert_eq!((report.right, report.blank, report.corrupt), (6, 1, 1));
        assert_eq!(report.first_wrong, Some((Lba(43), BlockState::Blank { byte: 0 })));
    }

    /// The stream must not compress: no word occurs twice in 32 MiB, and every bit is set in half of the
    /// words.
    #[test]
    fn the_stream_is_incompressible() {
        let mut words = Vec::new();
        let mut ones = [0u32; 64];
        for lba in 0..65_536 {
            let block = block(PATTERN, lba);
            for index in [0, 1, 2, 9, 16, 23, 30, 37, 44, 51, 58] {
                let word = u64::from_le_bytes(block.as_chunks::<8>().0[index]);
                words.push(word);
                for (bit, count) in ones.iter_mut().enumerate() {
                    *count += u32::try_from(word >> bit & 1).unwrap();
                }
            }
        }
        let total = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), total);
        // 720 896 draws: six standard deviations of a fair coin are 0.35 %.
        for count in ones {
            let share = f64::from(count) / f64::from(u32::try_from(total).unwrap());
            assert!((share - 0.5).abs() < 0.004, "{share}");
        }
    }

    #[test]
    fn an_incomplete_block_is_filled_and_checked() {
        let mut buffer = vec![0; BLOCK + 100];
        PATTERN.fill(Lba(0), &mut buffer);
        assert!(PATTERN.check(Lba(0), &buffer).is_right());
        buffer[BLOCK + 99] ^= 1;
        assert_eq!(PATTERN.check(Lba(0), &buffer).corrupt, 1);
    }
}
