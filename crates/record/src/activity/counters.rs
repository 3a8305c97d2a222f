//! The kernel's I/O counters of a disk: `/sys/block/NAME/stat` (Documentation/block/stat.rst in Linux).

use flashscope_device::{Bytes, Lba};

/// The counters of a disk since the kernel detected it. Kinds that an old kernel does not count are zero.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// Completed reads.
    pub reads: RequestCounters,
    /// Completed writes.
    pub writes: RequestCounters,
    /// Completed discards (since Linux 4.18).
    pub discards: RequestCounters,
    /// Completed flushes of the disk's own cache (since Linux 5.5).
    pub flushes: u64,
    /// The sum of their durations, milliseconds. Each is added when the flush completes.
    pub flush_ms: u64,
    /// Requests in flight now.
    pub in_flight: u64,
    /// Time with requests in flight, milliseconds.
    pub busy_ms: u64,
    /// Time that requests slow queued or in flight, summed over all requests, milliseconds.
    pub queue_ms: u64,
}

/// Completed requests of one kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RequestCounters {
    /// The number of requests.
    pub requests: u64,
    /// Requests that the kernel merged into others before sending them.
    pub merged: u64,
    /// Bytes transferred.
    pub bytes: Bytes,
    /// Time from queueing to completion, summed over all requests, milliseconds.
    pub milliseconds: u64,
}

impl Counters {
    /// Whether `later` can be a later reading of the same disk. Request counts never decrease while a disk
    /// is present.
    #[must_use]
    pub fn can_precede(&self, later: &Self) -> bool {
        let ended = |counters: &Self| {
            [counters.reads.requests, counters.writes.requests, counters.discards.requests, counters.flushes]
        };
        ended(self).iter().zip(ended(later)).all(|(before, after)| *before <= after)
    }

    /// Parses the attribute's text. `None` if it has fewer than the eleven numbers that every kernel
    /// writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
        let kind = |first: usize| RequestCounters {
            requests: at(first),
            merged: at(first + 1),
            bytes: Lba(at(first + 2)).offset(),
            milliseconds: at(first + 3),
        };
        (numbers.len() >= 11).then(|| Self {
            reads: kind(0),
            writes: kind(4),
            in_flight: at(8),
            busy_ms: at(9),
            queue_ms: at(10),
            discards: kind(11),
            flushes: at(15),
            flush_ms: at(16),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_of_old_and_new_kernels_are_parsed() {
        let new = "  10 1 80 5 20 2 160 40 3 30 45 7 0 56 2 4 900";
        let counters = Counters::parse(new).unwrap();
        assert_eq!((counters.reads.requests, counters.reads.bytes), (10, Bytes::kib(40)));
        assert_eq!((counters.writes.merged, counters.writes.milliseconds), (2, 40));
        assert_eq!((counters.in_flight, counters.busy_ms, counters.queue_ms), (3, 30, 45));
        assert_eq!((counters.discards.requests, counters.flushes, counters.flush_ms), (7, 4, 900));
        let old = Counters::parse("10 1 80 5 20 2 160 40 3 30 45").unwrap();
        assert_eq!((old.writes, old.flushes), (counters.writes, 0));
    }

    #[test]
    fn request_counts_never_decrease() {
        let counters = |text| Counters::parse(text).unwrap();
        let (few, many) = (counters("1 0 8 9 1 0 8 9 0 9 9"), counters("1 0 8 1 2 0 16 1 0 1 1"));
        assert!(few.can_precede(&many) && few.can_precede(&few) && !many.can_precede(&few));
    }

    #[test]
    fn malformed_stat_lines_are_rejected() {
        for text in ["", "1 2 3", "1 2 3 4 5 6 7 8 nine 10 11", "-1 2 3 4 5 6 7 8 9 10 11"] {
            assert_eq!(Counters::parse(text), None, "{text}");
        }
        let huge = format!("1 2 {} 4 5 6 7 8 9 10 11", u64::MAX);
        assert!(Counters::parse(&huge).is_some(), "a hostile number is only a large one");
    }
}
