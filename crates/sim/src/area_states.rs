//! The state of areas: never written, written, or discarded. Each state may have its own speed.

use flashscope_device::Bytes;

use crate::profile::{Profile, State};

/// The state of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    NeverWritten,
    Written,
    Trimmed,
}

/// The state of every unit, two bits each.
#[derive(Debug, Clone)]
pub(crate) struct AreaStates {
    unit_bytes: u64,
    capacity: u64,
    written: Vec<u64>,
    trimmed: Vec<u64>,
    units_written: u64,
}

impl AreaStates {
    /// `None` if no number of the profile depends on area states.
    pub(crate) fn new(profile: &Profile) -> Option<Self> {
        let is_uniform = (profile.read.never_written_factor - 1.0).abs() < f64::EPSILON;
        let has_dynamic_cache = profile.slc_cache.as_ref().is_some_and(|cache| cache.free_share > 0.0);
        if is_uniform && !has_dynamic_cache && profile.states.is_none() {
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
        let (word, bit) = word_and_bit(offset / self.unit_bytes);
        if self.written[word] & bit != 0 {
            Area::Written
        } else if self.trimmed[word] & bit != 0 {
            Area::Trimmed
        } else {
            Area::NeverWritten
        }
    }

    /// Marks every unit that a write overlaps as written.
    pub(crate) fn write(&mut self, start: u64, end: u64) {
        for unit in start / self.unit_bytes..end.div_ceil(self.unit_bytes) {
            let (word, bit) = word_and_bit(unit);
            self.units_written += u64::from(self.written[word] & bit == 0);
            self.written[word] |= bit;
        }
    }

    /// Marks every written unit that a discard covers wholly as trimmed. The end of the stick may cut the
    /// last unit short.
    pub(crate) fn discard(&mut self, start: u64, end: u64) {
        let last = if end >= self.capacity { end.div_ceil(self.unit_bytes) } else { end / self.unit_bytes };
        for unit in start.div_ceil(self.unit_bytes)..last {
            let (word, bit) = word_and_bit(unit);
            let held = self.written[word] & bit;
            self.units_written -= u64::from(held != 0);
            self.written[word] &= !bit;
            self.trimmed[word] |= held;
        }
    }

    /// The bytes that hold no data.
    pub(crate) const fn free_bytes(&self) -> u64 {
        self.capacity.saturating_sub(self.units_written * self.unit_bytes)
    }
}

/// The index of a unit's word, and its bit.
fn word_and_bit(unit: u64) -> (usize, u64) {
    (Bytes::new(unit / 64).to_usize(), 1 << (unit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_marks_overlapped_units_and_discard_clears_covered_units() {
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
