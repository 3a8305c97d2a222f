//! Caches and deferred work: SLC cache, write buffer, garbage-collection stalls.

use flashscope_device::Bytes;
use flashscope_sim::profile::{Background, Basis, SlcCache, Stall, WhenFull, WriteBuffer};

use super::era::Era;
use super::geometry::Geometry;
use crate::draw::Draw;
use crate::rounding::rounded;

/// The sections of a profile that a stick may lack.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) slc_cache: Option<SlcCache>,
    pub(super) write_buffer: Option<WriteBuffer>,
    pub(super) background: Option<Background>,
}

pub(super) fn sample(geometry: &Geometry, page_program_us: f64, draw: &mut Draw) -> Caches {
    let (cache_share, buffer_share, stall_share) = match geometry.era {
        Era::Early => (0.0, 0.03, 0.02),
        Era::Middle => (0.05, 0.1, 0.08),
        Era::Late | Era::Unusual => (0.25, 0.15, 0.1),
    };
    let has_cache = draw.bernoulli(cache_share) && geometry.capacity >= CAPACITY_MIN;
    Caches {
        slc_cache: has_cache.then(|| slc_cache(geometry, page_program_us, draw)),
        write_buffer: draw.bernoulli(buffer_share).then(|| WriteBuffer {
            basis: Basis::Assumed,
            size: Bytes::kib(1 << draw.uniform_integer(4, 12)),
            accept_us: rounded(draw.uniform(5.0, 60.0), 0),
        }),
        background: draw.bernoulli(stall_share).then(|| background(draw)),
    }
}

/// Guess: smaller sticks have no cells to spare.
const CAPACITY_MIN: Bytes = Bytes::mib(256);

/// 16 MiB to 8 GiB, 2 to 8 times as fast as the dense cells.
fn slc_cache(geometry: &Geometry, page_program_us: f64, draw: &mut Draw) -> SlcCache {
    let size_max_mib = (geometry.capacity / 8).as_f64() / Bytes::mib(1).as_f64();
    let size = Bytes::mib(draw.log_uniform_integer(16.0, size_max_mib.min(8192.0)));
    let fold_megabytes_per_s = geometry.page.as_f64() / page_program_us * draw.uniform(0.5, 1.0);
    let when_full = if draw.bernoulli(0.5) { WhenFull::Direct } else { WhenFull::Fold };
    SlcCache {
        basis: Basis::Assumed,
        size,
        free_share: 0.0,
        overhead_us: 0.0,
        page_program_us: rounded(page_program_us * draw.uniform(0.12, 0.5), 1),
        fold_megabytes_per_s: rounded(fold_megabytes_per_s, 2),
        when_full,
    }
}

/// Stalls of 0.05 to 4 s; 0.1 to 4 s were reported.
fn background(draw: &mut Draw) -> Background {
    let duration_us = draw.log_uniform(5e4, 1e6);
    Background {
        basis: Basis::Assumed,
        idle_after_us: rounded(draw.log_uniform(1e4, 1e6), 0),
        unit_us: 0.0,
        stall: Some(Stall {
            every: Bytes::mib(draw.log_uniform_integer(8.0, 128.0)),
            duration_us: rounded(duration_us, 0),
            duration_max_us: Some(rounded(duration_us * draw.uniform(1.0, 4.0), 0)),
        }),
    }
}
