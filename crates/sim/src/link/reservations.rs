//! What a station that serves one thing at a time is booked for.

/// Times at which a station is taken, as spans that neither touch nor overlap, earliest first.
#[derive(Debug, Default, Clone)]
pub(super) struct Reservations {
    taken: Vec<(u64, u64)>,
}

impl Reservations {
    /// Books `length_ns` from `ready_ns` on, in the first gap that is long enough, and returns where it begins.
    pub(super) fn book(&mut self, ready_ns: u64, length_ns: u64) -> u64 {
        let mut place = self.taken.partition_point(|(_, end)| *end <= ready_ns);
        let mut begins_ns = ready_ns;
        while let Some((start, end)) = self.taken.get(place) {
            if begins_ns.saturating_add(length_ns) <= *start {
                break;
            }
            begins_ns = *end;
            place += 1;
        }
        self.insert(place, begins_ns, begins_ns.saturating_add(length_ns));
        begins_ns
    }

    /// Forgets what has passed.
    pub(super) fn forget_before(&mut self, now_ns: u64) {
        let passed = self.taken.partition_point(|(_, end)| *end <= now_ns);
        self.taken.drain(..passed);
    }

    /// Puts a span at its place, joined to the neighbours that it touches.
    fn insert(&mut self, place: usize, start: u64, end: u64) {
        let joins_next = self.taken.get(place).is_some_and(|next| next.0 == end);
        let joins_last = place > 0 && self.taken[place - 1].1 == start;
        match (joins_last, joins_next) {
            (true, true) => self.taken[place - 1].1 = self.taken.remove(place).1,
            (true, false) => self.taken[place - 1].1 = end,
            (false, true) => self.taken[place].0 = start,
            (false, false) => self.taken.insert(place, (start, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_into_a_gap_goes_first_and_what_does_not_waits() {
        let mut station = Reservations::default();
        let begins = [(10, 10), (50, 10), (0, 5), (12, 8), (15, 40), (0, 5), (60, 1)]
            .map(|(ready, length)| station.book(ready, length));
        assert_eq!(begins, [10, 50, 0, 20, 60, 5, 100]);
        assert_eq!(station.taken, [(0, 28), (50, 101)]);
        station.forget_before(30);
        assert_eq!(station.book(30, 30), 101);
    }
}
