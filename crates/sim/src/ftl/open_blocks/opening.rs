//! The cost to open an erase block: zero for the most recently opened ones, and a fixed cost in some ranges.

use crate::arithmetic::nanoseconds;
use crate::profile::{Ftl, OpenBlocks, OpeningCost};

/// Costs to open an erase block, and the units that were opened most recently.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    open_ns: u64,
    recent_max: usize,
    ranges: Vec<OpeningRange>,
    /// The most recently opened units, the latest last; kept only if opening has a cost.
    recent: Vec<u64>,
}

/// Units from `first` to before `end`, with their own cost.
#[derive(Debug, Clone, Copy)]
struct OpeningRange {
    first: u64,
    end: u64,
    open_ns: u64,
}

impl Opening {
    pub(super) fn new(ftl: &Ftl, policy: &OpenBlocks) -> Self {
        let range = |opening: &OpeningCost| OpeningRange {
            first: opening.start / ftl.erase_block,
            end: (opening.start / ftl.erase_block).saturating_add(opening.length / ftl.erase_block),
            open_ns: nanoseconds(opening.open_us),
        };
        Self {
            open_ns: nanoseconds(policy.open_us),
            recent_max: policy.open_units_linear as usize,
            ranges: policy.opening.iter().map(range).collect(),
            recent: Vec::new(),
        }
    }

    /// The cost to write a unit from its start.
    pub(super) fn open_ns(&mut self, unit: u64) -> u64 {
        if let Some(range) = self.ranges.iter().find(|range| (range.first..range.end).contains(&unit)) {
            return range.open_ns;
        }
        if self.open_ns == 0 {
            return 0;
        }
        let known = self.recent.iter().position(|recent| *recent == unit);
        if known.is_some() || self.recent.len() == self.recent_max {
            self.recent.remove(known.unwrap_or(0));
        }
        self.recent.push(unit);
        if known.is_some() { 0 } else { self.open_ns }
    }
}
