//! From places to a verdict.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::capacity::{
    BadPlaces, CapacityHint, CapacityKind, CapacityVerdict, PlaceState, SampledPlace,
};

use super::alias::Scan;
use super::stamped::{Place, Stamped};

/// Areas that must have been read for the hint of mapping on demand.
const UNWRITTEN_MIN: usize = 4;
/// Written areas take at least this many times as long. Of 300 random genuine sticks 2 reach it, of 30 that
/// map on demand 29; at 3 it would be none and 24.
const FASTER: u32 = 2;

/// What is known so far.
#[derive(Debug)]
pub struct Outcome {
    pub kind: CapacityKind,
    pub true_size: Option<Bytes>,
    pub wrap_period: Option<Bytes>,
    pub cache_seen: Option<Bytes>,
    pub places: Vec<Place>,
    hints: Vec<CapacityHint>,
}

impl Outcome {
    /// No sign so far, with these places.
    pub const fn new(places: Vec<Place>) -> Self {
        Self {
            kind: CapacityKind::NoSign,
            true_size: None,
            wrap_period: None,
            cache_seen: None,
            places,
            hints: Vec::new(),
        }
    }

    /// Adds places.
    pub fn add(&mut self, places: Vec<Place>) {
        self.places.extend(places);
    }

    /// Replaces places that were tried again.
    pub fn replace(&mut self, again: &[Place]) {
        for place in again {
            if let Some(old) = self.places.iter_mut().find(|old| old.at == place.at) {
                *old = *place;
            }
        }
    }

    /// Adds the hint of a device that maps on demand.
    pub fn hint_mapping(&mut self, scan: &Scan, written: Duration) {
        let mut latencies = scan.latencies.clone();
        let blank = scan.blank[0].max(scan.blank[1]);
        let unwritten = median(&mut latencies);
        if blank == latencies.len() && blank >= UNWRITTEN_MIN && unwritten * FASTER <= written {
            self.hints.push(CapacityHint::UnwrittenReadsFast { unwritten, written });
        }
    }

    /// The verdict.
    pub fn verdict(mut self, io: &Stamped<'_>, seed: u64, cache_excluded: Bytes) -> CapacityVerdict {
        if io.wrong_once > 0 {
            self.hints.push(CapacityHint::WrongOnce { places: io.wrong_once });
        }
        if io.failed_once > 0 {
            self.hints.push(CapacityHint::FailedOnce { writes: io.failed_once });
        }
        self.places.sort_by_key(|place| place.at);
        let maps_on_demand = |hint: &CapacityHint| matches!(hint, CapacityHint::UnwrittenReadsFast { .. });
        if self.kind == CapacityKind::NoSign && self.hints.iter().any(maps_on_demand) {
            self.kind = CapacityKind::Undecided;
        }
        let true_size = match self.kind {
            CapacityKind::NoSign | CapacityKind::Scattered | CapacityKind::Undecided => None,
            _ => self.true_size,
        };
        let end = true_size.unwrap_or(io.capacity);
        let below: Vec<&Place> = self.places.iter().filter(|place| place.at < end).collect();
        let is_bad = |place: &Place| !place.is_kept() && place.state() != PlaceState::OtherAddress;
        let bad_below = below.iter().filter(|place| is_bad(place)).count();
        let has_share = matches!(self.kind, CapacityKind::Scattered | CapacityKind::Mixed);
        let share = if has_share { ratio(bad_below, below.len()) } else { 0.0 };
        CapacityVerdict {
            kind: self.kind,
            announced: io.capacity,
            true_size,
            wrap_period: self.wrap_period,
            cache_excluded,
            cache_seen: self.cache_seen.filter(|_| self.kind.is_bad()),
            bad_share: share,
            bad: counts(&self.places),
            hints: self.hints,
            places: self
                .places
                .iter()
                .map(|place| SampledPlace { offset: place.at, state: place.state() })
                .collect(),
            seed,
            cost: io.cost(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of places are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// What bad places returned, the most frequent first.
fn counts(places: &[Place]) -> Vec<BadPlaces> {
    let mut counts: BTreeMap<PlaceState, u64> = BTreeMap::new();
    for place in places.iter().filter(|place| !place.is_kept()) {
        *counts.entry(place.state()).or_default() += 1;
    }
    let mut bad: Vec<BadPlaces> =
        counts.into_iter().map(|(state, count)| BadPlaces { state, count }).collect();
    bad.sort_by_key(|bad| std::cmp::Reverse(bad.count));
    bad
}

/// The median; zero of nothing.
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
