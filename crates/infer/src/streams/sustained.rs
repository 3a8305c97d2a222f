//! How fast writing is in the long run, and how much goes faster before: from large writes one behind the other.

use flashscope_device::Bytes;

use statrs::function::beta::beta_reg;

use flashscope_record::figure::{speed, time};
use flashscope_record::finding::{Confidence, Finding, FindingId, Value};
use flashscope_record::observation::{Piece, SustainedData};

use crate::statistics::{count, whole_bytes};
use crate::streams::batch_means::{BATCHES, Mean, STUDENT_95};
use crate::streams::calm::calm;
use crate::streams::slowdown::{Slowdown, Stretch};
use crate::streams::stalls::Stalls;
use crate::streams::throughput_profile::{held_up_share, stalls_of};

/// The speed is told from so much time at least: what comes and goes within half a minute is then averaged out,
const SETTLED_SECONDS: f64 = 60.0;
/// and after so much time in any case, or twice the least time and so many bytes.
const PATIENCE_SECONDS: f64 = 300.0;
const PATIENCE_BYTES: f64 = 2e9;
/// The standard error of the mean that is good enough.
const ERROR_GOOD: f64 = 0.01;
/// So many periods of stalls make a stretch.
const PERIODS: f64 = 6.0;
/// What is not known of a single period of stalls.
const ERROR_PER_PERIOD: f64 = 0.04;
/// Of a stream with fewer periods of stalls, the part of one at its end may hold a stall or not.
const FEW_PERIODS: f64 = 8.0;
/// Beyond this one nothing is said.
const ERROR_MAX: f64 = 0.1;
/// Two halves of a settled stream differ by no more.
const HALVES_MAX: f64 = 0.12;
/// Degrees of freedom of the mean over batches.
const FREEDOM: f64 = (BATCHES - 1) as f64;
/// The first stretches open blocks.
const BEGINNING: usize = 2;
/// Fewer samples tell no speed: the first two open blocks, and twelve tell a spread.
pub const SAMPLES_MIN: u64 = (BEGINNING + BATCHES) as u64;
/// What is fast no longer than this is memory of the controller, and no cache in flash.
const MEMORY_MAX: f64 = 8.0 * 1_048_576.0;
/// So many times as much goes fast into it where flash empties it meanwhile. What goes on for longer is told apart by more than its size.
const DRAINED_MAX: f64 = 1.25;
/// It is faster than a cache by this at least.
const MEMORY_RATIO: f64 = 1.5;
/// Up to here it may be both, or a few blocks that were erased beforehand.
const MEMORY_OR_CACHE_MAX: f64 = 2.0 * MEMORY_MAX;
/// Cells of three bits that hold one take at most a third of the capacity; no cache larger than that is looked for.
const CACHE_SHARE_MAX: u64 = 3;
/// So many pieces on either side must lie on their own side of the middle for a cache to be told of.
const AGREEMENT_CLEAR: f64 = 0.9;
/// Speeds are known no better than this, however equal the parts.
const HALF_WIDTH_MIN: f64 = 0.01;
/// What a cache's end is known to, as a share of its size, beside the stretch in which it lies.
const EDGE: f64 = 0.02;
/// What the model can be wrong about that it does not know: speeds that change on a longer scale, a second cache.
const MODEL_DOUBT: f64 = 0.02;
/// What is as small as a controller's memory is a cache in flash nine times in ten.
const SMALL_DOUBT: f64 = 0.1;
/// Where stalls take less of the time, a stream is as even as people see it.
const HELD_UP_MIN: f64 = 0.05;
/// Cells of two bits may hold one in half of the capacity, and a slow-down by less than a tenth is not seen.
const NONE_DOUBT: f64 = 0.03;

/// A stream of large writes, and where it becomes slow.
#[derive(Debug, Clone)]
pub struct Fill {
    stream: Vec<Stretch>,
    slowdown: Option<Slowdown>,
    begins_at: usize,
    /// So many bytes at the start went into memory of the controller, if that showed.
    memory: Option<f64>,
}

/// A stream without a slow-down must be this long for no cache to be there.
#[must_use]
pub fn cache_max(capacity: Bytes) -> Bytes {
    capacity / CACHE_SHARE_MAX
}

/// A slow-down behind so much is none of a cache: then all that was free has been written, and old data has to be collected.
fn free_max(capacity: Bytes) -> f64 {
    (capacity / 2).as_f64()
}

impl Fill {
    /// What was seen so far. Where stalls come again and again, the slow-down is told without them, and the speed behind it with them.
    #[must_use]
    pub fn of(data: &SustainedData) -> Self {
        let request = data.request.as_f64();
        let pieces = data.pieces.iter().filter(|piece| piece.requests > 0);
        let mut stream: Vec<Stretch> = pieces.map(|piece| stretch(request, piece)).collect();
        let Some(stalls) = stalls_of(data) else { return Self::over(stream) };
        match calm(data).map(Self::over) {
            Some(Self { slowdown: Some(slowdown), begins_at, memory, .. })
                if slowdown.agreement >= AGREEMENT_CLEAR =>
            {
                let behind = in_periods(stream.split_off(slowdown.index), &stalls);
                stream.extend(behind);
                Self { stream, slowdown: Some(slowdown), begins_at, memory }
            }
            _ => Self::over(in_periods(stream, &stalls)),
        }
    }

    fn over(stream: Vec<Stretch>) -> Self {
        let memory = memory(&stream);
        let begins_at = memory.map_or(BEGINNING, |memory| memory.index).min(stream.len());
        let slowdown = Slowdown::of(&stream[begins_at..]).map(|slowdown| Slowdown {
            index: slowdown.index + begins_at,
            ..slowdown.behind(stream[..begins_at].iter().map(|stretch| stretch.bytes).sum())
        });
        let fast = &stream[..slowdown.map_or(0, |slowdown| slowdown.index)];
        let memory = memory.or_else(|| before_cache(fast)).map(|memory| memory.bytes);
        Self { stream, slowdown, begins_at, memory }
    }

    /// Whether a slow-down was seen.
    #[must_use]
    pub const fn has_slowed_down(&self) -> bool {
        self.slowdown.is_some()
    }

    /// How much went fast before the slow-down, if there was one.
    #[must_use]
    pub fn fast(&self) -> Option<Bytes> {
        self.slowdown.map(|slowdown| rounded(slowdown.bytes))
    }

    /// The stream in stretches, from where memory of the controller does not help any more.
    pub fn stream(&self) -> &[Stretch] {
        self.stream.get(self.begins_at..).unwrap_or(&[])
    }

    /// How much of the stream lies before that.
    pub fn begins_at(&self) -> Bytes {
        rounded(self.stream.iter().take(self.begins_at).map(|stretch| stretch.bytes).sum())
    }

    /// Where the stream becomes slow, if it does.
    #[must_use]
    pub const fn slowdown(&self) -> Option<Slowdown> {
        self.slowdown
    }

    /// What a byte takes in the long run, seconds, and the share by which that may be wrong.
    #[must_use]
    pub fn lasting(&self) -> Option<(f64, f64)> {
        let mean = self.mean()?;
        Some((mean.seconds_per_byte, error(&mean)))
    }

    /// The middle between what a byte takes before and behind the slow-down, if there was one.
    pub fn middle(&self) -> Option<f64> {
        self.slowdown.map(|slowdown| f64::midpoint(slowdown.fast, slowdown.slow))
    }

    /// Whether the speed in the long run is known as well as it needs to be, or never will be.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.mean().is_some_and(|mean| {
            let enough =
                mean.seconds >= SETTLED_SECONDS && mean.error <= ERROR_GOOD && mean.halves <= HALVES_MAX;
            let much = mean.bytes >= PATIENCE_BYTES && mean.seconds >= 2.0 * SETTLED_SECONDS;
            enough || much || mean.seconds >= PATIENCE_SECONDS
        })
    }

    /// Whether the mean is that of a stream whose parts are alike.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.mean().as_ref().is_some_and(is_even)
    }

    /// The part that tells the speed in the long run.
    fn settled(&self) -> &[Stretch] {
        let from = self.slowdown.map_or(self.begins_at, |slowdown| slowdown.index);
        self.stream.get(from..).unwrap_or(&[])
    }

    fn mean(&self) -> Option<Mean> {
        Mean::of(self.settled())
    }
}

/// A stream with stalls that come again and again, in stretches of several periods: shorter ones would be fast where no stall
/// fell into them. Where that leaves too few, of fewer periods; where even that does, the stream as it is.
fn in_periods(stream: Vec<Stretch>, stalls: &Stalls) -> Vec<Stretch> {
    let of = |periods: f64| in_stretches(&stream, stalls.period.as_f64() * periods);
    let merged = [PERIODS, PERIODS / 2.0, 1.0].into_iter().map(of).find(|merged| merged.len() >= 2 * BATCHES);
    merged.unwrap_or(stream)
}

/// The same stream in stretches of at least so many bytes.
fn in_stretches(stream: &[Stretch], least: f64) -> Vec<Stretch> {
    let mut merged: Vec<Stretch> = Vec::new();
    for next in stream {
        match merged.last_mut().filter(|last| last.bytes < least) {
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

/// What memory of the controller makes fast at the start. While it is filled the flash empties it, so that more goes fast than it holds.
fn memory(stream: &[Stretch]) -> Option<Slowdown> {
    let is_memory = |slowdown: &Slowdown| {
        slowdown.bytes <= MEMORY_MAX
            || slowdown.bytes <= MEMORY_MAX * DRAINED_MAX && kept(slowdown) <= MEMORY_MAX
    };
    Slowdown::of(stream).filter(is_memory)
}

/// Of what went fast, the bytes that the flash had not taken by then, if it takes them at the slow speed all along.
fn kept(slowdown: &Slowdown) -> f64 {
    slowdown.bytes * (1.0 - slowdown.fast / slowdown.slow)
}

/// So much goes fast into memory of so many bytes.
fn explained(memory: f64, slowdown: &Slowdown) -> f64 {
    memory / (1.0 - slowdown.fast / slowdown.slow)
}

/// The same of a stream that goes into a cache: there the cache's end is the larger change.
fn before_cache(fast: &[Stretch]) -> Option<Slowdown> {
    memory(fast).filter(|memory| memory.slow > memory.fast * MEMORY_RATIO)
}

const NOTHING: &str = "no long stream of writes was measured";
const LONG_STREAM: &str = "a long stream of writes (measure sustained, or check --sustained)";

/// The cache in front of the dense cells, and the speed behind it. `capacity`: of the device; `buffer`: the largest that its write buffer
/// may be, if one was found.
#[must_use]
pub fn sustained(
    data: Option<&SustainedData>,
    capacity: Option<Bytes>,
    buffer: Option<Bytes>,
) -> [Finding; 2] {
    let unknown = |reason: &str, would_decide: &str| {
        [FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS]
            .map(|id| Finding::unknown(id, reason, would_decide))
    };
    let Some(data) = data else { return unknown(NOTHING, LONG_STREAM) };
    let fill = Fill::of(data);
    let Some(mean) = fill.mean() else {
        let reason = format!("{} were written without a settled speed", data.written());
        let longer = if data.is_spread { "more samples" } else { "a longer stream" };
        return unknown(&reason, &format!("{longer}, or a clock that runs"));
    };
    let periods = in_whole_periods(data, &fill, &mean);
    let mean = periods.map_or(mean, |(mean, _)| mean);
    let stalls = periods.as_ref().map(|(_, stalls)| stalls);
    if mean.halves > HALVES_MAX.max(3.0 * mean.error) || mean.error > ERROR_MAX {
        let reason = format!(
            "the speed did not settle: parts of the stream differ by {:.0} %",
            (mean.halves.max(mean.error) * 100.0).max(1.0)
        );
        return unknown(&reason, "a longer stream, unless the stick itself never settles");
    }
    let is_cache = |slowdown: &Slowdown| capacity.is_none_or(|capacity| slowdown.bytes <= free_max(capacity));
    match fill.slowdown {
        Some(slowdown) if !is_cache(&slowdown) => {
            [no_cache(&fill, data, (&mean, stalls)), rate((&mean, stalls), Some(&slowdown))]
        }
        Some(slowdown) => {
            [cache(&slowdown, fill.memory, buffer, &mean), rate((&mean, stalls), Some(&slowdown))]
        }
        None if capacity.is_some_and(|capacity| data.written() >= cache_max(capacity)) => {
            [no_cache(&fill, data, (&mean, stalls)), rate((&mean, stalls), None)]
        }
        None => {
            let reason = format!(
                "only {} were written, and a cache may hold up to a third of the capacity",
                data.written()
            );
            unknown(&reason, "a longer stream (--write-budget, --time-budget)")
        }
    }
}

fn is_even(mean: &Mean) -> bool {
    mean.error <= ERROR_MAX && mean.halves <= HALVES_MAX
}

/// Rare stalls make parts of a stream differ. Where they come again after the same number of bytes, the mean over whole periods
/// is the one that lasts; `None` where that of the stream is.
fn in_whole_periods(data: &SustainedData, fill: &Fill, mean: &Mean) -> Option<(Mean, Stalls)> {
    let are_few = |stalls: &Stalls| stalls.period.as_f64() * FEW_PERIODS > mean.bytes;
    let stalls =
        stalls_of(data).filter(|stalls| fill.slowdown.is_none() && (!is_even(mean) || are_few(stalls)))?;
    let of_periods = Mean {
        seconds_per_byte: stalls.seconds_per_byte,
        error: ERROR_GOOD.max(ERROR_PER_PERIOD / count(stalls.seen - 1)).max(stalls.error),
        halves: 0.0,
        ..*mean
    };
    Some((of_periods, stalls))
}

/// The cache is full where the stream becomes slow. What the controller's memory holds then has not reached it: as much as went there at
/// first, if that showed, or what a buffer that was found explains; else, behind a slow link, nobody knows how much.
fn cache(slowdown: &Slowdown, memory: Option<f64>, buffer: Option<Bytes>, mean: &Mean) -> Finding {
    if slowdown.agreement < AGREEMENT_CLEAR {
        return wavers(slowdown);
    }
    let found = buffer.map(|buffer| explained(buffer.as_f64(), slowdown));
    let low = slowdown.bytes_low * (1.0 - EDGE) - memory.or(found).unwrap_or(MEMORY_MAX);
    if low <= 0.0 {
        return no_more_than_memory(slowdown, buffer);
    }
    let text = format!(
        "the first {} were written at {}, everything behind at {}",
        rounded(slowdown.bytes),
        speed(1.0 / slowdown.fast),
        behind(slowdown, mean)
    );
    let doubt = if slowdown.bytes < MEMORY_OR_CACHE_MAX { SMALL_DOUBT } else { MODEL_DOUBT };
    let confidence = Confidence::new(slowdown.agreement.min(1.0 - doubt));
    let held = (slowdown.bytes - memory.unwrap_or(0.0)).max(0.0);
    let low = rounded(low.min(held));
    let high = rounded(slowdown.bytes_high * (1.0 + EDGE));
    Finding::exact(FindingId::SlcCacheBytes, Value::Bytes(rounded(held)), confidence, text)
        .within(Value::Bytes(low), Value::Bytes(high))
        .with_caveat("what was written shortly before may have taken a part of it")
}

fn wavers(slowdown: &Slowdown) -> Finding {
    let reason = format!(
        "about {} went at {} and what is behind at {}, but the speed wavers as much on its own",
        rounded(slowdown.bytes),
        speed(1.0 / slowdown.fast),
        speed(1.0 / slowdown.slow)
    );
    Finding::unknown(FindingId::SlcCacheBytes, reason, "a quieter machine, unless the stick itself wavers")
}

/// Memory is emptied while it is filled: it may be all that makes a stream fast for so long.
fn no_more_than_memory(slowdown: &Slowdown, buffer: Option<Bytes>) -> Finding {
    let (memory, would_decide) = match buffer {
        Some(buffer) => (format!("a write buffer of up to {buffer}"), "a link that is faster than the cache"),
        None => ("the controller's memory".to_owned(), "its write buffer (measure write-buffer)"),
    };
    let reason = format!(
        "the first {} went at {} and what is behind at {}, but {memory} may explain as much",
        rounded(slowdown.bytes),
        speed(1.0 / slowdown.fast),
        speed(1.0 / slowdown.slow)
    );
    Finding::unknown(FindingId::SlcCacheBytes, reason, would_decide)
}

/// The level behind a slow-down is that of most writes; where stalls make the mean another one, that is told as well.
fn behind(slowdown: &Slowdown, mean: &Mean) -> String {
    let (most, all) = (speed(1.0 / slowdown.slow), speed(1.0 / mean.seconds_per_byte));
    if mean.seconds_per_byte <= slowdown.slow * (1.0 + HELD_UP_MIN) {
        return most;
    }
    format!("{most} for the most part, and at {all} with what held it up")
}

fn no_cache(fill: &Fill, data: &SustainedData, mean: (&Mean, Option<&Stalls>)) -> Finding {
    let text = match fill.slowdown {
        Some(Slowdown { bytes, fast, .. }) => {
            format!("{} were written at {}: more than a cache could hold", rounded(bytes), speed(1.0 / fast))
        }
        None => without_a_slowdown(data, mean),
    };
    let confidence = Confidence::new(1.0 - NONE_DOUBT);
    Finding::exact(FindingId::SlcCacheBytes, Value::Bytes(Bytes::ZERO), confidence, text)
}

/// A mean that stays may be made of fast writes and of stalls: then no single write goes at it.
fn without_a_slowdown(data: &SustainedData, (mean, stalls): (&Mean, Option<&Stalls>)) -> String {
    let (written, rate) = (as_written(data), speed(1.0 / mean.seconds_per_byte));
    let held_up = held_up_share(data);
    if held_up < HELD_UP_MIN {
        return format!("{written} at {rate} without a slow-down");
    }
    let from = if stalls.is_some() { "the first stall to the last" } else { "start to end" };
    format!(
        "{written}, at {rate} on the average from {from}; single writes that stalled took {:.0} % of the time",
        held_up * 100.0
    )
}

/// How much was written, and in which way.
fn as_written(data: &SustainedData) -> String {
    let written = data.written();
    if data.is_spread {
        return format!("{written} were written in samples of {}, each flushed,", data.request);
    }
    format!("{written} were written one behind the other")
}

fn rate((mean, stalls): (&Mean, Option<&Stalls>), slowdown: Option<&Slowdown>) -> Finding {
    let behind = slowdown
        .map_or_else(String::new, |slowdown| format!(" behind the first {}", rounded(slowdown.bytes)));
    let text = match stalls {
        Some(stalls) => format!(
            "{} were written in {}; the speed is that from the first of {} stalls to the last, {} apart",
            whole_bytes(mean.bytes),
            time(mean.seconds),
            stalls.seen,
            rounded(stalls.period.as_f64())
        ),
        None => format!(
            "{} were written in {}{behind}, and parts of them differ by {} on the average",
            whole_bytes(mean.bytes),
            time(mean.seconds),
            share(mean.error * count(BATCHES).sqrt())
        ),
    };
    let SoFar { bytes_per_s: rate, bytes_per_s_low: low, bytes_per_s_high: high, .. } = SoFar::of(mean);
    let value = Value::BytesPerSecond(rate);
    let confidence = Confidence::new(within(half(mean) / error(mean)) * (1.0 - MODEL_DOUBT));
    Finding::exact(FindingId::SustainedWriteBytesPerS, value, confidence, text)
        .within(Value::BytesPerSecond(low), Value::BytesPerSecond(high))
}

/// How fast a stream was in the end, whether or not that is what lasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoFar {
    /// Over so much: behind a slow-down, if there was one.
    pub bytes: Bytes,
    /// The mean.
    pub bytes_per_s: f64,
    /// It is hardly less than this, as long as the stream goes on as it did.
    pub bytes_per_s_low: f64,
    /// It is hardly more than this.
    pub bytes_per_s_high: f64,
}

impl SoFar {
    fn of(mean: &Mean) -> Self {
        let (rate, half) = (1.0 / mean.seconds_per_byte, half(mean));
        Self {
            bytes: rounded(mean.bytes),
            bytes_per_s: rate,
            bytes_per_s_low: rate / (1.0 + half),
            bytes_per_s_high: rate * (1.0 + half),
        }
    }
}

/// How fast a stream was in the end; `None` from too few writes.
#[must_use]
pub fn so_far(data: &SustainedData) -> Option<SoFar> {
    let fill = Fill::of(data);
    let mean = fill.mean()?;
    Some(SoFar::of(&in_whole_periods(data, &fill, &mean).map_or(mean, |(mean, _)| mean)))
}

/// Half the width of the interval around a mean, as a share of it.
fn half(mean: &Mean) -> f64 {
    (error(mean) * STUDENT_95).max(HALF_WIDTH_MIN)
}

/// Parts that follow each other may drift together: then the halves tell more of the error than the parts.
fn error(mean: &Mean) -> f64 {
    mean.error.max(mean.halves / 2.0)
}

/// A share to a tenth of a per cent.
fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 0.05 { "less than 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// The probability that a mean of the parts lies within so many of its standard errors of the truth (Student).
fn within(errors: f64) -> f64 {
    if !errors.is_finite() {
        return 1.0;
    }
    1.0 - beta_reg(FREEDOM / 2.0, 0.5, FREEDOM / (FREEDOM + errors * errors))
}

/// A size to about a hundredth, so that it reads well.
fn rounded(bytes: f64) -> Bytes {
    let exact = whole_bytes(bytes);
    let step = Bytes::new((exact.get() / 64).max(1).next_power_of_two());
    Bytes::new((exact.get() + step.get() / 2) / step.get() * step.get())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use flashscope_record::finding::Outcome;
    use flashscope_record::observation::{LongWrite, Piece};

    /// Pieces of 1 MiB that take these milliseconds each.
    fn data(milliseconds: impl Iterator<Item = u64>) -> SustainedData {
        let piece = |each| Piece { requests: 1, time: Duration::from_millis(each) };
        SustainedData {
            request: Bytes::mib(1),
            pieces: milliseconds.map(piece).collect(),
            ..SustainedData::default()
        }
    }

    fn values(data: &SustainedData, capacity: Bytes) -> [Option<Value>; 2] {
        sustained(Some(data), Some(capacity), None).map(|finding| finding.value())
    }

    #[test]
    fn a_cache_ends_where_the_speed_falls() {
        let data = data((0..300).map(|index| if index < 120 { 20 } else { 100 + index % 3 }));
        let [cache, rate] = values(&data, Bytes::gib(4));
        assert_eq!(cache, Some(Value::Bytes(Bytes::mib(120))));
        let Some(Value::BytesPerSecond(rate)) = rate else { panic!("no rate") };
        assert!((rate / (1_048_576.0 / 0.101) - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn stalls_do_not_hide_where_a_cache_ends() {
        let stalls = |index: u64| if index % 28 == 27 { 450 } else { 0 };
        let mut data = data((0..900).map(|index| stalls(index) + if index < 36 { 52 } else { 103 }));
        let long = |index: u64| LongWrite {
            written: Bytes::mib(index + 1),
            took: data.pieces[usize::try_from(index).unwrap()].time,
            ended: Duration::from_millis((0..=index).map(|each| 100 + stalls(each)).sum()),
        };
        data.long = (0..900).filter(|index| stalls(*index) > 0).map(long).collect();
        let [cache, rate] = values(&data, Bytes::gib(2));
        assert_eq!(cache, Some(Value::Bytes(Bytes::mib(36))));
        let Some(Value::BytesPerSecond(rate)) = rate else { panic!("no rate") };
        assert!((rate / (1_048_576.0 / 0.1191) - 1.0).abs() < 0.01, "{rate}");
        let [cache, _] = sustained(Some(&data), Some(Bytes::gib(2)), None);
        let both = "everything behind at 10 MB/s for the most part, and at 8.8 MB/s with what held it up";
        assert!(cache.evidence.ends_with(both), "{}", cache.evidence);
    }

    #[test]
    fn a_stream_that_stalls_is_not_said_to_go_on_evenly() {
        let mut stalling = data((0..600).map(|index| if index % 16 == 15 { 1760 } else { 40 }));
        let long = |index: u64| LongWrite {
            written: Bytes::mib(index + 1),
            took: Duration::from_millis(1760),
            ended: Duration::from_millis((index + 1) / 16 * (1760 + 15 * 40)),
        };
        stalling.long = (0..600).filter(|index| index % 16 == 15).map(long).collect();
        let [cache, _] = sustained(Some(&stalling), Some(Bytes::gib(1)), None);
        assert_eq!(cache.value(), Some(Value::Bytes(Bytes::ZERO)));
        let evidence = &cache.evidence;
        assert!(evidence.contains("stalled took 74 %") && !evidence.contains("without"), "{evidence}");
        let [even, _] = sustained(Some(&data((0..600).map(|_| 40))), Some(Bytes::gib(1)), None);
        assert!(even.evidence.contains("without a slow-down"), "{}", even.evidence);
    }

    #[test]
    fn a_part_of_a_period_at_the_end_is_left_out() {
        // Three stalls of 90 s, 4000 writes apart; another three quarters of a period behind the last.
        let mut data = data((1..=15_000).map(|index| if index % 4000 == 0 { 90_000 } else { 88 }));
        let long = |index: u64| LongWrite {
            written: Bytes::mib(index * 4000),
            took: Duration::from_secs(90),
            ended: Duration::from_millis(index * (90_000 + 3999 * 88)),
        };
        data.long = (1..=3).map(long).collect();
        let [cache, rate] = sustained(Some(&data), Some(Bytes::gib(15)), None);
        assert!(cache.evidence.contains("from the first stall to the last"), "{}", cache.evidence);
        assert!(rate.evidence.contains("from the first of 3 stalls to the last"), "{}", rate.evidence);
        let Some(Value::BytesPerSecond(rate)) = rate.value() else { panic!("no rate") };
        assert!((rate / (4000.0 * 1_048_576.0 / (90.0 + 3999.0 * 0.088)) - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn a_clock_that_jumped_in_one_of_many_periods_leaves_the_speed_open() {
        let times = |jump: u64| {
            let took = move |index: u64| match index {
                310 => 50 + jump,
                index if index % 16 == 15 => 500,
                _ => 50,
            };
            let mut data = data((0..4000).map(took));
            let ended = |index| Duration::from_millis((0..=index).map(took).sum());
            let long = (0..4000).filter(|index| took(*index) > 50);
            let took = |index| Duration::from_millis(took(index));
            data.long = long
                .map(|index| LongWrite {
                    written: Bytes::mib(index + 1),
                    took: took(index),
                    ended: ended(index),
                })
                .collect();
            data
        };
        assert!(values(&times(0), Bytes::gib(8))[1].is_some());
        assert_eq!(values(&times(3_600_000), Bytes::gib(8))[1], None);
    }

    #[test]
    fn both_findings_say_the_same_of_how_much_was_written() {
        let seen = sustained(Some(&data((0..10_958).map(|_| 77))), Some(Bytes::gib(29)), None);
        for finding in seen {
            assert!(finding.evidence.starts_with("10.7 GiB were written"), "{}", finding.evidence);
        }
    }

    #[test]
    fn samples_are_not_said_to_follow_each_other() {
        let samples = |count: u64| SustainedData { is_spread: true, ..data((0..count).map(|_| 40)) };
        let [cache, _] = sustained(Some(&samples(600)), Some(Bytes::gib(1)), None);
        let said = "600 MiB were written in samples of 1 MiB, each flushed, at 26 MB/s without a slow-down";
        assert_eq!(cache.evidence, said);
        let known = |count| sustained(Some(&samples(count)), Some(Bytes::mib(20)), None)[1].value().is_some();
        assert_eq!([known(SAMPLES_MIN - 1), known(SAMPLES_MIN)], [false, true]);
    }

    #[test]
    fn what_is_in_memory_is_not_in_the_cache() {
        let time = |index| match index {
            0..4 => 3,
            4..58 => 21,
            _ => 42,
        };
        let data = data((0..400).map(time));
        assert_eq!(values(&data, Bytes::gib(4))[0], Some(Value::Bytes(Bytes::mib(54))));
    }

    #[test]
    fn what_a_buffer_explains_is_no_cache() {
        // 8 MiB of memory take 9 MiB while the flash behind it takes one.
        let buffer = data((0..400).map(|index| if index < 9 { 3 } else { 26 }));
        assert_eq!(values(&buffer, Bytes::gib(1))[0], Some(Value::Bytes(Bytes::ZERO)));
        let long = |found| {
            let data = data((0..400).map(|index| if index < 36 { 20 } else { 100 }));
            sustained(Some(&data), Some(Bytes::gib(1)), found)[0].clone()
        };
        assert_eq!(long(None).bytes(), Some(Bytes::mib(36)));
        assert_eq!(long(Some(Bytes::mib(2))).bytes(), Some(Bytes::mib(36)));
        let Outcome::Unknown { reason, .. } = long(Some(Bytes::mib(32))).outcome else { panic!("a cache") };
        assert!(reason.contains("a write buffer of up to 32 MiB may explain"), "{reason}");
    }

    #[test]
    fn no_slow_down_is_no_cache_only_after_a_third_of_the_capacity() {
        let data = data((0..300).map(|index| 50 + index % 2));
        assert_eq!(values(&data, Bytes::mib(900))[0], Some(Value::Bytes(Bytes::ZERO)));
        assert_eq!(values(&data, Bytes::mib(1000)), [None, None]);
    }

    #[test]
    fn a_stream_that_tells_nothing_of_the_long_run_had_a_speed_all_the_same() {
        let short = data((0..300).map(|index| 50 + index % 2));
        assert_eq!(values(&short, Bytes::mib(1000)), [None, None]);
        let seen = so_far(&short).unwrap();
        assert!((seen.bytes_per_s * 0.0505 / 1_048_576.0 - 1.0).abs() < 0.001, "{seen:?}");
        assert!(seen.bytes_per_s_low < seen.bytes_per_s && seen.bytes_per_s < seen.bytes_per_s_high);
        let slower = so_far(&data((0..300).map(|index| 50 + index))).unwrap();
        assert!(slower.bytes_per_s_high / slower.bytes_per_s_low > 1.5, "{slower:?}");
        assert_eq!(so_far(&data((0..5).map(|_| 50))), None);
    }

    #[test]
    fn a_stream_that_slows_down_for_ever_and_a_clock_that_stands_still_tell_nothing() {
        assert_eq!(values(&data((0..300).map(|index| 50 + index)), Bytes::mib(300)), [None, None]);
        assert_eq!(values(&data((0..300).map(|_| 0)), Bytes::mib(300)), [None, None]);
    }

    #[test]
    fn a_rate_is_as_sure_as_its_parts_are_alike() {
        assert_eq!([0.0004, 0.0312].map(share), ["less than 0.1 %", "3.1 %"]);
        assert!((within(2.201) - 0.95).abs() < 1e-3 && within(f64::INFINITY) >= 1.0);
        let steady = data((0..320).map(|index| 50 + index % 2));
        let waves = data((0..320).map(|index| if index % 100 < 50 { 40 } else { 60 }));
        let sure =
            |data: &SustainedData| sustained(Some(data), Some(Bytes::mib(900)), None)[1].confidence().get();
        assert!(
            sure(&steady) > 0.97 && (0.9..0.95).contains(&sure(&waves)),
            "{} {}",
            sure(&steady),
            sure(&waves)
        );
    }

    #[test]
    fn stalls_count_for_the_speed_and_make_no_cache() {
        let data = data((0..320).map(|index| if index % 16 == 7 { 500 } else { 50 }));
        let [cache, rate] = values(&data, Bytes::mib(900));
        assert_eq!(cache, Some(Value::Bytes(Bytes::ZERO)));
        let Some(Value::BytesPerSecond(rate)) = rate else { panic!("no rate") };
        assert!((rate * 0.078_125 / 1_048_576.0 - 1.0).abs() < 0.02, "{rate}");
    }
}
