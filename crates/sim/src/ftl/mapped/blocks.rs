//! Erase blocks, listed by their number of valid units: the next victim is found without a search.

/// No block, or no neighbour in the list.
pub(super) const NONE: u32 = u32::MAX;
// A block in no list: free or open.
const UNLISTED: u32 = u32::MAX - 1;

/// One erase block.
#[derive(Debug, Clone, Copy)]
struct Block {
    valid: u32,
    older: u32,
    newer: u32,
    changed_at: u64,
}

/// Both ends of the list of blocks with a given number of valid units.
#[derive(Debug, Clone, Copy)]
struct List {
    oldest: u32,
    newest: u32,
}

/// All erase blocks. Closed ones are listed by valid units; each list is ordered by the last change.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    lists: Vec<List>,
    /// A lower bound of the valid units of any listed block.
    fewest: usize,
}

impl Blocks {
    pub(super) fn new(count: u32, block_units: u32) -> Self {
        let block = Block { valid: 0, older: UNLISTED, newer: UNLISTED, changed_at: 0 };
        let list = List { oldest: NONE, newest: NONE };
        Self {
            blocks: vec![block; count as usize],
            lists: vec![list; block_units as usize + 1],
            fewest: block_units as usize,
        }
    }

    pub(super) fn valid(&self, block: u32) -> u32 {
        self.blocks[block as usize].valid
    }

    /// Counts a unit that was programmed in an open block.
    pub(super) fn add_valid(&mut self, block: u32) {
        self.blocks[block as usize].valid += 1;
    }

    /// Sets the number of valid units of a block that is in no list.
    pub(super) fn set_valid(&mut self, block: u32, valid: u32) {
        self.blocks[block as usize].valid = valid;
    }

    /// Counts a unit of the block that became invalid.
    pub(super) fn remove_valid(&mut self, block: u32, now: u64) {
        let listed = self.is_listed(block);
        if listed {
            self.unlist(block);
        }
        self.blocks[block as usize].valid -= 1;
        if listed {
            self.list(block, now);
        }
    }

    /// Lists a block under its valid units, as the most recently changed.
    pub(super) fn list(&mut self, block: u32, now: u64) {
        let valid = self.blocks[block as usize].valid as usize;
        let list = &mut self.lists[valid];
        let before = std::mem::replace(&mut list.newest, block);
        if before == NONE {
            list.oldest = block;
        } else {
            self.blocks[before as usize].newer = block;
        }
        let entry = &mut self.blocks[block as usize];
        (entry.older, entry.newer, entry.changed_at) = (before, NONE, now);
        self.fewest = self.fewest.min(valid);
    }

    /// Removes a block from its list.
    pub(super) fn unlist(&mut self, block: u32) {
        let Block { valid, older, newer, .. } = self.blocks[block as usize];
        let list = &mut self.lists[valid as usize];
        if older == NONE {
            list.oldest = newer;
        } else {
            self.blocks[older as usize].newer = newer;
        }
        if newer == NONE {
            list.newest = older;
        } else {
            self.blocks[newer as usize].older = older;
        }
        let entry = &mut self.blocks[block as usize];
        (entry.older, entry.newer) = (UNLISTED, UNLISTED);
    }

    pub(super) fn is_listed(&self, block: u32) -> bool {
        self.blocks[block as usize].older != UNLISTED
    }

    /// The oldest block among those with the fewest valid units; `None` if all units of every listed block
    /// are valid.
    pub(super) fn fewest_valid(&mut self) -> Option<u32> {
        let full = self.lists.len() - 1;
        while self.fewest < full && self.lists[self.fewest].oldest == NONE {
            self.fewest += 1;
        }
        (self.fewest < full).then(|| self.lists[self.fewest].oldest)
    }

    /// For each number of valid units below a full block, ascending: that number, the oldest block, and its
    /// last change.
    pub(super) fn oldest_per_level(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        let full = self.lists.len() - 1;
        self.lists[self.fewest.min(full)..full]
            .iter()
            .map(|list| list.oldest)
            .filter(|block| *block != NONE)
            .map(|block| {
                let entry = self.blocks[block as usize];
                (entry.valid, block, entry.changed_at)
            })
    }

    /// Every listed block with the number of valid units of its list; for audits.
    pub(super) fn listed(&self) -> impl Iterator<Item = (usize, u32)> {
        let some = |block: u32| (block != NONE).then_some(block);
        self.lists.iter().enumerate().flat_map(move |(valid, list)| {
            let next = move |block: &u32| some(self.blocks[*block as usize].newer);
            std::iter::successors(some(list.oldest), next).map(move |block| (valid, block))
        })
    }
}
