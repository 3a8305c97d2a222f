//! Which ranges of a device are saved.

use super::range_set::RangeSet;
use crate::units::{ByteRange, Bytes};

/// Data is saved in multiples of this, or of the logical block if that is larger. Policy: the smallest
/// request of the write tests, so that a random write does not save more than it overwrites.
pub(super) const UNIT: Bytes = Bytes::kib(4);

/// A sequential stream saves at most this much ahead. Policy: one append for each MiB that is written.
pub(super) const AHEAD_MAX: Bytes = Bytes::mib(1);

/// The saved ranges.
#[derive(Debug, Default)]
pub(super) struct Saved {
    ranges: RangeSet,
}

impl Saved {
    /// The ranges that must be saved before `range` is overwritten, ascending.
    ///
    /// A write behind saved data saves ahead as much as is saved directly before it. Random writes save what
    /// they touch; a sequential stream soon saves [`AHEAD_MAX`] at once.
    pub fn missing(&self, range: ByteRange, unit: Bytes, capacity: Bytes) -> Vec<ByteRange> {
        let start = range.offset.round_down(unit);
        let end = range.end().round_up(unit).min(capacity);
        let gaps = self.ranges.gaps(start, end);
        let Some(first) = gaps.first().map(|gap| gap.offset) else { return Vec::new() };
        let run = self.ranges.run_before(first).min(AHEAD_MAX).round_down(unit);
        let ahead = (first + run).min((first + unit).round_up(AHEAD_MAX));
        self.ranges.gaps(start, end.max(ahead).min(capacity))
    }

    /// Adds a range.
    pub fn add(&mut self, range: ByteRange) {
        self.ranges.add(range);
    }

    /// The saved bytes.
    pub fn total(&self) -> Bytes {
        self.ranges.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Bytes = Bytes::mib(16);

    fn kib(offset: u64, length: u64) -> ByteRange {
        ByteRange::new(Bytes::kib(offset), Bytes::kib(length))
    }

    fn write(saved: &mut Saved, range: ByteRange) -> Vec<ByteRange> {
        let missing = saved.missing(range, UNIT, CAPACITY);
        missing.iter().for_each(|range| saved.add(*range));
        missing
    }

    #[test]
    fn random_write_saves_what_it_touches_and_only_once() {
        let mut saved = Saved::default();
        assert_eq!(write(&mut saved, ByteRange::new(Bytes::new(4608), Bytes::new(512))), [kib(4, 4)]);
        assert_eq!(write(&mut saved, kib(4, 4)), []);
        assert_eq!(write(&mut saved, kib(0, 16)), [kib(0, 4), kib(8, 8)]);
        assert_eq!(write(&mut saved, kib(8192, 4)), [kib(8192, 4)]);
        assert_eq!(saved.total(), Bytes::kib(20));
    }

    #[test]
    fn sequential_stream_saves_ahead_up_to_one_mebibyte() {
        let mut saved = Saved::default();
        let mut appends = 0;
        for index in 0..2048 {
            appends += write(&mut saved, kib(4 * index, 4)).len();
        }
        assert!(appends <= 18, "{appends} appends for 8 MiB");
        assert!(saved.total() <= Bytes::mib(9), "{}", saved.total());
    }

    #[test]
    fn nothing_is_saved_behind_the_end() {
        let mut saved = Saved::default();
        let capacity = Bytes::new(10_240);
        let missing = saved.missing(ByteRange::new(Bytes::new(8192), Bytes::new(2048)), UNIT, capacity);
        assert_eq!(missing, [ByteRange::new(Bytes::new(8192), Bytes::new(2048))]);
        saved.add(ByteRange::new(Bytes::ZERO, Bytes::new(8192)));
        assert_eq!(saved.missing(missing[0], UNIT, capacity), missing);
    }
}
