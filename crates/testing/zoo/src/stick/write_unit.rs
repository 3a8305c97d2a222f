//! The smallest efficient write, measured on the stick without noise: this is its definition.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern, SECTOR};
use flashscope_sim::profile::{Ftl, Policy, State};
use flashscope_sim::{Profile, VirtualStick};

// A write is efficient from this share of the best throughput on, with a tolerance on both sides.
const EFFICIENT_SHARE: f64 = 0.8;
const TOLERANCE: f64 = 0.02;

/// The most writes of one size, up to one erase block. A guess.
const WRITES_MAX: u64 = 48;
/// The largest request of a virtual stick.
const REQUEST_MAX: Bytes = Bytes::mib(64);

/// Guess: a smaller cache is exhausted before all sizes are measured.
const CACHE_MIN: Bytes = Bytes::mib(512);

/// The range of the smallest efficient write, among 2^n, 3 x 2^n and the page times 2^n. `None` if the
/// throughput depends on earlier writes: with a write buffer, a small cache, or garbage collection.
pub(super) fn range(profile: &Profile) -> Option<(Bytes, Bytes)> {
    let has_small_cache = profile.slc_cache.as_ref().is_some_and(|cache| cache.size < CACHE_MIN);
    let has_gc = !matches!(profile.policy, Policy::OpenBlocks(_)) && profile.state != State::New;
    if profile.write_buffer.is_some() || has_small_cache || has_gc {
        return None;
    }
    let mut noiseless = profile.clone();
    (noiseless.noise.jitter, noiseless.noise.outliers_per_million) = (0.0, 0.0);
    noiseless.background = None;
    let rates: Vec<(Bytes, f64)> =
        sizes(&profile.ftl).into_iter().map(|size| (size, bytes_per_s(&noiseless, size))).collect();
    let best = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let smallest_reaching = |share: f64| {
        rates.iter().find(|(_, rate)| *rate >= share * best).map_or(Bytes::ZERO, |(size, _)| *size)
    };
    Some((smallest_reaching(EFFICIENT_SHARE - TOLERANCE), smallest_reaching(EFFICIENT_SHARE + TOLERANCE)))
}

/// 2^n and 3 x 2^n from a sector to the erase block, and the page times 2^n, ascending.
fn sizes(ftl: &Ftl) -> Vec<Bytes> {
    let largest = ftl.erase_block.min(REQUEST_MAX);
    let doubled = |first: Bytes| {
        std::iter::successors(Some(first), |size| Some(*size * 2)).take_while(|size| *size <= largest)
    };
    let mut sizes: Vec<Bytes> = [SECTOR, SECTOR * 3, ftl.page]
        .into_iter()
        .flat_map(doubled)
        .filter(|size| size.is_multiple_of(SECTOR))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The throughput of sequential writes into a fresh erase block, without the first one, which opens it.
fn bytes_per_s(noiseless: &Profile, size: Bytes) -> f64 {
    let mut stick = VirtualStick::new(noiseless, 0);
    let writes = (noiseless.ftl.erase_block / size).clamp(2, WRITES_MAX);
    let start = noiseless.ftl.fat_area;
    let mut total = Duration::ZERO;
    for index in 0..writes {
        let range = ByteRange::new(start + size * index, size);
        let Ok(completion) = stick.run(Op::write(range, Pattern::new(0))) else { continue };
        total += if index == 0 { Duration::ZERO } else { completion.latency() };
    }
    (size * (writes - 1)).as_f64() / total.as_secs_f64().max(1e-12)
}
