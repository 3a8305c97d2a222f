//! What shows when a stick is filled: measured on the stick without its noise, as far as that is what it does.

use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{Policy, State};
use flashscope_sim::{Profile, VirtualStick};

use crate::draw::Draw;
use crate::history::History;
use crate::truth::{Fact, Truth};

/// The request by which `Profile::sustained_write_per_s` is defined.
const REQUEST: Bytes = Bytes::mib(1);
/// Behind what may be mapped finely.
const START: Bytes = Bytes::mib(16);
/// The smallest write that shows a buffer.
const SMALL: Bytes = Bytes::kib(4);

/// A cache is what is written fast before writing slows down. Slower by less than the first is no slow-down, by more than the
/// second is one; between them nobody can say.
const SLOWS: (f64, f64) = (1.07, 1.15);
/// The same of a buffer, which has to be told within a few writes.
const BUFFERED: (f64, f64) = (1.15, 1.4);
/// Noise that takes less of the speed than this need not be known exactly.
const NOISE_MAX: f64 = 0.02;
/// Less room than this left in a cache is neither some nor none.
const ROOM_MIN: Bytes = Bytes::mib(8);

/// Adds the truth about caches, and about the speed behind them, of which a share is lost to the times' drift.
pub(super) fn tell(
    truth: &mut Truth,
    profile: &Profile,
    history: History,
    drift: f64,
    seed: u64,
) -> Result<(), DeviceError> {
    if let Some(buffer) = write_buffer(profile) {
        truth.set("write_buffer_bytes", Fact::Number(buffer.as_f64()));
    }
    let settles = matches!(profile.policy, Policy::OpenBlocks(_)) || profile.state != State::Steady;
    if !settles {
        return Ok(());
    }
    let slow = quiet(profile).sustained_write_per_s().as_f64();
    if let Some(cache) = slc_cache(profile, history, slow, seed)? {
        truth.set("slc_cache_bytes", Fact::Number(cache.as_f64()));
    }
    let noisy = with_noise(profile, slow);
    // Behind a buffer the flash goes on while a request is held up: how much of that is lost is not known.
    if profile.write_buffer.is_none() || noisy > slow * (1.0 - NOISE_MAX) {
        truth.set("sustained_write_bytes_per_s", Fact::Number(noisy / drift));
    }
    Ok(())
}

/// The speed with jitter and held-up requests on average; a window of them would be as far off as they differ.
fn with_noise(profile: &Profile, bytes_per_s: f64) -> f64 {
    let noise = &profile.noise;
    let ideal_s = REQUEST.as_f64() / bytes_per_s;
    let held_up_s = noise.outliers_per_million * 1e-6 * noise.outlier_us * 1e-6;
    REQUEST.as_f64() / (ideal_s * (1.0 + noise.jitter) + held_up_s)
}

/// What still goes into the cache at its speed after all that the stick has been through; 0 if nothing slows down behind it.
/// `None` where it is too little, or makes too little difference, to be either.
fn slc_cache(
    profile: &Profile,
    history: History,
    slow: f64,
    seed: u64,
) -> Result<Option<Bytes>, DeviceError> {
    let Some(cache) = &profile.slc_cache else { return Ok(Some(Bytes::ZERO)) };
    let most = cache.from_empty(profile.capacity);
    let mut quiet = quiet(profile);
    quiet.background = None;
    let mut stick = VirtualStick::new(&quiet, seed);
    history.replay(&mut stick, &mut Draw::new(seed, 0))?;
    let (room, fast) = fill(&mut stick, most)?;
    Ok(match fast / slow {
        _ if room.is_zero() => Some(Bytes::ZERO),
        _ if room < ROOM_MIN => None,
        ratio if ratio >= SLOWS.1 => Some(room),
        ratio if ratio <= SLOWS.0 => Some(Bytes::ZERO),
        _ => None,
    })
}

/// Writes until the cache takes no more: how much went there, and how fast.
fn fill(stick: &mut VirtualStick, most: Bytes) -> Result<(Bytes, f64), DeviceError> {
    let begins = stick.now();
    let mut usual = 0;
    for index in 0..=most / REQUEST {
        let (before, now) = (taken(stick), stick.now());
        let offset = START + REQUEST * index;
        if offset + REQUEST > stick.capabilities().capacity {
            break;
        }
        stick.run(Op::write(ByteRange::new(offset, REQUEST), Pattern::new(1)))?;
        let more = taken(stick).saturating_sub(before);
        if more < usual * 9 / 10 {
            let seconds = now.since(begins).as_secs_f64();
            let fast = (REQUEST * index).as_f64() / seconds.max(1e-12);
            return Ok((REQUEST * index + Bytes::new(REQUEST.get() * more / usual), fast));
        }
        usual = usual.max(more);
    }
    let written = (REQUEST * (most / REQUEST)).as_f64();
    Ok((
        if usual == 0 { Bytes::ZERO } else { most },
        written / stick.now().since(begins).as_secs_f64().max(1e-12),
    ))
}

/// How much the cache has taken and kept so far.
fn taken(stick: &VirtualStick) -> u64 {
    stick.statistics().slc_cache_bytes.get()
}

/// The buffer, where the flash is so much slower than the link that it fills; 0 if it does not.
fn write_buffer(profile: &Profile) -> Option<Bytes> {
    let Some(buffer) = &profile.write_buffer else { return Some(Bytes::ZERO) };
    let mut behind = quiet(profile);
    (behind.background, behind.slc_cache) = (None, None);
    let before = behind.clone();
    behind.write_buffer = None;
    match small_write_s(&behind, 16) / small_write_s(&before, 2) {
        ratio if ratio >= BUFFERED.1 => Some(buffer.size),
        ratio if ratio <= BUFFERED.0 => Some(Bytes::ZERO),
        _ => None,
    }
}

/// The time of the last of so many small writes one behind the other.
fn small_write_s(quiet: &Profile, writes: u64) -> f64 {
    let mut stick = VirtualStick::new(quiet, 0);
    let start = START.min(quiet.capacity / 8).round_down(REQUEST);
    let last = (0..writes).filter_map(|index| {
        let range = ByteRange::new(start + SMALL * index, SMALL);
        stick.run(Op::write(range, Pattern::new(1))).ok()
    });
    last.last().map_or(0.0, |completion| completion.latency().as_secs_f64())
}

fn quiet(profile: &Profile) -> Profile {
    let mut quiet = profile.clone();
    (quiet.noise.jitter, quiet.noise.outliers_per_million) = (0.0, 0.0);
    quiet
}
