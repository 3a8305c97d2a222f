//! What the experiment *open-units* is asked to do: sizes, limits and the random seed.

use flashscope_device::{Bytes, SECTOR};

use flashscope_infer::open_blocks::posterior::OPEN_MAX;
use flashscope_infer::thresholds::SEVERAL;

use crate::experiment::erase_blocks;

/// The default number of erase blocks at which the search ends: twice the largest number seen on a card, plus
/// one.
pub const UNITS_MAX: u32 = OPEN_MAX + 1;
/// Limits the number of writes: 24 for each unit up to `units_max`. Guess: a search undecided by then stays
/// so.
const WRITES_PER_UNIT: usize = 24;
/// The lower bound of that limit. Guess: covers a search up to a few units on a stick that merges at most
/// writes.
const WRITES_MIN: usize = 300;
/// The last openings that decide whether all slots are taken: all but one of them are slow. Guess: fewer may
/// be stalls.
pub(super) const SLOW_OPENINGS: u32 = SEVERAL as u32;
/// The fewest units whose slots are tried one by one. Guess: of fewer, whole turns cost less.
pub(super) const NUMBER_TRIED_MIN: u32 = 3;
/// The default limit of bytes written. Guess: 16 s at 10 MB/s.
const BYTES_MAX: Bytes = Bytes::mib(160);
/// The default limit of bytes written beyond that, if filling whole blocks decided nothing. Guess.
const BYTES_AFTER_FILL: Bytes = Bytes::mib(48);
/// The smallest request of the search. With 4 KiB, [`OPEN_MAX`] units under random eviction take 35 000
/// writes.
const SMALLEST_SEARCHED: Bytes = Bytes::kib(1);
/// An erase block holds at least 512 of the smallest requests, else the smallest request is smaller still: a
/// full block keeps its slot for long.
const REQUESTS_PER_BLOCK: u64 = 512;

/// The experiment *open-units*.
#[derive(Debug, Clone, Copy)]
pub struct OpenUnits {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write in the search: at least the effective page, at most a sixteenth of the erase
    /// block.
    pub request: Bytes,
    /// The effective page, if known. The mapping unit of a log can be as small.
    pub page: Option<Bytes>,
    /// The number of erase blocks at which the search ends.
    pub units_max: u32,
    /// The most bytes it may write.
    pub bytes_max: Bytes,
    /// The most bytes it may write beyond that, if filling whole blocks decided nothing.
    pub bytes_afterwards: Bytes,
    /// The random seed of data and order.
    pub seed: u64,
}

impl OpenUnits {
    /// The experiment for an erase block. `request` is the write size that suits the device, if known: the
    /// effective page, or the smallest request that is written efficiently.
    #[must_use]
    pub fn new(erase_block: Bytes, request: Option<Bytes>, seed: u64) -> Self {
        Self {
            erase_block,
            request: erase_blocks::request(erase_block, request),
            page: None,
            units_max: UNITS_MAX,
            bytes_max: BYTES_MAX,
            bytes_afterwards: BYTES_AFTER_FILL,
            seed,
        }
    }

    /// The smallest possible mapping unit of a log, as far as known.
    pub(super) fn mapping_unit_min(self) -> Bytes {
        self.page.unwrap_or(self.request).min(self.request)
    }

    /// The smallest request of the search.
    pub(super) fn request_min(self) -> Bytes {
        let small = (self.erase_block / REQUESTS_PER_BLOCK).get().max(1);
        Bytes::new(1 << small.ilog2()).clamp(SECTOR, SMALLEST_SEARCHED)
    }

    /// The number of writes after which a search ends.
    pub(super) fn writes_max(self) -> usize {
        (self.units_max as usize * WRITES_PER_UNIT).max(WRITES_MIN)
    }
}
