//! Data blocks: which pages are valid, and how many are programmed in each block.

/// All data blocks. Where the newest version of a page lies is known only to the logs.
#[derive(Debug, Clone)]
pub(super) struct DataBlocks {
    block_pages: u32,
    pages: u32,
    /// One bit a page: whether it holds valid data.
    valid: Vec<u64>,
    blocks: Vec<DataBlock>,
}

#[derive(Debug, Default, Clone, Copy)]
struct DataBlock {
    /// Valid pages, in the block or in a log.
    valid: u32,
    /// Pages programmed in the block since its last erase; 0 if there is no block.
    programmed: u32,
}

impl DataBlocks {
    pub(super) fn new(pages: u32, block_pages: u32) -> Self {
        Self {
            block_pages,
            pages,
            valid: vec![0; pages.div_ceil(64) as usize],
            blocks: vec![DataBlock::default(); pages.div_ceil(block_pages) as usize],
        }
    }

    pub(super) fn is_valid(&self, page: u32) -> bool {
        self.valid[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// The number of valid pages of a block.
    pub(super) fn valid(&self, block: u32) -> u32 {
        self.blocks[block as usize].valid
    }

    /// The valid pages of a block from `offset` on.
    pub(super) fn valid_from(&self, block: u32, offset: u32) -> impl Iterator<Item = u32> + '_ {
        let first = block * self.block_pages;
        let end = (first + self.block_pages).min(self.pages);
        (first + offset..end).filter(|page| self.is_valid(*page))
    }

    pub(super) fn programmed(&self, block: u32) -> u32 {
        self.blocks[block as usize].programmed
    }

    /// Sets the number of programmed pages of a block, and returns the old number.
    pub(super) fn set_programmed(&mut self, block: u32, pages: u32) -> u32 {
        std::mem::replace(&mut self.blocks[block as usize].programmed, pages)
    }

    /// Marks a page as valid.
    pub(super) fn mark_valid(&mut self, page: u32) {
        let added = !self.is_valid(page);
        self.valid[page as usize / 64] |= 1 << (page % 64);
        self.blocks[(page / self.block_pages) as usize].valid += u32::from(added);
    }

    /// Marks a page as invalid; false if it was invalid already.
    pub(super) fn invalidate(&mut self, page: u32) -> bool {
        let was_valid = self.is_valid(page);
        self.valid[page as usize / 64] &= !(1 << (page % 64));
        self.blocks[(page / self.block_pages) as usize].valid -= u32::from(was_valid);
        was_valid
    }

    /// Programs every page from `first` on in its data block, and returns the number of pages.
    pub(super) fn fill(&mut self, first: u32) -> u64 {
        for page in first..self.pages {
            self.mark_valid(page);
        }
        for block in &mut self.blocks {
            block.programmed = block.valid;
        }
        u64::from(self.pages - first)
    }

    /// The number of programmed pages of all data blocks.
    pub(super) fn total_programmed(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.programmed)).sum()
    }

    /// Blocks whose count of valid pages is wrong; for audits.
    pub(super) fn miscounted(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.blocks).filter_map(|(block, entry)| {
            let valid = self.valid_from(block, 0).count();
            (valid != entry.valid as usize).then_some(block)
        })
    }
}
