//! Read caches: a tiny one for what was read last, a large one for what comes next.
//!
//! That sticks have both is f3's observation: about 8 KiB for random access beside megabytes for sequential access.

use std::ops::Range;

use flashscope_device::Bytes;

use crate::link::nanoseconds;
use crate::profile::{ReadCache as Numbers, ReadCacheKind};

/// All read caches of a controller.
#[derive(Debug, Clone)]
pub(crate) struct ReadCaches(Vec<(u64, Cache)>);

#[derive(Debug, Clone)]
enum Cache {
    Recent(Recent),
    ReadAhead(ReadAhead),
}

impl ReadCaches {
    /// `None` where there are none.
    pub(crate) fn new(caches: &[Numbers]) -> Option<Self> {
        let cache = |numbers: &Numbers| match numbers.kind {
            ReadCacheKind::Recent => Cache::Recent(Recent::new(numbers)),
            ReadCacheKind::ReadAhead => Cache::ReadAhead(ReadAhead::new(numbers)),
        };
        let with_times = |numbers: &Numbers| (nanoseconds(numbers.hit_us), cache(numbers));
        (!caches.is_empty()).then(|| Self(caches.iter().map(with_times).collect()))
    }

    /// What the read takes beside its data if a cache answers it; in any case the caches learn from it.
    pub(crate) fn read(&mut self, start: u64, end: u64) -> Option<u64> {
        let answer = |(hit_ns, cache): &mut (u64, Cache)| {
            let hit = match cache {
                Cache::Recent(cache) => cache.read(start, end),
                Cache::ReadAhead(cache) => cache.read(start, end),
            };
            hit.then_some(*hit_ns)
        };
        self.0.iter_mut().fold(None, |best, cache| [best, answer(cache)].into_iter().flatten().min())
    }

    /// What was written or discarded is no longer right in any cache.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        for (_, cache) in &mut self.0 {
            match cache {
                Cache::Recent(cache) => cache.forget(start, end),
                Cache::ReadAhead(cache) if cache.held.start < end && start < cache.held.end => {
                    cache.held = 0..0;
                }
                Cache::ReadAhead(_) => {}
            }
        }
    }
}

/// The lines that were read last, the latest at the end.
#[derive(Debug, Clone)]
struct Recent {
    line_bytes: u64,
    lines_max: usize,
    lines: Vec<u64>,
}

impl Recent {
    fn new(numbers: &Numbers) -> Self {
        let lines_max = Bytes::new(numbers.size / numbers.line).to_usize();
        Self { line_bytes: numbers.line.get(), lines_max, lines: Vec::with_capacity(lines_max) }
    }

    const fn of(&self, start: u64, end: u64) -> Range<u64> {
        start / self.line_bytes..end.div_ceil(self.line_bytes)
    }

    fn forget(&mut self, start: u64, end: u64) {
        let touched = self.of(start, end);
        self.lines.retain(|line| !touched.contains(line));
    }

    fn read(&mut self, start: u64, end: u64) -> bool {
        let touched = self.of(start, end);
        let held = self.lines.iter().filter(|line| touched.contains(line)).count() as u64;
        let hit = held == touched.end - touched.start;
        self.forget(start, end);
        let last = touched.end.saturating_sub(self.lines_max as u64).max(touched.start)..touched.end;
        for line in last {
            if self.lines.len() == self.lines_max {
                self.lines.remove(0);
            }
            self.lines.push(line);
        }
        hit
    }
}

/// A window that follows the reads that continue each other.
#[derive(Debug, Clone)]
struct ReadAhead {
    bytes: u64,
    held: Range<u64>,
    continues_at: Option<u64>,
}

impl ReadAhead {
    const fn new(numbers: &Numbers) -> Self {
        Self { bytes: numbers.size.get(), held: 0..0, continues_at: None }
    }

    fn read(&mut self, start: u64, end: u64) -> bool {
        let hit = self.held.start <= start && end <= self.held.end;
        if self.continues_at.replace(end) == Some(start) {
            self.held = start..start + self.bytes.max(end - start);
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Basis;

    const KIB: u64 = 1 << 10;

    fn caches(kind: ReadCacheKind, size: Bytes) -> ReadCaches {
        let line = Bytes::kib(4);
        ReadCaches::new(&[Numbers { basis: Basis::Assumed, kind, size, line, hit_us: 1.0 }]).unwrap()
    }

    fn hits<const COUNT: usize>(caches: &mut ReadCaches, reads: [(u64, u64); COUNT]) -> [bool; COUNT] {
        reads.map(|(start, length)| caches.read(start * KIB, (start + length) * KIB).is_some())
    }

    #[test]
    fn two_lines_hold_what_was_read_last() {
        let mut caches = caches(ReadCacheKind::Recent, Bytes::kib(8));
        let reads = [(0, 4), (40, 4), (0, 4), (80, 4), (40, 4), (80, 1), (36, 8), (36, 8), (0, 16), (8, 8)];
        let expected = [false, false, true, false, false, true, false, true, false, true];
        assert_eq!(hits(&mut caches, reads), expected);
        caches.forget(9 * KIB, 10 * KIB);
        assert_eq!(hits(&mut caches, [(12, 4), (8, 4)]), [true, false]);
    }

    #[test]
    fn the_window_follows_reads_that_continue_each_other() {
        let mut caches = caches(ReadCacheKind::ReadAhead, Bytes::kib(64));
        let reads = [(0, 4), (4, 4), (8, 4), (40, 4), (72, 4), (8, 60), (500, 4), (20, 4)];
        assert_eq!(hits(&mut caches, reads), [false, false, true, true, false, true, false, true]);
        caches.forget(8 * KIB, 9 * KIB);
        assert_eq!(hits(&mut caches, [(20, 4)]), [false]);
    }
}
