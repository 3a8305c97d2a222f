//! Test data that cannot be compressed, can be made again from three numbers, and says of itself what it is.
//!
//! Every sector of 512 bytes is a function of (seed, LBA, generation). Its first two words hold LBA and generation,
//! masked with the seed and with the two words that follow; the other 62 come from a stream keyed with all three. So a
//! sector that is read back is either *right*, or *stale* (an older or newer generation), or *misplaced* (it belongs to
//! another LBA, and says which), or *blank* (one byte value throughout, as erased or dropped), or *corrupt*.
//!
//! The stream is a table of random words, each combined with the block's key and put through one step of a
//! multiply-with-carry generator (G. Marsaglia, "Random number generators", Journal of Modern Applied Statistical
//! Methods 2, 2003; the multiplier is that of D. B. Thomas, "The MWC64X random number generator", 2011). The step is
//! nearly one to one, so two keys hardly ever give the same word in the same place; and no word depends on the one
//! before, so that compilers turn the loop into SIMD instructions wherever there is a 32-bit multiply, SSE2 included.
//! It is no cipher; it need only be incompressible, different in every sector, and faster than any device.

use serde::{Deserialize, Serialize};

use crate::units::{Lba, SECTOR};

/// Bytes in a block of the pattern.
pub const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 8;
const HEADER_WORDS: usize = 2;

// MWC64X's multiplier: 2^32 times it, less one, is a safe prime, and it is close to 2^32, so that carries fill 32 bits.
const MULTIPLIER: u64 = 0xfffe_b81b;

// Odd constants for mixing the key: fractional digits of the golden ratio, sqrt(3) and sqrt(5).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_A: u64 = 0xbb67_ae85_84ca_a73b;
const MIX_B: u64 = 0x3c6e_f372_fe94_f82b;

/// One stream of test data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pattern {
    /// Which stream; one per run, so that data left by an earlier run is not taken for this one's.
    pub seed: u64,
    /// Which version of the data: raise it to write something new to the same place.
    pub generation: u32,
}

/// What a block read back turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// What was written last.
    Right,
    /// The right place, another generation.
    Stale {
        /// The generation found.
        generation: u32,
    },
    /// A block of this stream that belongs elsewhere: an address line is missing, or a mapping went wrong.
    Misplaced {
        /// Where it belongs.
        home: Lba,
        /// The generation found.
        generation: u32,
    },
    /// One byte value throughout: never written, erased, or dropped.
    Blank {
        /// The byte.
        byte: u8,
    },
    /// Nothing of this stream.
    Corrupt,
}

/// The tally of a checked read, in blocks of 512 bytes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Blocks that hold what was written last.
    pub right: u64,
    /// Blocks of another generation.
    pub stale: u64,
    /// Blocks that belong elsewhere.
    pub misplaced: u64,
    /// Blocks of one byte value.
    pub blank: u64,
    /// Blocks of nothing we know.
    pub corrupt: u64,
    /// The first block that is not right.
    pub first_wrong: Option<(Lba, BlockState)>,
}

impl CheckReport {
    /// True if every block is right.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.first_wrong.is_none()
    }

    /// Counts one block.
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

    /// Fills `buffer` with the pattern's blocks from `first` on. A last piece shorter than a block gets its beginning.
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

    /// Holds `buffer` against the pattern's blocks from `first` on and says of every block what it is.
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

    /// What `block`, read at `lba`, is.
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

    /// What makes a block's stream its own: every bit of seed, LBA and generation reaches every bit of it.
    fn key(self, lba: Lba) -> u64 {
        let place = fold(lba.0.wrapping_mul(STEP) ^ self.seed, MIX_A ^ self.seed.rotate_left(31));
        fold(place ^ u64::from(self.generation).wrapping_mul(MIX_B), MIX_A ^ lba.0)
    }
}

/// The first two words without what the next two hide them with. Those are as good as random, and read back with them.
fn unmasked(words: &[[u8; 8]]) -> [u64; HEADER_WORDS] {
    [0, 1].map(|index| u64::from_le_bytes(words[index]) ^ u64::from_le_bytes(words[index + HEADER_WORDS]))
}

/// Random words, the same for every block: what one key makes different from word to word.
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
    fn every_kind_of_wrong_is_told_apart() {
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
    fn check_counts_and_names_the_first_wrong_block() {
        let mut buffer = vec![0; 8 * BLOCK];
        PATTERN.fill(Lba(40), &mut buffer);
        assert!(PATTERN.check(Lba(40), &buffer).is_right());
        buffer[3 * BLOCK..4 * BLOCK].fill(0);
        buffer[5 * BLOCK] ^= 1;
        let report = PATTERN.check(Lba(40), &buffer);
        assert_eq!((report.right, report.blank, report.corrupt), (6, 1, 1));
        assert_eq!(report.first_wrong, Some((Lba(43), BlockState::Blank { byte: 0 })));
    }

    /// The stream must look random to whatever compresses: no word twice in 32 MiB, and every bit set half the time.
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
    fn a_piece_shorter_than_a_block_is_filled_and_checked() {
        let mut buffer = vec![0; BLOCK + 100];
        PATTERN.fill(Lba(0), &mut buffer);
        assert!(PATTERN.check(Lba(0), &buffer).is_right());
        buffer[BLOCK + 99] ^= 1;
        assert_eq!(PATTERN.check(Lba(0), &buffer).corrupt, 1);
    }
}
