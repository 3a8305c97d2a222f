//! Read caches: a small one for recently read lines, and a large read-ahead window.
//!
//! f3 observed both on sticks: about 8 KiB for random access, and megabytes for sequential access.

use std::ops::Range;

use flashscope_device::Bytes;

use crate::arithmetic::nanoseconds;
use crate::profile::{ReadCache as Parameters, ReadCacheKind};

/// All read caches of a controller.
#[derive(Debug, Clone)]
pub(crate) struct ReadCaches(Vec<(u64, Cache)>);

#[derive(Debug, Clone)]
enum Cache {
    Recent(Recent),
    ReadAhead(ReadAhead),
}

impl ReadCaches {
    /// `None` without caches.
    pub(crate) fn new(caches: &[Parameters]) -> Option<Self> {
        let cache = |parameters: &Parameters| match parameters.kind {
            ReadCacheKind::Recent => Cache::Recent(Recent::new(parameters)),
            ReadCacheKind::ReadAhead => Cache::ReadAhead(ReadAhead::new(parameters)),
        };
        let with_times = |parameters: &Parameters| (nanoseconds(parameters.hit_us), cache(parameters));
        (!caches.is_empty()).then(|| Self(caches.iter().map(with_times).collect()))
    }

    /// The time of a hit beside the data transfer; `None` for a miss. Updates the caches in both cases.
    pub(crate) fn read(&mut self, start: u64, end: u64) -> Option<u64> {
        let hit_ns = |(time_ns, cache): &mut (u64, Cache)| {
            let is_hit = match cache {
                Cache::Recent(cache) => cache.read(start, end),
                Cache::ReadAhead(cache) => cache.read(start, end),
            };
            is_hit.then_some(*time_ns)
        };
        self.0.iter_mut().fold(None, |best, cache| [best, hit_ns(cache)].into_iter().flatten().min())
    }

    /// Invalidates written or discarded data in all caches.
    pub(crate) fn invalidate(&mut self, start: u64, end: u64) {
        for (_, cache) in &mut self.0 {
            match cache {
                Cache::Recent(cache) => cache.invalidate(start, end),
                Cache::ReadAhead(cache) if cache.held.start < end && start < cache.held.end => {
                    cache.held = 0..0;
                }
                Cache::ReadAhead(_) => {}
            }
        }
    }
}

/// The most recently read lines, the latest last.
#[derive(Debug, Clone)]
struct Recent {
    line_bytes: u64,
    lines_max: usize,
    lines: Vec<u64>,
}

impl Recent {
    fn new(parameters: &Parameters) -> Self {
        let lines_max = Bytes::new(parameters.size / parameters.line).to_usize();
        Self { line_bytes: parameters.line.get(), lines_max, lines: Vec::with_capacity(lines_max) }
    }

    const fn lines_of(&self, start: u64, end: u64) -> Range<u64> {
        start / self.line_bytes..end.div_ceil(self.line_bytes)
    }

    fn invalidate(&mut self, start: u64, end: u64) {
        let touched = self.lines_of(start, end);
        self.lines.retain(|line| !touched.contains(line));
    }

    fn read(&mut self, start: u64, end: u64) -> bool {
        let touched = self.lines_of(start, end);
        let held = self.lines.iter().filter(|line| touched.contains(line)).count() as u64;
        let hit = held == touched.end - touched.start;
        self.invalidate(start, end);
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

/// A window that follows sequential reads.
#[derive(Debug, Clone)]
struct ReadAhead {
    bytes: u64,
    held: Range<u64>,
    continues_at: Option<u64>,
}

impl ReadAhead {
    const fn new(parameters: &Parameters) -> Self {
        Self { bytes: parameters.size.get(), held: 0..0, continues_at: None }
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
        ReadCaches::new(&[Parameters { basis: Basis::Assumed, kind, size, line, hit_us: 1.0 }]).unwrap()
    }

    fn hits<const COUNT: usize>(caches: &mut ReadCaches, reads: [(u64, u64); COUNT]) -> [bool; COUNT] {
        reads.map(|(start, length)| caches.read(start * KIB, (start + length) * KIB).is_some())
    }

    #[test]
    fn recent_cache_of_two_lines_keeps_the_last_two_lines() {
        let mut caches = caches(ReadCacheKind::Recent, Bytes::kib(8));
        let reads = [(0, 4), (40, 4), (0, 4), (80, 4), (40, 4), (80, 1), (36, 8), (36, 8), (0, 16), (8, 8)];
        let expected = [false, false, true, false, false, true, false, true, false, true];
        assert_eq!(hits(&mut caches, reads), expected);
        caches.invalidate(9 * KIB, 10 * KIB);
        assert_eq!(hits(&mut caches, [(12, 4), (8, 4)]), [true, false]);
    }

    #[test]
    fn read_ahead_window_follows_sequential_reads() {
        let mut caches = caches(ReadCacheKind::ReadAhead, Bytes::kib(64));
        let reads = [(0, 4), (4, 4), (8, 4), (40, 4), (72, 4), (8, 60), (500, 4), (20, 4)];
        assert_eq!(hits(&mut caches, reads), [false, false, true, true, false, true, false, true]);
        caches.invalidate(8 * KIB, 9 * KIB);
        assert_eq!(hits(&mut caches, [(20, 4)]), [false]);
    }
}
