//! The address map of a counterfeit.

use std::ops::Range;

use super::error::FaultError;
use super::extents::{Extents, Held};
use super::quantity;
use super::spec::{CounterfeitSpec, DroppedReads, FaultSpec, Lookup};
use crate::contract::Capabilities;
use crate::pattern::Pattern;
use crate::units::{ByteRange, Bytes, Lba, SECTOR};

/// Consecutive sectors of a request that map to consecutive flash sectors, or are all dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Their addresses for the host.
    pub claimed: Range<u64>,
    /// The flash sector of the first one; `None` if they are dropped.
    pub flash: Option<u64>,
}

impl Piece {
    /// The range of the host, in bytes.
    pub fn range(&self) -> ByteRange {
        bytes_of(&self.claimed)
    }

    /// The flash sectors; `None` if they are dropped.
    pub fn flash_sectors(&self) -> Option<Range<u64>> {
        let length = self.claimed.end - self.claimed.start;
        self.flash.map(|first| first..first + length)
    }
}

/// Makes the seed of the garbage differ from the seed of a test's own pattern: fractional digits of sqrt(2).
const GARBAGE_SEED_MASK: u64 = 0x6a09_e667_f3bc_c908;

/// The address map of a counterfeit, with sizes in sectors.
#[derive(Debug)]
pub struct AddressMap {
    real: u64,
    wrap: u64,
    reads: DroppedReads,
    cache: Option<(u64, Lookup)>,
    garbage: Pattern,
}

impl AddressMap {
    pub fn new(spec: &CounterfeitSpec, seed: u64) -> Self {
        Self {
            real: spec.real.sectors().0,
            wrap: spec.wrap.map_or(u64::MAX, |wrap| wrap.sectors().0),
            reads: spec.reads,
            cache: spec.cache.map(|cache| (cache.size.sectors().0, cache.lookup)),
            garbage: Pattern::new(seed ^ GARBAGE_SEED_MASK),
        }
    }

    /// The pieces of a request.
    pub fn pieces(&self, range: ByteRange) -> Vec<Piece> {
        let (mut next, end) = (range.offset.sectors().0, range.end().sectors().0);
        let mut pieces = Vec::with_capacity(1);
        while next < end {
            let address = next % self.wrap;
            let is_real = address < self.real;
            let room = if is_real { self.real.min(self.wrap) - address } else { self.wrap - address };
            let stop = end.min(next.saturating_add(room));
            pieces.push(Piece { claimed: next..stop, flash: is_real.then_some(address) });
            next = stop;
        }
        pieces
    }

    /// The cache slots of dropped sectors, each range with the first address that it holds.
    pub fn cache_slots(&self, claimed: &Range<u64>) -> Vec<(Range<u64>, u64)> {
        let Some((size, _)) = self.cache else { return Vec::new() };
        let (mut next, end) = (claimed.start, claimed.end);
        let mut slots = Vec::new();
        while next < end {
            let slot = next % size;
            let length = (end - next).min(size - slot);
            slots.push((slot..slot + length, next));
            next += length;
        }
        slots
    }

    /// The data of dropped sectors that the cache returns.
    pub fn cached(&self, cache: &Extents, claimed: &Range<u64>) -> Vec<(Range<u64>, Held)> {
        let strict = matches!(self.cache, Some((_, Lookup::Strict)));
        let mut found = Vec::new();
        for (slots, first) in self.cache_slots(claimed) {
            let start = slots.start;
            let hits = cache.within(slots).map(|(at, held)| {
                let address = first + (at.start - start);
                (address..address + (at.end - at.start), held)
            });
            found.extend(hits.filter(|(at, held)| !strict || held.home == at.start));
        }
        found
    }

    /// The data that a read of dropped sectors returns without a cache hit.
    pub fn fill(&self, claimed: &Range<u64>, out: &mut [u8]) {
        match self.reads {
            DroppedReads::Zeros => out.fill(0),
            DroppedReads::Ones => out.fill(0xff),
            DroppedReads::Garbage => self.garbage.fill(Lba(claimed.start), out),
        }
    }
}

/// The capabilities that the counterfeit reports.
///
/// # Errors
/// [`FaultError::Misfit`] if the device below is too small or its logical blocks are too large.
pub fn capabilities(spec: &CounterfeitSpec, below: Capabilities) -> Result<Capabilities, FaultError> {
    let logical_block = spec.block.unwrap_or(below.logical_block);
    let capacity = spec.fake.unwrap_or(below.capacity).round_down(logical_block);
    let misfit =
        |why: String| Err(FaultError::Misfit { fault: FaultSpec::Counterfeit(*spec).to_string(), why });
    if !logical_block.is_multiple_of(below.logical_block) {
        return misfit(format!("block={logical_block} is not a multiple of its {}", below.logical_block));
    }
    if spec.real > below.capacity || spec.real > capacity {
        let most = below.capacity.min(capacity);
        return misfit(format!("real={} is more than {}", quantity::size(spec.real), quantity::size(most)));
    }
    let sizes =
        [("real", Some(spec.real)), ("wrap", spec.wrap), ("cache", spec.cache.map(|cache| cache.size))];
    for (key, size) in sizes {
        if let Some(size) = size.filter(|size| !size.round_down(logical_block).eq(size)) {
            return misfit(format!(
                "{key}={} is not a multiple of the block of {logical_block}",
                quantity::size(size)
            ));
        }
    }
    Ok(Capabilities {
        capacity,
        logical_block,
        physical_block: below.physical_block.max(logical_block),
        ..below
    })
}

/// The bytes of these sectors.
pub fn bytes_of(sectors: &Range<u64>) -> ByteRange {
    ByteRange::new(Lba(sectors.start).offset(), SECTOR * (sectors.end - sectors.start))
}

/// A valid range of the device below with the offset and length of `wanted` if possible: a read of it takes
/// the time of the dropped request.
pub fn substitute_read(wanted: ByteRange, below: &Capabilities) -> ByteRange {
    let length = wanted.length.min(below.max_request).min(below.capacity).round_down(below.logical_block);
    let length = length.max(below.logical_block);
    let there = ByteRange::new(wanted.offset, length);
    if below.whole().contains(there) { there } else { ByteRange::new(Bytes::ZERO, length) }
}
