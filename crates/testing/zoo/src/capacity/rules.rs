//! The rules: scattered bad blocks, mapping on demand, and caches that evict the oldest or any entry.

use std::collections::{HashMap, HashSet, VecDeque};

use flashscope_device::{ByteRange, Bytes, Pattern, SECTOR};

use super::layer::{Instead, Rule};
use crate::draw::Draw;

/// A share of all blocks keeps nothing.
pub(crate) struct BadBlocks {
    pub(crate) block: Bytes,
    pub(crate) share: f64,
    pub(crate) seed: u64,
}

impl Rule for BadBlocks {
    fn capacity(&self, below: Bytes) -> Bytes {
        below
    }
    fn granule(&self) -> Bytes {
        self.block
    }
    fn is_stored(&mut self, granule: u64) -> bool {
        Draw::new(self.seed, granule).unit() >= self.share
    }
    fn instead(&mut self, _sector: u64) -> Option<Instead> {
        None
    }
}

/// A device that maps a granule when it is first written, until its pool is empty.
pub(crate) struct OnDemand {
    pub(crate) pool: usize,
    pub(crate) mapped: HashSet<u64>,
}

/// The granule that is mapped. Guess: the mapping unit of small controllers.
const MAPPED_GRANULE: Bytes = Bytes::kib(64);

impl Rule for OnDemand {
    fn capacity(&self, below: Bytes) -> Bytes {
        below
    }
    fn granule(&self) -> Bytes {
        MAPPED_GRANULE
    }
    fn is_stored(&mut self, granule: u64) -> bool {
        if self.mapped.len() < self.pool {
            self.mapped.insert(granule);
        }
        self.mapped.contains(&granule)
    }
    fn instead(&mut self, sector: u64) -> Option<Instead> {
        let is_mapped = self.mapped.contains(&(sector / MAPPED_GRANULE.sectors().0));
        (!is_mapped).then_some(Instead::Zeros)
    }
}

/// Writes beyond the real size go only to a cache of sectors.
pub(crate) struct CachedLimbo {
    real: Bytes,
    announced: Bytes,
    cache: usize,
    /// Whether any entry may be evicted, not only the oldest.
    is_random: bool,
    draw: Draw,
    held: HashMap<u64, Pattern>,
    /// The cached sectors: the oldest first, or in any order for random eviction.
    entries: VecDeque<u64>,
}

impl CachedLimbo {
    pub(crate) fn new(real: Bytes, announced: Bytes, cache: Bytes, is_random: bool, seed: u64) -> Self {
        Self {
            real,
            announced,
            cache: usize::try_from(cache.sectors().0).unwrap_or(usize::MAX),
            is_random,
            draw: Draw::new(seed, 0),
            held: HashMap::new(),
            entries: VecDeque::new(),
        }
    }

    fn evict(&mut self) {
        let last = self.entries.len().saturating_sub(1) as u64;
        let any = if self.is_random { self.draw.uniform_integer(0, last) } else { 0 };
        let any = usize::try_from(any).unwrap_or_default();
        let evicted =
            if self.is_random { self.entries.swap_remove_back(any) } else { self.entries.pop_front() };
        if let Some(sector) = evicted {
            self.held.remove(&sector);
        }
    }
}

impl Rule for CachedLimbo {
    fn capacity(&self, _below: Bytes) -> Bytes {
        self.announced
    }
    fn granule(&self) -> Bytes {
        SECTOR
    }
    fn is_stored(&mut self, granule: u64) -> bool {
        granule < self.real.sectors().0
    }
    fn drop_write(&mut self, sectors: ByteRange, pattern: Pattern) {
        let sector = sectors.offset.sectors().0;
        if self.held.insert(sector, pattern).is_none() {
            self.entries.push_back(sector);
            if self.entries.len() > self.cache {
                self.evict();
            }
        }
    }
    fn instead(&mut self, sector: u64) -> Option<Instead> {
        if sector < self.real.sectors().0 {
            return None;
        }
        Some(self.held.get(&sector).map_or(Instead::Zeros, |pattern| Instead::Pattern(*pattern)))
    }
}
