//! A map from units to places in flash, written as a log: page-mapped and log-structured layers.
//!
//! Every unit (a page, or several) has a place of its own. New data goes to open blocks; what it replaces becomes invalid
//! where it lies. When free blocks run out, blocks are collected: see `victim` and `collect`. Spare flash beyond the capacity
//! decides how many valid units a collected block still holds, and so the write amplification. Two arrays of 32-bit words, one
//! for each direction of the map, are all that grows with the capacity.

mod audit;
mod blocks;
mod collect;
mod deal;
mod fill;
mod frontier;
mod law;
mod layout;
mod streams;
mod victim;

use std::collections::VecDeque;

use super::Counts;
use crate::chance::Chance;
use crate::profile::{LogStructured, PageMapped, Profile};
use blocks::Blocks;
use frontier::Frontier;
use layout::Layout;
use streams::{Stream, index};

/// A mapped layer.
#[derive(Debug, Clone)]
pub(crate) struct Mapped {
    layout: Layout,
    /// For each unit the place where it lies, plus one; 0 if it has none.
    map: Vec<u32>,
    /// For each place the unit that was programmed there last; it lies there still if the map says so.
    holder: Vec<u32>,
    blocks: Blocks,
    /// Erased blocks, the longest free first, so that wear spreads.
    free: VecDeque<u32>,
    /// One for each stream; then one for copies, if they are kept apart.
    frontiers: Vec<Frontier>,
    streams: Vec<Stream>,
    last_stream: usize,
    writes: u64,
    /// Units programmed, those that the stick was made with included: the clock of ages.
    programs: u64,
    made_with: MadeWith,
    /// Pages programmed for the host. Writes that go on inside a page still in the buffer program it once.
    host_pages: u64,
    counts: Counts,
}

/// What was there before the first request.
#[derive(Debug, Default, Clone, Copy)]
struct MadeWith {
    /// Units programmed.
    programs: u64,
    /// Places in blocks that were not erased since.
    places: u64,
}

impl Mapped {
    pub(crate) fn page_mapped(profile: &Profile, policy: &PageMapped, chance: Chance) -> Self {
        Self::new(Layout::page_mapped(profile, policy), profile, chance)
    }

    pub(crate) fn log_structured(profile: &Profile, policy: &LogStructured, chance: Chance) -> Self {
        Self::new(Layout::log_structured(profile, policy), profile, chance)
    }

    fn new(layout: Layout, profile: &Profile, chance: Chance) -> Self {
        let mut layer = Self {
            map: vec![0; layout.units as usize],
            holder: vec![0; layout.blocks as usize * layout.block_units as usize],
            blocks: Blocks::new(layout.blocks, layout.block_units),
            free: (0..layout.blocks).collect(),
            frontiers: vec![Frontier::CLOSED; layout.frontiers()],
            streams: vec![Stream::NEW; layout.streams],
            last_stream: 0,
            writes: 0,
            programs: 0,
            made_with: MadeWith::default(),
            host_pages: 0,
            counts: Counts::default(),
            layout,
        };
        layer.fill(profile.state, chance);
        layer
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }

    /// The units that lie wholly inside are wanted no more.
    pub(crate) fn discard(&mut self, start: u64, end: u64) {
        let first = index(start.div_ceil(self.layout.unit_bytes));
        let whole = end == self.layout.capacity;
        let end = if whole { self.layout.units } else { index(end / self.layout.unit_bytes) };
        self.leave(first, end);
        for unit in first..end {
            let place = std::mem::take(&mut self.map[unit as usize]);
            if place != 0 {
                self.blocks.lose((place - 1) / self.layout.block_units, self.programs);
            }
        }
    }

    /// Whether the layer holds anything for the byte at `offset`.
    pub(crate) fn holds(&self, offset: u64) -> bool {
        self.map[index(offset / self.layout.unit_bytes) as usize] != 0
    }
}
