//! The smallest efficient write, measured on the stick without its noise: that is its definition, not a guess at it.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern, SECTOR};
use flashscope_sim::profile::{Policy, State};
use flashscope_sim::{Profile, VirtualStick};

// From this share of the best speed on a write is efficient; two hundredths more or less are no mistake.
const EFFICIENT: f64 = 0.8;
const ROOM: f64 = 0.02;

/// So many writes, or one erase block.
const WRITES_MAX: u64 = 48;
const REQUEST_MAX: Bytes = Bytes::mib(64);

/// A cache that holds less is full before all sizes are measured, in whatever order.
const CACHE_MIN: Bytes = Bytes::mib(512);

/// The smallest and the largest size that may be called the smallest efficient one, among 2^n and 3 x 2^n. `None` where the
/// speed depends on how much was written before: with a buffer, a small cache, or blocks to be collected.
pub(super) fn of(profile: &Profile) -> Option<(Bytes, Bytes)> {
    let small_cache = profile.slc_cache.as_ref().is_some_and(|cache| cache.size < CACHE_MIN);
    let collects = !matches!(profile.policy, Policy::OpenBlocks(_)) && profile.state != State::New;
    if profile.write_buffer.is_some() || small_cache || collects {
        return None;
    }
    let mut quiet = profile.clone();
    (quiet.noise.jitter, quiet.noise.outliers_per_million) = (0.0, 0.0);
    quiet.background = None;
    let speeds: Vec<(Bytes, f64)> =
        sizes(profile.ftl.erase_block).map(|size| (size, bytes_per_s(&quiet, size))).collect();
    let best = speeds.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
    let reaching = |share: f64| {
        speeds.iter().find(|(_, speed)| *speed >= share * best).map_or(Bytes::ZERO, |(size, _)| *size)
    };
    Some((reaching(EFFICIENT - ROOM), reaching(EFFICIENT + ROOM)))
}

/// 2^n and 3 x 2^n from a sector to the erase block, ascending.
fn sizes(erase_block: Bytes) -> impl Iterator<Item = Bytes> {
    let doublings = std::iter::successors(Some(SECTOR), |size| Some(*size * 2));
    let all = doublings.flat_map(|size| [size, size * 3 / 2]).filter(|size| size.is_multiple_of(SECTOR));
    all.take_while(move |size| *size <= erase_block.min(REQUEST_MAX))
}

/// The speed of one write behind the other into fresh erase blocks; the first, which opens one, does not count.
fn bytes_per_s(quiet: &Profile, size: Bytes) -> f64 {
    let mut stick = VirtualStick::new(quiet, 0);
    let writes = (quiet.ftl.erase_block / size).clamp(2, WRITES_MAX);
    let start = quiet.ftl.fat_area;
    let mut total = Duration::ZERO;
    for index in 0..writes {
        let range = ByteRange::new(start + size * index, size);
        let Ok(completion) = stick.run(Op::write(range, Pattern::new(0))) else { continue };
        total += if index == 0 { Duration::ZERO } else { completion.latency() };
    }
    (size * (writes - 1)).as_f64() / total.as_secs_f64().max(1e-12)
}
