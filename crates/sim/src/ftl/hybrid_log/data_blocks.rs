//! Data blocks: which pages hold anything, and what is programmed in each block.

/// Nothing is known of where a page's newest version lies; see the logs for that.
#[derive(Debug, Clone)]
pub(super) struct DataBlocks {
    block_pages: u32,
    pages: u32,
    /// One bit for each page: whether it holds anything that is wanted.
    wanted: Vec<u64>,
    blocks: Vec<DataBlock>,
}

#[derive(Debug, Default, Clone, Copy)]
struct DataBlock {
    /// Pages that hold anything that is wanted, in the block or in a log.
    wanted: u32,
    /// Pages programmed in the block since it was erased; 0 if there is none.
    programmed: u32,
}

impl DataBlocks {
    pub(super) fn new(pages: u32, block_pages: u32) -> Self {
        Self {
            block_pages,
            pages,
            wanted: vec![0; pages.div_ceil(64) as usize],
            blocks: vec![DataBlock::default(); pages.div_ceil(block_pages) as usize],
        }
    }

    pub(super) fn is_wanted(&self, page: u32) -> bool {
        self.wanted[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// The pages of a block that hold anything.
    pub(super) fn wanted(&self, block: u32) -> u32 {
        self.blocks[block as usize].wanted
    }

    /// The same of the pages from `offset` on.
    pub(super) fn wanted_from(&self, block: u32, offset: u32) -> impl Iterator<Item = u32> + '_ {
        let first = block * self.block_pages;
        let end = (first + self.block_pages).min(self.pages);
        (first + offset..end).filter(|page| self.is_wanted(*page))
    }

    pub(super) fn programmed(&self, block: u32) -> u32 {
        self.blocks[block as usize].programmed
    }

    /// Sets how many pages are programmed in a block, and returns how many were.
    pub(super) fn set_programmed(&mut self, block: u32, pages: u32) -> u32 {
        std::mem::replace(&mut self.blocks[block as usize].programmed, pages)
    }

    /// The page holds something now.
    pub(super) fn want(&mut self, page: u32) {
        let added = !self.is_wanted(page);
        self.wanted[page as usize / 64] |= 1 << (page % 64);
        self.blocks[(page / self.block_pages) as usize].wanted += u32::from(added);
    }

    /// The page holds nothing any more; false if it did not before.
    pub(super) fn forget(&mut self, page: u32) -> bool {
        let held = self.is_wanted(page);
        self.wanted[page as usize / 64] &= !(1 << (page % 64));
        self.blocks[(page / self.block_pages) as usize].wanted -= u32::from(held);
        held
    }

    /// Every page from `first` on is programmed in its data block; returns how many that are.
    pub(super) fn fill(&mut self, first: u32) -> u64 {
        for page in first..self.pages {
            self.want(page);
        }
        for block in &mut self.blocks {
            block.programmed = block.wanted;
        }
        u64::from(self.pages - first)
    }

    /// Pages programmed in all data blocks.
    pub(super) fn programmed_in_all(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.programmed)).sum()
    }

    /// Blocks whose count of wanted pages is wrong; for audits.
    pub(super) fn miscounted(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.blocks).filter_map(|(block, entry)| {
            let wanted = self.wanted_from(block, 0).count();
            (wanted != entry.wanted as usize).then_some(block)
        })
    }
}
