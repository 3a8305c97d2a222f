//! A stream of large writes that fills caches, and where it becomes slow.

use flashscope_device::Bytes;

use flashscope_record::observation::{Piece, SustainedData};

use crate::statistics::whole_bytes;
use crate::streams::batch_means::{BATCHES, Mean};
use crate::streams::calm::calm;
use crate::streams::slowdown::{Slowdown, Stretch};
use crate::streams::stalls::Stalls;
use crate::streams::stream_stalls::stalls_of;
use crate::thresholds::{CLEARLY_LONGER, ERROR_MAX, NEARLY_ALL, OPENING_WRITES};

/// The steady speed needs at least this time, seconds. Guess: variations of up to half a minute are then
/// averaged out, ...
const SETTLED_SECONDS: f64 = 60.0;
/// ... and this standard error, as a share.
pub const ERROR_GOOD: f64 = 0.01;
/// It is accepted in any case after this time, seconds, or after twice the least time and this many bytes.
/// Guess.
const PATIENCE_SECONDS: f64 = 300.0;
/// Bytes after which it is accepted, as above. Guess.
const PATIENCE_BYTES: f64 = 2e9;
/// The two halves of a steady stream differ by at most this share. Guess.
pub const HALVES_MAX: f64 = 0.12;
/// The number of periods of stalls in one stretch: one stall more or less changes its number of stalls by a
/// sixth. Guess.
const PERIODS: f64 = 6.0;
/// The fewest samples that give a speed: two that open erase blocks, and twelve for a spread.
pub const SAMPLES_MIN: u64 = (OPENING_WRITES + BATCHES) as u64;
/// Up to this many fast bytes are a write buffer in memory of the controller, and no cache in flash. Guess.
pub const MEMORY_MAX: f64 = 8.0 * 1_048_576.0;
/// The flash is written while memory fills, so that up to this many times the size of the memory is fast.
/// Guess.
const DRAINED_MAX: f64 = 1.25;
/// An SLC cache in TLC cells takes at most a third of the capacity: cells of three bits hold one. Larger
/// caches are not searched for.
const CACHE_SHARE_MAX: u64 = 3;

/// A stream of large writes, and where it becomes slow.
#[derive(Debug, Clone)]
pub struct Fill {
    stream: Vec<Stretch>,
    slowdown: Option<Slowdown>,
    begins_at: usize,
    /// The bytes at the start that went into memory of the controller, if that showed.
    memory: Option<f64>,
}

/// The largest cache of a device: a stream of this length without a slowdown shows that there is none.
#[must_use]
pub fn cache_max(capacity: Bytes) -> Bytes {
    capacity / CACHE_SHARE_MAX
}

/// A slowdown after more than this is not the end of a cache: all free space was written, and garbage
/// collection started.
pub fn free_max(capacity: Bytes) -> f64 {
    (capacity / 2).as_f64()
}

impl Fill {
    /// The stream so far. If stalls recur, the slowdown is found without them, and the speed after it with
    /// them.
    #[must_use]
    pub fn of(data: &SustainedData) -> Self {
        let request = data.request.as_f64();
        let pieces = data.pieces.iter().filter(|piece| piece.requests > 0);
        let mut stream: Vec<Stretch> = pieces.map(|piece| stretch(request, piece)).collect();
        let Some(stalls) = stalls_of(data) else { return Self::over(stream) };
        match calm(data).map(Self::over) {
            Some(Self { slowdown: Some(slowdown), begins_at, memory, .. })
                if slowdown.agreement >= NEARLY_ALL =>
            {
                let after = in_periods(stream.split_off(slowdown.index), &stalls);
                stream.extend(after);
                Self { stream, slowdown: Some(slowdown), begins_at, memory }
            }
            _ => Self::over(in_periods(stream, &stalls)),
        }
    }

    fn over(stream: Vec<Stretch>) -> Self {
        let memory = memory(&stream);
        let begins_at = memory.map_or(OPENING_WRITES, |memory| memory.index).min(stream.len());
        let slowdown = Slowdown::of(&stream[begins_at..]).map(|slowdown| Slowdown {
            index: slowdown.index + begins_at,
            ..slowdown.after(stream[..begins_at].iter().map(|stretch| stretch.bytes).sum())
        });
        let fast = &stream[..slowdown.map_or(0, |slowdown| slowdown.index)];
        let memory = memory.or_else(|| before_cache(fast)).map(|memory| memory.bytes);
        Self { stream, slowdown, begins_at, memory }
    }

    /// Whether the stream slowed down.
    #[must_use]
    pub const fn has_slowed_down(&self) -> bool {
        self.slowdown.is_some()
    }

    /// What was written before the slowdown, if there was one.
    #[must_use]
    pub fn fast(&self) -> Option<Bytes> {
        self.slowdown.map(|slowdown| rounded(slowdown.bytes))
    }

    /// The stream in stretches, after memory of the controller is full.
    pub fn stream(&self) -> &[Stretch] {
        self.stream.get(self.begins_at..).unwrap_or(&[])
    }

    /// What was written before that.
    pub fn begins_at(&self) -> Bytes {
        rounded(self.stream.iter().take(self.begins_at).map(|stretch| stretch.bytes).sum())
    }

    /// The slowdown, if there is one.
    #[must_use]
    pub const fn slowdown(&self) -> Option<Slowdown> {
        self.slowdown
    }

    /// The bytes at the start that went into memory of the controller, if that showed.
    pub const fn memory(&self) -> Option<f64> {
        self.memory
    }

    /// The steady time per byte, seconds, and its standard error as a share.
    #[must_use]
    pub fn lasting(&self) -> Option<(f64, f64)> {
        let mean = self.mean()?;
        Some((mean.seconds_per_byte, error(&mean)))
    }

    /// The middle between the time per byte before and after the slowdown, seconds, if there was one.
    pub fn middle(&self) -> Option<f64> {
        self.slowdown.map(|slowdown| f64::midpoint(slowdown.fast, slowdown.slow))
    }

    /// Whether the steady speed is known well enough, or never will be.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.mean().is_some_and(|mean| {
            let enough = mean.seconds >= SETTLED_SECONDS && mean.error <= ERROR_GOOD;
            let much = mean.bytes >= PATIENCE_BYTES && mean.seconds >= 2.0 * SETTLED_SECONDS;
            enough || much || mean.seconds >= PATIENCE_SECONDS
        })
    }

    /// Whether the mean is that of a stream whose parts are alike.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.mean().as_ref().is_some_and(is_even)
    }

    /// The part of the stream at the steady speed.
    fn settled(&self) -> &[Stretch] {
        let from = self.slowdown.map_or(self.begins_at, |slowdown| slowdown.index);
        self.stream.get(from..).unwrap_or(&[])
    }

    /// The mean of a stream with too few stretches for [`Fill::mean`], if it is longer than the memory of a
    /// controller.
    pub fn mean_of_few(&self) -> Option<Mean> {
        let bytes: f64 = self.stream.iter().map(|stretch| stretch.bytes).sum();
        (bytes >= MEMORY_MAX).then(|| Mean::of_few(self.settled()))?
    }

    /// The mean of the part at the steady speed.
    pub fn mean(&self) -> Option<Mean> {
        Mean::of(self.settled())
    }
}

/// A stream with recurring stalls, in stretches of several periods: shorter ones would be fast if no stall
/// fell into them. If that leaves too few, in stretches of fewer periods; otherwise the stream as it is.
fn in_periods(stream: Vec<Stretch>, stalls: &Stalls) -> Vec<Stretch> {
    let of = |periods: f64| in_stretches(&stream, stalls.period.as_f64() * periods);
    let merged = [PERIODS, PERIODS / 2.0, 1.0].into_iter().map(of).find(|merged| merged.len() >= 2 * BATCHES);
    merged.unwrap_or(stream)
}

/// The same stream in stretches of at least `bytes_min` bytes.
fn in_stretches(stream: &[Stretch], bytes_min: f64) -> Vec<Stretch> {
    let mut merged: Vec<Stretch> = Vec::new();
    for next in stream {
        match merged.last_mut().filter(|last| last.bytes < bytes_min) {
            Some(last) => *last = last.and(next),
            None => merged.push(*next),
        }
    }
    merged
}

/// Writes of `request` bytes as a stretch.
pub fn stretch(request: f64, piece: &Piece) -> Stretch {
    let bytes = request * f64::from(piece.requests);
    Stretch { bytes, seconds_per_byte: piece.time.as_secs_f64() / bytes }
}

/// The fast start of a stream if memory of the controller explains it. The flash empties memory while it
/// fills, so that more than its size is fast.
fn memory(stream: &[Stretch]) -> Option<Slowdown> {
    let is_memory = |slowdown: &Slowdown| {
        slowdown.bytes <= MEMORY_MAX
            || slowdown.bytes <= MEMORY_MAX * DRAINED_MAX && kept(slowdown) <= MEMORY_MAX
    };
    Slowdown::of(stream).filter(is_memory)
}

/// The bytes of the fast start that the flash had not taken by then, if it takes them at the slow speed
/// throughout.
pub fn kept(slowdown: &Slowdown) -> f64 {
    slowdown.bytes * (1.0 - slowdown.fast / slowdown.slow)
}

/// The bytes that are fast with a memory of this size.
pub fn explained(memory: f64, slowdown: &Slowdown) -> f64 {
    memory / (1.0 - slowdown.fast / slowdown.slow)
}

/// The same of a stream into a cache, whose end is the larger change.
fn before_cache(fast: &[Stretch]) -> Option<Slowdown> {
    memory(fast).filter(|memory| memory.slow > memory.fast * CLEARLY_LONGER)
}

/// Whether the parts of the stream are alike, so that its mean is steady.
pub fn is_even(mean: &Mean) -> bool {
    mean.error <= ERROR_MAX && mean.halves <= HALVES_MAX
}

/// The standard error of a mean, as a share. Neighbouring parts may drift together: then the halves show more
/// of the error.
pub fn error(mean: &Mean) -> f64 {
    mean.error.max(mean.halves / 2.0)
}

/// A size rounded to about a hundredth.
pub fn rounded(bytes: f64) -> Bytes {
    let exact = whole_bytes(bytes);
    let step = Bytes::new((exact.get() / 64).max(1).next_power_of_two());
    Bytes::new((exact.get() + step.get() / 2) / step.get() * step.get())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::LongWrite;

    use super::*;

    /// Whether a stream is settled after this time: writes of 1 MiB that take `milliseconds`, and
    /// up to `noise` per cent more or less in groups of ten.
    fn is_settled(seconds: u64, milliseconds: u64, noise: u64) -> bool {
        let mut draws = 7_u64;
        let mut factor = 100;
        let mut pieces = Vec::new();
        let mut left = Duration::from_secs(seconds);
        for index in 0.. {
            if index % 10 == 0 {
                draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                factor = 100 - noise + (draws >> 33) % (2 * noise + 1);
            }
            let time = Duration::from_micros(milliseconds * factor * 10 + index % 2);
            let Some(rest) = left.checked_sub(time) else { break };
            left = rest;
            pieces.push(Piece { requests: 1, time });
        }
        Fill::of(&SustainedData { request: Bytes::mib(1), pieces, ..SustainedData::default() }).is_settled()
    }

    #[test]
    fn a_steady_speed_needs_a_minute_and_an_uneven_one_more_bytes_or_five() {
        assert_eq!([55, 65].map(|seconds| is_settled(seconds, 50, 0)), [false, true], "even");
        // At 20 MB/s, two gigabytes take a hundred seconds.
        assert_eq!(
            [65, 95, 115, 130].map(|seconds| is_settled(seconds, 50, 60)),
            [false, false, false, true]
        );
        assert_eq!([130, 290, 310].map(|seconds| is_settled(seconds, 1000, 60)), [false, false, true]);
    }

    /// Behind the cache a write takes as long, but every 16th one stalls. Shorter streams are cut into
    /// stretches of fewer stalls.
    #[test]
    fn the_end_of_a_cache_that_only_stalls_show_is_found_in_streams_of_any_length() {
        for (writes, cache_mib) in [(3200, 800), (1200, 400), (480, 160)] {
            let mut data = SustainedData { request: Bytes::mib(1), ..SustainedData::default() };
            let mut ended = Duration::ZERO;
            for index in 0_u64..writes {
                let is_stall = index >= cache_mib && index % 16 == 15;
                let took = Duration::from_millis(if is_stall { 2000 } else { 20 });
                ended += took;
                data.pieces.push(Piece { requests: 1, time: took });
                if is_stall {
                    data.long.push(LongWrite { written: Bytes::mib(index + 1), took, ended });
                }
            }
            let fill = Fill::of(&data);
            assert_eq!(fill.fast(), Some(Bytes::mib(cache_mib)), "{writes} writes");
            let (seconds_per_byte, _) = fill.lasting().unwrap();
            let truth = (15.0 * 0.02 + 2.0) / Bytes::mib(16).as_f64();
            assert!((seconds_per_byte / truth - 1.0).abs() < 0.01, "{writes} writes: {seconds_per_byte}");
        }
    }
}
