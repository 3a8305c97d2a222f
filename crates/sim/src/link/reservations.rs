//! Reservations of a station that serves one command at a time.

/// Reserved time spans that neither touch nor overlap, earliest first.
#[derive(Debug, Default, Clone)]
pub(super) struct Reservations {
    reserved: Vec<(u64, u64)>,
}

impl Reservations {
    /// Reserves `length_ns` in the first gap at or after `ready_ns` that is long enough, and returns its
    /// start.
    pub(super) fn reserve(&mut self, ready_ns: u64, length_ns: u64) -> u64 {
        let mut index = self.reserved.partition_point(|(_, end)| *end <= ready_ns);
        let mut start_ns = ready_ns;
        while let Some((start, end)) = self.reserved.get(index) {
            if start_ns.saturating_add(length_ns) <= *start {
                break;
            }
            start_ns = *end;
            index += 1;
        }
        self.insert(index, start_ns, start_ns.saturating_add(length_ns));
        start_ns
    }

    /// Removes spans that have passed.
    pub(super) fn forget_before(&mut self, now_ns: u64) {
        let passed = self.reserved.partition_point(|(_, end)| *end <= now_ns);
        self.reserved.drain(..passed);
    }

    /// Inserts a span at an index, merged with the neighbours that it touches.
    fn insert(&mut self, index: usize, start: u64, end: u64) {
        let joins_next = self.reserved.get(index).is_some_and(|next| next.0 == end);
        let joins_last = index > 0 && self.reserved[index - 1].1 == start;
        match (joins_last, joins_next) {
            (true, true) => self.reserved[index - 1].1 = self.reserved.remove(index).1,
            (true, false) => self.reserved[index - 1].1 = end,
            (false, true) => self.reserved[index].0 = start,
            (false, false) => self.reserved.insert(index, (start, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_is_used_if_long_enough() {
        let mut station = Reservations::default();
        let starts = [(10, 10), (50, 10), (0, 5), (12, 8), (15, 40), (0, 5), (60, 1)]
            .map(|(ready, length)| station.reserve(ready, length));
        assert_eq!(starts, [10, 50, 0, 20, 60, 5, 100]);
        assert_eq!(station.reserved, [(0, 28), (50, 101)]);
        station.forget_before(30);
        assert_eq!(station.reserve(30, 30), 101);
    }
}
