//! Wear: erases make cells slower, and worn-out cells may fail.

use flashscope_device::Bytes;

use crate::profile::{self, EndOfLife, Levelling, Profile};

// Guess: 1000 zones separate hot from cold areas without a counter for each block.
const ZONES: u64 = 1000;

/// Erases by zone of the stick; one zone with static wear levelling.
#[derive(Debug, Clone)]
pub(crate) struct Wear {
    parameters: profile::Wear,
    zone_bytes: u64,
    blocks_per_zone: f64,
    erases: Vec<u64>,
    erases_seen: u64,
}

impl Wear {
    pub(crate) fn new(profile: &Profile) -> Option<Self> {
        let parameters = profile.wear.clone()?;
        let (block, capacity) = (profile.ftl.erase_block, profile.capacity);
        let zones = if parameters.levelling == Levelling::Static { 1 } else { ZONES };
        let zone = Bytes::new(capacity.get().div_ceil(zones)).round_up(block);
        let count = Bytes::new(capacity.get().div_ceil(zone.get())).to_usize();
        let blocks_per_zone = zone.as_f64() / block.as_f64();
        Some(Self {
            parameters,
            zone_bytes: zone.get(),
            blocks_per_zone,
            erases: vec![0; count],
            erases_seen: 0,
        })
    }

    /// Takes the total number of erases; new ones count for the zone of `start`.
    pub(crate) fn count(&mut self, start: u64, erases: u64) {
        let zone = self.zone(start);
        self.erases[zone] += erases - self.erases_seen;
        self.erases_seen = erases;
    }

    /// The factor on a read that starts here.
    pub(crate) fn read_factor(&self, start: u64) -> f64 {
        self.factor(start, self.parameters.read_factor_at_end)
    }

    /// The factor on a write that starts here.
    pub(crate) fn write_factor(&self, start: u64) -> f64 {
        self.factor(start, self.parameters.write_factor_at_end)
    }

    /// True if a write that starts here fails.
    pub(crate) fn fails(&self, start: u64) -> bool {
        self.parameters.at_end == EndOfLife::WritesFail && self.used_share(start) >= 1.0
    }

    fn factor(&self, start: u64, at_end: f64) -> f64 {
        1.0 + (at_end - 1.0) * self.used_share(start).min(1.0)
    }

    /// The erase cycles used, as a share of the endurance.
    fn used_share(&self, start: u64) -> f64 {
        let cycles = Bytes::new(self.erases[self.zone(start)]).as_f64() / self.blocks_per_zone;
        (self.parameters.cycles_used + cycles) / self.parameters.cycles
    }

    fn zone(&self, start: u64) -> usize {
        Bytes::new(start / self.zone_bytes).to_usize()
    }
}
