//! What a counterfeit does with an address.

use std::ops::Range;

use super::error::FaultError;
use super::extents::{Extents, Held};
use super::quantity;
use super::spec::{CounterfeitSpec, DroppedReads, FaultSpec, Lookup};
use crate::contract::Capabilities;
use crate::pattern::Pattern;
use crate::units::{ByteRange, Bytes, Lba, SECTOR};

/// Sectors of a request that go to one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// As the host addresses them.
    pub claimed: Range<u64>,
    /// The flash sector of the first; `None`: they are dropped.
    pub flash: Option<u64>,
}

impl Piece {
    /// As a range of bytes, as the host addresses it.
    pub fn range(&self) -> ByteRange {
        bytes_of(&self.claimed)
    }

    /// The flash sectors, if there are any.
    pub fn flash_sectors(&self) -> Option<Range<u64>> {
        let length = self.claimed.end - self.claimed.start;
        self.flash.map(|first| first..first + length)
    }
}

/// Sets the garbage apart from a test's own stream, which often has the same seed: fractional digits of sqrt(2).
const SOMEBODY_ELSE: u64 = 0x6a09_e667_f3bc_c908;

/// The counterfeit over one device: sizes in sectors.
#[derive(Debug)]
pub struct Drive {
    real: u64,
    wrap: u64,
    reads: DroppedReads,
    cache: Option<(u64, Lookup)>,
    garbage: Pattern,
}

impl Drive {
    pub fn new(spec: &CounterfeitSpec, seed: u64) -> Self {
        Self {
            real: spec.real.sectors().0,
            wrap: spec.wrap.map_or(u64::MAX, |wrap| wrap.sectors().0),
            reads: spec.reads,
            cache: spec.cache.map(|cache| (cache.size.sectors().0, cache.lookup)),
            garbage: Pattern::new(seed ^ SOMEBODY_ELSE),
        }
    }

    /// Where the sectors of a request go.
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

    /// The places of dropped sectors in the cache, each with the first address that goes there.
    pub fn cache_places(&self, claimed: &Range<u64>) -> Vec<(Range<u64>, u64)> {
        let Some((size, _)) = self.cache else { return Vec::new() };
        let (mut next, end) = (claimed.start, claimed.end);
        let mut places = Vec::new();
        while next < end {
            let place = next % size;
            let length = (end - next).min(size - place);
            places.push((place..place + length, next));
            next += length;
        }
        places
    }

    /// What the cache gives back for dropped sectors.
    pub fn cached(&self, cache: &Extents, claimed: &Range<u64>) -> Vec<(Range<u64>, Held)> {
        let strict = matches!(self.cache, Some((_, Lookup::Strict)));
        let mut found = Vec::new();
        for (places, first) in self.cache_places(claimed) {
            let start = places.start;
            let hits = cache.within(places).map(|(at, held)| {
                let address = first + (at.start - start);
                (address..address + (at.end - at.start), held)
            });
            found.extend(hits.filter(|(at, held)| !strict || held.home == at.start));
        }
        found
    }

    /// What a read of dropped sectors gives where no cache helps.
    pub fn fill(&self, claimed: &Range<u64>, out: &mut [u8]) {
        match self.reads {
            DroppedReads::Zeros => out.fill(0),
            DroppedReads::Ones => out.fill(0xff),
            DroppedReads::Garbage => self.garbage.fill(Lba(claimed.start), out),
        }
    }
}

/// What the counterfeit says of itself.
///
/// # Errors
/// [`FaultError::Misfit`] if the device below cannot play it.
pub fn capabilities(spec: &CounterfeitSpec, below: Capabilities) -> Result<Capabilities, FaultError> {
    let logical_block = spec.block.unwrap_or(below.logical_block);
    let capacity = spec.fake.unwrap_or(below.capacity).round_down(logical_block);
    let misfit =
        |why: String| Err(FaultError::Misfit { fault: FaultSpec::Counterfeit(*spec).to_string(), why });
    if !logical_block.is_multiple_of(below.logical_block) {
        return misfit(format!("block={logical_block} is no multiple of its {}", below.logical_block));
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
                "{key}={} is no multiple of the block of {logical_block}",
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

/// Sectors as a range of bytes.
pub fn bytes_of(sectors: &Range<u64>) -> ByteRange {
    ByteRange::new(Lba(sectors.start).offset(), SECTOR * (sectors.end - sectors.start))
}

/// A range of the device below, as like `wanted` as there is: something to read for its time alone.
pub fn stand_in(wanted: ByteRange, below: &Capabilities) -> ByteRange {
    let length = wanted.length.min(below.max_request).min(below.capacity).round_down(below.logical_block);
    let length = length.max(below.logical_block);
    let there = ByteRange::new(wanted.offset, length);
    if below.whole().contains(there) { there } else { ByteRange::new(Bytes::ZERO, length) }
}
