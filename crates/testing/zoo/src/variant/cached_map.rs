//! A cached map: page mapping with a part of the map in memory (DFTL: A. Gupta et al., ASPLOS 2009).
//!
//! A request far from the last ones loads a part of the map from flash. If the part it replaces has changed,
//! that one is written first.

use std::time::Duration;

use flashscope_device::{Bytes, OpKind};
use flashscope_sim::ProfileError;

use super::base;
use super::delayed::{Delay, Request};
use super::stick::Variant;
use crate::draw::Draw;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let profile = base::page_mapped(draw)?;
    let mut truth = base::truth(&profile);
    truth.remove("write_unit_bytes");
    let delay = CachedMap::sample(draw);
    Ok(Variant::with_delay(profile, truth, delay))
}

/// The parts of the map in memory, the least recently used first, and whether each has changed.
#[derive(Debug, Clone)]
struct CachedMap {
    part: Bytes,
    parts_max: usize,
    read: Duration,
    write: Duration,
    cached: Vec<(u64, bool)>,
}

impl CachedMap {
    /// A map page of 2 to 16 KiB with 4 bytes a page covers 1 to 64 MiB. Times: one to
    /// four pages.
    fn sample(draw: &mut Draw) -> Self {
        Self {
            part: Bytes::mib(1 << draw.uniform_integer(0, 6)),
            parts_max: Bytes::new(draw.log_uniform_integer(1.0, 65.0)).to_usize(),
            read: Duration::from_secs_f64(draw.log_uniform(100e-6, 1e-3)),
            write: Duration::from_secs_f64(draw.log_uniform(500e-6, 6e-3)),
            cached: Vec::new(),
        }
    }

    /// Uses one part of the map.
    fn use_part(&mut self, part: u64, changes: bool) -> Duration {
        if let Some(index) = self.cached.iter().position(|(cached, _)| *cached == part) {
            let (_, changed) = self.cached.remove(index);
            self.cached.push((part, changed || changes));
            return Duration::ZERO;
        }
        let replaced = (self.cached.len() == self.parts_max).then(|| self.cached.remove(0));
        self.cached.push((part, changes));
        let writes = replaced.is_some_and(|(_, changed)| changed);
        self.read + if writes { self.write } else { Duration::ZERO }
    }
}

impl Delay for CachedMap {
    fn delay(&mut self, request: &Request) -> Duration {
        let Some(range) = request.range.filter(|range| !range.length.is_zero()) else {
            return Duration::ZERO;
        };
        let (first, end) = (range.offset / self.part, range.end().get().div_ceil(self.part.get()));
        (first..end).map(|part| self.use_part(part, request.kind != OpKind::Read)).sum()
    }

    fn describe(&self) -> String {
        let Self { part, parts_max, read, write, .. } = self;
        format!("the map of {parts_max} times {part} is in memory; loading takes {read:?}, storing {write:?}")
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::ByteRange;

    use super::*;

    #[test]
    fn cached_map_loads_far_parts_and_stores_changed_ones() {
        let (read, write) = (Duration::from_micros(100), Duration::from_micros(900));
        let mut map = CachedMap { part: Bytes::mib(1), parts_max: 2, read, write, cached: Vec::new() };
        let mut delay = |kind, mib| {
            let range = Some(ByteRange::new(Bytes::mib(mib), Bytes::kib(4)));
            map.delay(&Request { range, ..Request::of(kind) })
        };
        assert_eq!(delay(OpKind::Write, 0), read);
        assert_eq!(delay(OpKind::Write, 0), Duration::ZERO, "near the last write");
        assert_eq!(delay(OpKind::Read, 5), read);
        assert_eq!(delay(OpKind::Write, 9), read + write, "part 0 has changed");
        assert_eq!(delay(OpKind::Write, 0), read, "part 5 has not changed");
    }
}
