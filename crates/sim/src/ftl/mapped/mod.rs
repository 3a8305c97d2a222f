//! A map from mapping units to slots in flash, written as a log: the base of page-mapped and log-structured
//! layers.
//!
//! Every unit (one or more pages) is mapped to a slot of its own. New data goes to open blocks; the old
//! version becomes invalid in its slot. When free blocks run out, garbage collection empties blocks: see
//! `victim` and `collect`. Spare flash decides how many valid units a collected block still holds, and so the
//! write amplification. Only two arrays of 32-bit words, one for each direction of the map, grow with the
//! capacity.

mod append;
mod assignment;
mod audit;
mod blocks;
mod collect;
mod fill;
mod frontier;
mod index;
mod layout;
mod program;
mod stream;
mod valid_distribution;
mod victim;

use std::collections::VecDeque;

use super::inconsistency::Inconsistency;
use super::layer::{Counts, Placement, TranslationLayer};
use crate::profile::State;
use crate::rng::StreamRng;
use blocks::Blocks;
use frontier::Frontier;
use index::index;
pub(super) use layout::Layout;
use stream::Stream;

/// A mapped layer.
#[derive(Debug, Clone)]
pub(super) struct Mapped {
    layout: Layout,
    /// For each unit the index of its slot, plus one; 0 if it has none.
    map: Vec<u32>,
    /// For each slot the unit programmed there last; it is valid if the map points back to the slot.
    unit_in_slot: Vec<u32>,
    blocks: Blocks,
    /// Erased blocks, the longest free first, for wear levelling.
    free: VecDeque<u32>,
    /// One for each stream, then one for copies if they are separate.
    frontiers: Vec<Frontier>,
    streams: Vec<Stream>,
    last_stream: usize,
    writes: u64,
    /// Units programmed, preconditioning included: the clock for the age of blocks.
    programs: u64,
    prefill: Prefill,
    /// Pages programmed for the host. Writes that continue a buffered page program it once.
    host_pages: u64,
    counts: Counts,
}

/// The result of preconditioning.
#[derive(Debug, Default, Clone, Copy)]
struct Prefill {
    /// Units programmed.
    programs: u64,
    /// Slots of the blocks in use.
    slots: u64,
}

impl Mapped {
    pub(super) fn new(layout: Layout, state: State, rng: StreamRng) -> Self {
        let mut layer = Self {
            map: vec![0; layout.units as usize],
            unit_in_slot: vec![0; layout.blocks as usize * layout.block_units as usize],
            blocks: Blocks::new(layout.blocks, layout.block_units),
            free: (0..layout.blocks).collect(),
            frontiers: vec![Frontier::CLOSED; layout.frontiers()],
            streams: vec![Stream::NEW; layout.streams],
            last_stream: 0,
            writes: 0,
            programs: 0,
            prefill: Prefill::default(),
            host_pages: 0,
            counts: Counts::default(),
            layout,
        };
        layer.fill(state, rng);
        layer
    }
}

impl TranslationLayer for Mapped {
    fn write(&mut self, start: u64, end: u64) -> Placement {
        self.append(start, end)
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn discard(&mut self, start: u64, end: u64) {
        let first = index(start.div_ceil(self.layout.unit_bytes));
        let is_to_end = end == self.layout.capacity;
        let end = if is_to_end { self.layout.units } else { index(end / self.layout.unit_bytes) };
        self.detach_streams(first, end);
        for unit in first..end {
            let slot = std::mem::take(&mut self.map[unit as usize]);
            if slot != 0 {
                self.blocks.remove_valid((slot - 1) / self.layout.block_units, self.programs);
            }
        }
    }

    fn flush(&mut self) -> u64 {
        self.flush_runs()
    }

    fn idle(&mut self, ns: u64) -> u64 {
        self.collect_for(ns)
    }

    fn holds(&self, offset: u64) -> Option<bool> {
        Some(self.map[index(offset / self.layout.unit_bytes) as usize] != 0)
    }

    fn audit(&self) -> Result<(), Inconsistency> {
        self.check()
    }
}
