//! Growing old: erases use cells up, and what is used up is slow and fails at last.

use flashscope_device::Bytes;

use crate::profile::{self, AtEnd, Levelling, Profile};

// Zones of a thousandth of the stick tell hot places from cold ones without a counter for each block.
const ZONES: u64 = 1000;

/// Erases by zone of the stick; one zone where they are spread evenly.
#[derive(Debug, Clone)]
pub(crate) struct Wear {
    numbers: profile::Wear,
    zone_bytes: u64,
    blocks_per_zone: f64,
    erases: Vec<u64>,
    erases_seen: u64,
}

impl Wear {
    pub(crate) fn new(profile: &Profile) -> Option<Self> {
        let numbers = profile.wear.clone()?;
        let (block, capacity) = (profile.ftl.erase_block, profile.capacity);
        let zones = if numbers.levelling == Levelling::Static { 1 } else { ZONES };
        let zone = Bytes::new(capacity.get().div_ceil(zones)).round_up(block);
        let count = Bytes::new(capacity.get().div_ceil(zone.get())).to_usize();
        let blocks_per_zone = zone.as_f64() / block.as_f64();
        Some(Self {
            numbers,
            zone_bytes: zone.get(),
            blocks_per_zone,
            erases: vec![0; count],
            erases_seen: 0,
        })
    }

    /// Learns how many erases there have been in all; the new ones belong to the zone of `start`.
    pub(crate) fn count(&mut self, start: u64, erases: u64) {
        let zone = self.zone(start);
        self.erases[zone] += erases - self.erases_seen;
        self.erases_seen = erases;
    }

    /// The factor on a read that begins here.
    pub(crate) fn read_factor(&self, start: u64) -> f64 {
        self.factor(start, self.numbers.read_factor_at_end)
    }

    /// The factor on a write that begins here.
    pub(crate) fn write_factor(&self, start: u64) -> f64 {
        self.factor(start, self.numbers.write_factor_at_end)
    }

    /// True if a write to here fails.
    pub(crate) fn fails(&self, start: u64) -> bool {
        self.numbers.at_end == AtEnd::WritesFail && self.used(start) >= 1.0
    }

    fn factor(&self, start: u64, at_end: f64) -> f64 {
        1.0 + (at_end - 1.0) * self.used(start).min(1.0)
    }

    /// The cycles used, as a share of those there are.
    fn used(&self, start: u64) -> f64 {
        let cycles = Bytes::new(self.erases[self.zone(start)]).as_f64() / self.blocks_per_zone;
        (self.numbers.cycles_used + cycles) / self.numbers.cycles
    }

    fn zone(&self, start: u64) -> usize {
        Bytes::new(start / self.zone_bytes).to_usize()
    }
}
