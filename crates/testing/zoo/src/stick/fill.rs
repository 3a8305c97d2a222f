//! The truth about filling a stick: caches and sustained throughput, measured on the stick without noise.

use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{Policy, State};
use flashscope_sim::{Profile, VirtualStick};

use crate::draw::Draw;
use crate::history::History;
use crate::truth::{Fact, Truth};

/// The request of `Profile::sustained_write_per_s`.
const REQUEST: Bytes = Bytes::mib(1);
/// Behind any FAT area.
const START: Bytes = Bytes::mib(16);
/// A small write, whose latency shows a write buffer.
const SMALL: Bytes = Bytes::kib(4);

/// The ratio of fast to slow throughput of an SLC cache. Up to the first value there is no visible cache,
/// from the second on there is one; in between it is not judged. Guesses.
const CACHE_RATIOS: (f64, f64) = (1.07, 1.15);
/// The same for a write buffer, which must show within a few writes. Guesses.
const BUFFER_RATIOS: (f64, f64) = (1.15, 1.4);
/// The throughput share of noise below which its exact effect does not matter. A guess.
const NOISE_MAX: f64 = 0.02;
/// A smaller rest of a cache is not judged. A guess.
const ROOM_MIN: Bytes = Bytes::mib(8);

/// Adds the truth about caches and sustained throughput. `drift` is the mean factor of distorted times.
pub(super) fn add_truth(
    truth: &mut Truth,
    profile: &Profile,
    history: History,
    drift: f64,
    seed: u64,
) -> Result<(), DeviceError> {
    if let Some(buffer) = write_buffer(profile) {
        truth.set("write_buffer_bytes", Fact::Number(buffer.as_f64()));
    }
    let has_steady_state = matches!(profile.policy, Policy::OpenBlocks(_)) || profile.state != State::Steady;
    if !has_steady_state {
        return Ok(());
    }
    let sustained = noiseless(profile).sustained_write_per_s().as_f64();
    if let Some(cache) = slc_cache(profile, history, sustained, seed)? {
        truth.set("slc_cache_bytes", Fact::Number(cache.as_f64()));
    }
    let noisy = with_noise(profile, sustained);
    // With a write buffer the flash works during an outlier: the effect of outliers is then unknown.
    if profile.write_buffer.is_none() || noisy > sustained * (1.0 - NOISE_MAX) {
        truth.set("sustained_write_bytes_per_s", Fact::Number(noisy / drift));
    }
    Ok(())
}

/// The throughput with mean jitter and outliers.
fn with_noise(profile: &Profile, bytes_per_s: f64) -> f64 {
    let noise = &profile.noise;
    let ideal_s = REQUEST.as_f64() / bytes_per_s;
    let outlier_s = noise.outliers_per_million * 1e-6 * noise.outlier_us * 1e-6;
    REQUEST.as_f64() / (ideal_s * (1.0 + noise.jitter) + outlier_s)
}

/// The room left in the SLC cache after the history; 0 if writes are not slower behind it. `None` if the room
/// or the difference is too small to judge.
fn slc_cache(
    profile: &Profile,
    history: History,
    sustained: f64,
    seed: u64,
) -> Result<Option<Bytes>, DeviceError> {
    let Some(cache) = &profile.slc_cache else { return Ok(Some(Bytes::ZERO)) };
    let room_max = cache.from_empty(profile.capacity);
    let mut noiseless = noiseless(profile);
    noiseless.background = None;
    let mut stick = VirtualStick::new(&noiseless, seed);
    history.apply(&mut stick, &mut Draw::new(seed, 0))?;
    let (room, fast) = fill(&mut stick, room_max)?;
    Ok(match fast / sustained {
        _ if room.is_zero() => Some(Bytes::ZERO),
        _ if room < ROOM_MIN => None,
        ratio if ratio >= CACHE_RATIOS.1 => Some(room),
        ratio if ratio <= CACHE_RATIOS.0 => Some(Bytes::ZERO),
        _ => None,
    })
}

/// Writes until the cache is exhausted. Returns the bytes that went there, and their throughput.
fn fill(stick: &mut VirtualStick, room_max: Bytes) -> Result<(Bytes, f64), DeviceError> {
    let start = stick.now();
    let mut usual = 0;
    for index in 0..=room_max / REQUEST {
        let (before, now) = (cached_bytes(stick), stick.now());
        let offset = START + REQUEST * index;
        if offset + REQUEST > stick.capabilities().capacity {
            break;
        }
        stick.run(Op::write(ByteRange::new(offset, REQUEST), Pattern::new(1)))?;
        let added = cached_bytes(stick).saturating_sub(before);
        if added < usual * 9 / 10 {
            let seconds = now.since(start).as_secs_f64();
            let fast = (REQUEST * index).as_f64() / seconds.max(1e-12);
            return Ok((REQUEST * index + Bytes::new(REQUEST.get() * added / usual), fast));
        }
        usual = usual.max(added);
    }
    let written = (REQUEST * (room_max / REQUEST)).as_f64();
    Ok((
        if usual == 0 { Bytes::ZERO } else { room_max },
        written / stick.now().since(start).as_secs_f64().max(1e-12),
    ))
}

/// The bytes in the SLC cache.
fn cached_bytes(stick: &VirtualStick) -> u64 {
    stick.statistics().slc_cache_bytes.get()
}

/// The size of the write buffer, if the flash is enough slower than the link that the buffer shows; 0 if
/// not.
fn write_buffer(profile: &Profile) -> Option<Bytes> {
    let Some(buffer) = &profile.write_buffer else { return Some(Bytes::ZERO) };
    let mut unbuffered = noiseless(profile);
    (unbuffered.background, unbuffered.slc_cache) = (None, None);
    let buffered = unbuffered.clone();
    unbuffered.write_buffer = None;
    match small_write_s(&unbuffered, 16) / small_write_s(&buffered, 2) {
        ratio if ratio >= BUFFER_RATIOS.1 => Some(buffer.size),
        ratio if ratio <= BUFFER_RATIOS.0 => Some(Bytes::ZERO),
        _ => None,
    }
}

/// The time of the last of `writes` sequential small writes.
fn small_write_s(noiseless: &Profile, writes: u64) -> f64 {
    let mut stick = VirtualStick::new(noiseless, 0);
    let start = START.min(noiseless.capacity / 8).round_down(REQUEST);
    let last = (0..writes).filter_map(|index| {
        let range = ByteRange::new(start + SMALL * index, SMALL);
        stick.run(Op::write(range, Pattern::new(1))).ok()
    });
    last.last().map_or(0.0, |completion| completion.latency().as_secs_f64())
}

fn noiseless(profile: &Profile) -> Profile {
    let mut noiseless = profile.clone();
    (noiseless.noise.jitter, noiseless.noise.outliers_per_million) = (0.0, 0.0);
    noiseless
}
