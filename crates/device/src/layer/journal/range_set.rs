//! A set of bytes of a device.

use std::collections::BTreeMap;

use crate::units::{ByteRange, Bytes};

/// Ranges of a device, merged: start and end of each.
#[derive(Debug, Default)]
pub(super) struct RangeSet {
    ranges: BTreeMap<Bytes, Bytes>,
}

impl RangeSet {
    /// Adds a range.
    pub fn add(&mut self, range: ByteRange) {
        let (mut start, mut end) = (range.offset, range.end());
        while let Some((&from, &to)) = self.ranges.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            self.ranges.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.ranges.insert(start, end);
    }

    /// The number of bytes.
    pub fn total(&self) -> Bytes {
        self.ranges.iter().map(|(start, end)| *end - *start).sum()
    }

    /// The length of the range that ends at `offset`; zero if none does.
    pub fn run_before(&self, offset: Bytes) -> Bytes {
        let before = self.ranges.range(..offset).next_back().filter(|(_, end)| **end == offset);
        before.map_or(Bytes::ZERO, |(start, end)| *end - *start)
    }

    /// The parts from `start` to `end` that are not in the set, ascending.
    pub fn gaps(&self, start: Bytes, end: Bytes) -> Vec<ByteRange> {
        let mut gaps = Vec::new();
        let mut at = self.ranges.range(..=start).next_back().map_or(start, |(_, to)| start.max(*to));
        while at < end {
            let next = self.ranges.range(at..end).next();
            let stop = next.map_or(end, |(from, _)| *from);
            gaps.push(ByteRange::new(at, stop - at));
            at = next.map_or(end, |(_, to)| *to);
        }
        gaps
    }

    /// The smallest range that holds all bytes of `range` which are in the set; `None` if there are none.
    pub fn span_in(&self, range: ByteRange) -> Option<ByteRange> {
        let (_, last_end) = self.ranges.range(..range.end()).next_back()?;
        let first = self.ranges.range(..=range.offset).next_back().filter(|(_, end)| **end > range.offset);
        let first = first.or_else(|| self.ranges.range(range.offset..range.end()).next());
        let start = (*first?.0).max(range.offset);
        let end = (*last_end).min(range.end());
        Some(ByteRange::new(start, end - start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(offset: u64, length: u64) -> ByteRange {
        ByteRange::new(Bytes::new(offset), Bytes::new(length))
    }

    #[test]
    fn ranges_are_merged_and_found_again() {
        let mut set = RangeSet::default();
        for (offset, length) in [(10, 10), (40, 10), (20, 5), (12, 2)] {
            set.add(range(offset, length));
        }
        assert_eq!(set.total(), Bytes::new(25));
        assert_eq!(set.gaps(Bytes::new(0), Bytes::new(60)), [range(0, 10), range(25, 15), range(50, 10)]);
        assert_eq!(set.run_before(Bytes::new(25)), Bytes::new(15));
        assert_eq!(set.run_before(Bytes::new(24)), Bytes::ZERO);
        for (inside, span) in [
            (range(0, 10), None),
            (range(0, 11), Some(range(10, 1))),
            (range(15, 2), Some(range(15, 2))),
            (range(24, 20), Some(range(24, 20))),
            (range(25, 15), None),
            (range(0, 100), Some(range(10, 40))),
            (range(50, 10), None),
        ] {
            assert_eq!(set.span_in(inside), span, "{inside:?}");
        }
    }
}
