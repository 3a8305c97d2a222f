//! Erase blocks mapped as wholes, and log blocks mapped page by page that take all writes.
//!
//! *Block-associative* (BAST: J. Kim et al., "A space-efficient flash translation layer for CompactFlash
//! systems", IEEE Transactions on Consumer Electronics 48(2), 2002): each log block belongs to one data
//! block. *Fully associative* (FAST: S.-W. Lee et al., "A log buffer-based flash translation layer using
//! fully-associative sector translation", ACM TECS 6(3), 2007): one log block takes a data block that is
//! written sequentially, the others take any page of any block.
//!
//! A log block is reclaimed by a *switch* if it holds its whole data block sequentially, and by a *partial
//! merge* if it holds the first pages sequentially: the rest is copied to its end. Otherwise it is reclaimed
//! by *full merges*: every data block of which it holds the newest version of a page is copied into a new
//! block.

mod audit;
mod block_associative;
mod data_blocks;
mod fully_associative;
mod log;
mod merge;

use super::inconsistency::Inconsistency;
use super::layer::{Counts, Placement, TranslationLayer};
use crate::arithmetic::nanoseconds;
use crate::profile::{self, Association, Profile, State};
use crate::rng::StreamRng;
use data_blocks::DataBlocks;
use log::Logs;

/// A hybrid layer. Pages are numbered over the whole stick.
#[derive(Debug, Clone)]
pub(crate) struct HybridLog {
    page_bytes: u64,
    block_pages: u32,
    pages: u32,
    capacity: u64,
    fat_area_end: u64,
    association: Association,
    copy_page_ns: u64,
    erase_ns: u64,
    data: DataBlocks,
    logs: Logs,
    /// The shared log that takes pages now, in a fully associative layer.
    shared: usize,
    /// The end of the last command: its last page is still in the buffer.
    continues_at: u64,
    last_block: u32,
    accounting: PageAccounting,
    counts: Counts,
}

/// Pages programmed and erased outside the FAT area, for audits.
#[derive(Debug, Default, Clone, Copy)]
struct PageAccounting {
    programmed: u64,
    erased: u64,
}

impl HybridLog {
    pub(crate) fn new(profile: &Profile, policy: &profile::HybridLog, rng: StreamRng) -> Self {
        let page_bytes = profile.ftl.page.get();
        let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let block_pages = count(profile.ftl.erase_block / profile.ftl.page);
        let pages = count(profile.capacity.get().div_ceil(page_bytes));
        let mut layer = Self {
            page_bytes,
            block_pages,
            pages,
            capacity: profile.capacity.get(),
            fat_area_end: profile.ftl.fat_area.get(),
            association: policy.association,
            copy_page_ns: nanoseconds(policy.copy_page_us),
            erase_ns: nanoseconds(policy.erase_us),
            data: DataBlocks::new(pages, block_pages),
            logs: Logs::new(policy.log_blocks as usize, pages, block_pages),
            shared: 1,
            continues_at: u64::MAX,
            last_block: 0,
            accounting: PageAccounting::default(),
            counts: Counts::default(),
        };
        layer.fill(profile.state, rng);
        layer
    }

    fn write_page(&mut self, page: u32) -> u64 {
        self.accounting.programmed += 1;
        match self.association {
            Association::Block => self.write_block_associative(page),
            Association::Full => self.write_fully_associative(page),
        }
    }

    /// True if a page is the first of its block, or continues a sequential log of the block.
    fn is_sequential(&self, page: u32) -> bool {
        let (block, offset) = (page / self.block_pages, page % self.block_pages);
        offset == 0 || self.logs.of_block(block).is_some_and(|log| self.logs[log].continues_with(offset))
    }

    fn page_at(&self, offset: u64) -> u32 {
        u32::try_from(offset / self.page_bytes).unwrap_or(u32::MAX)
    }

    /// Preconditions a new layer. The counters stay at zero. The FAT area is mapped separately.
    fn fill(&mut self, state: State, mut rng: StreamRng) {
        let first = self.page_at(self.fat_area_end);
        let pages = self.pages.saturating_sub(first);
        if matches!(state, State::Full | State::Steady) {
            self.accounting.programmed += self.data.fill(first);
        }
        if state == State::Steady && pages > 0 {
            // Random overwriting leaves the logs as full as possible without a merge.
            for _ in 0..self.pages_before_merge() {
                let page = rng.below(pages as usize);
                self.write_page(first + u32::try_from(page).unwrap_or(0));
            }
            self.counts = Counts::default();
        }
    }

    fn pages_before_merge(&self) -> usize {
        match self.association {
            Association::Block => self.logs.count(),
            Association::Full => (self.logs.count() - 1) * self.block_pages as usize,
        }
    }
}

impl TranslationLayer for HybridLog {
    fn write(&mut self, start: u64, end: u64) -> Placement {
        let continues_at = std::mem::replace(&mut self.continues_at, end);
        let start = start.max(self.fat_area_end);
        if start >= end {
            return Placement::default();
        }
        // The FAT area ends with a page, so no page in the buffer reaches across its end.
        let in_buffer = start == continues_at && !start.is_multiple_of(self.page_bytes);
        let (first, last) = (self.page_at(start) + u32::from(in_buffer), self.page_at(end - 1));
        let jumped = !in_buffer && !self.is_sequential(first);
        let copying_ns = (first..=last).map(|page| self.write_page(page)).sum();
        let block = last / self.block_pages;
        let before = std::mem::replace(&mut self.last_block, block);
        Placement { switched: before != self.page_at(start) / self.block_pages, jumped, copying_ns }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    /// A data block without valid pages is erased. The erase takes no time, as no request waits for it.
    fn discard(&mut self, start: u64, end: u64) {
        self.continues_at = u64::MAX;
        let first = self.page_at(start.max(self.fat_area_end).next_multiple_of(self.page_bytes));
        let end = if end == self.capacity { self.pages } else { self.page_at(end) };
        for page in first..end {
            if self.data.invalidate(page) {
                self.logs.supersede(page);
                let block = page / self.block_pages;
                if self.data.valid(block) == 0 {
                    self.erase_data(block);
                }
            }
        }
    }

    fn flush(&mut self) -> u64 {
        self.continues_at = u64::MAX;
        0
    }

    /// The FAT area is mapped separately and always counts as held.
    fn holds(&self, offset: u64) -> Option<bool> {
        Some(offset < self.fat_area_end || self.data.is_valid(self.page_at(offset)))
    }

    fn audit(&self) -> Result<(), Inconsistency> {
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;
    use crate::profile::Basis;

    const PAGE: u64 = 16 << 10;
    const PAGES: u32 = 512;

    /// 64 blocks of eight pages, and three logs. The FAT area has this number of pages.
    fn layer(association: Association, state: State, fat_area: u32) -> HybridLog {
        let basis = Basis::Assumed;
        let policy =
            profile::HybridLog { basis, association, log_blocks: 3, copy_page_us: 1e3, erase_us: 5e3 };
        let mut profile = Profile::builtin("transcend-8g").unwrap();
        (profile.ftl.page, profile.ftl.erase_block) = (Bytes::new(PAGE), Bytes::new(PAGE * 8));
        let bytes = |pages: u32| Bytes::new(PAGE * u64::from(pages));
        (profile.ftl.fat_area, profile.capacity) = (bytes(fat_area), bytes(PAGES));
        profile.state = state;
        HybridLog::new(&profile, &policy, StreamRng::new(1, 1))
    }

    /// The time of merges for the second page of each block.
    fn merges_ns(layer: &mut HybridLog) -> Vec<u64> {
        let starts = (0..64).map(|block| (block * 8 + 1) * PAGE);
        starts.map(|start| layer.write(start, start + PAGE).copying_ns).collect()
    }

    /// A log for each block, or two that all blocks share. None takes pages of the FAT area.
    #[test]
    fn steady_layer_merges_like_a_full_one_whose_logs_were_filled_at_random() {
        for (association, pages) in [(Association::Block, 3), (Association::Full, 16)] {
            for fat_area in [0, PAGES / 2, PAGES - 8] {
                let mut full = layer(association, State::Full, fat_area);
                let mut random = StreamRng::new(1, 1);
                for _ in 0..pages {
                    let page = random.below((PAGES - fat_area) as usize);
                    full.write_page(fat_area + u32::try_from(page).unwrap());
                }
                let mut steady = layer(association, State::Steady, fat_area);
                assert_eq!(merges_ns(&mut steady), merges_ns(&mut full), "{association:?} {fat_area}");
            }
        }
    }

    #[test]
    fn steady_layer_may_be_a_fat_area_alone() {
        for association in [Association::Block, Association::Full] {
            assert_eq!(merges_ns(&mut layer(association, State::Steady, PAGES)), [0; 64]);
        }
    }
}
