//! What an area is to the controller: never written, written, or discarded. Each may answer at another speed.

use flashscope_device::Bytes;

use crate::profile::{Profile, State};

/// What lies at an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    NeverWritten,
    Written,
    Trimmed,
}

/// Two bits for each unit of the stick.
#[derive(Debug, Clone)]
pub(crate) struct AreaStates {
    unit_bytes: u64,
    capacity: u64,
    written: Vec<u64>,
    trimmed: Vec<u64>,
    units_written: u64,
}

impl AreaStates {
    /// `None` where no number of the profile depends on it.
    pub(crate) fn new(profile: &Profile) -> Option<Self> {
        let plain = (profile.read.never_written_factor - 1.0).abs() < f64::EPSILON;
        let shrinking = profile.slc_cache.as_ref().is_some_and(|cache| cache.free_share > 0.0);
        if plain && !shrinking && profile.states.is_none() {
            return None;
        }
        let unit = profile.states.as_ref().and_then(|states| states.unit).unwrap_or(profile.ftl.erase_block);
        let words = Bytes::new(profile.capacity.get().div_ceil(unit.get()).div_ceil(64)).to_usize();
        let mut areas = Self {
            unit_bytes: unit.get(),
            capacity: profile.capacity.get(),
            written: vec![0; words],
            trimmed: vec![0; words],
            units_written: 0,
        };
        if profile.state != State::New {
            areas.write(0, areas.capacity);
        }
        if profile.state == State::Trimmed {
            areas.discard(0, areas.capacity);
        }
        Some(areas)
    }

    pub(crate) fn at(&self, offset: u64) -> Area {
        let (word, bit) = place(offset / self.unit_bytes);
        if self.written[word] & bit != 0 {
            Area::Written
        } else if self.trimmed[word] & bit != 0 {
            Area::Trimmed
        } else {
            Area::NeverWritten
        }
    }

    /// A write fills every unit that it touches.
    pub(crate) fn write(&mut self, start: u64, end: u64) {
        for unit in start / self.unit_bytes..end.div_ceil(self.unit_bytes) {
            let (word, bit) = place(unit);
            self.units_written += u64::from(self.written[word] & bit == 0);
            self.written[word] |= bit;
        }
    }

    /// A discard empties every unit that it covers and that held something; the last may be cut off by the end of the stick.
    pub(crate) fn discard(&mut self, start: u64, end: u64) {
        let last = if end >= self.capacity { end.div_ceil(self.unit_bytes) } else { end / self.unit_bytes };
        for unit in start.div_ceil(self.unit_bytes)..last {
            let (word, bit) = place(unit);
            let held = self.written[word] & bit;
            self.units_written -= u64::from(held != 0);
            self.written[word] &= !bit;
            self.trimmed[word] |= held;
        }
    }

    /// How many bytes hold nothing.
    pub(crate) const fn free_bytes(&self) -> u64 {
        self.capacity.saturating_sub(self.units_written * self.unit_bytes)
    }
}

/// The word and the bit of a unit.
fn place(unit: u64) -> (usize, u64) {
    (Bytes::new(unit / 64).to_usize(), 1 << (unit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_fills_what_it_touches_and_a_discard_empties_what_it_covers() {
        let text =
            Profile::text("generic-2g").unwrap().to_owned() + "\n[states]\nbasis = \"assumed\"\nunit = 4096";
        let mut areas = AreaStates::new(&Profile::parse(&text).unwrap()).unwrap();
        let all = areas.free_bytes();
        areas.write(4000, 12_000);
        assert_eq!(all - areas.free_bytes(), 3 * 4096);
        areas.discard(4095, 12_288);
        let states = [0, 4096, 8192, 12_288].map(|offset| areas.at(offset));
        assert_eq!(states, [Area::Written, Area::Trimmed, Area::Trimmed, Area::NeverWritten]);
        assert_eq!(all - areas.free_bytes(), 4096);
    }
}
