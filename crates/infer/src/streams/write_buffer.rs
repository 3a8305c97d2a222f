//! The write buffer, from the bytes that are fast after a pause.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, Measurement, Quantity, Reason, Sample, StreamEvidence, Value,
    WouldDecide,
};
use flashscope_record::observation::{Burst, WriteBufferData};

use crate::statistics::{count, median, quantile};
use crate::streams::slowdown::{Slowdown, Stretch};

const ID: FindingId = FindingId::WriteBufferBytes;
/// The fewest bursts with a slowdown that show a buffer: one or two may be stalls. Guess.
const BURSTS_MIN: usize = 3;
/// Memory is at least this many times as fast as the flash. Guess.
const RATIO_MIN: f64 = 1.25;
/// What a pause four times as long makes this many times as large is not memory. Guess.
const GROWS: f64 = 1.4;
/// The error of the size at either end, in writes. Guess.
const EDGE_WRITES: f64 = 1.5;
/// The probability of another reason for a fast start. Guess.
const MODEL_ERROR: f64 = 0.06;
/// The largest write buffer that is considered. Guess: larger ones were not seen in sticks. A burst of at
/// most this size may fit into it whole.
pub const MEMORY_MAX: Bytes = Bytes::mib(4);
/// The probability of memory that does not show, since the flash empties it as fast as the link fills it.
/// Guess.
const UNSEEN_MEMORY_ERROR: f64 = 0.1;

/// Equal writes as a stream.
#[must_use]
pub fn stretches(request: Bytes, each: &[Duration]) -> Vec<Stretch> {
    let bytes = request.as_f64().max(1.0);
    each.iter().map(|latency| Stretch { bytes, seconds_per_byte: latency.as_secs_f64() / bytes }).collect()
}

/// The slowdown in one burst.
#[derive(Debug, Clone, Copy)]
struct Seen {
    pause: Duration,
    /// Bytes that memory holds: those that were fast, less what the flash took meanwhile.
    held: f64,
    fast: f64,
    slow: f64,
}

impl Seen {
    fn of(request: Bytes, burst: &Burst) -> Option<Self> {
        let slowdown = Slowdown::of(&stretches(request, &burst.each))?;
        let Slowdown { bytes, fast, slow, .. } = slowdown;
        let bytes_in_fast_time = bytes * (1.0 - fast / slow);
        (slow >= fast * RATIO_MIN).then_some(Self {
            pause: burst.pause,
            held: bytes_in_fast_time,
            fast,
            slow,
        })
    }
}

/// The write buffer.
#[must_use]
pub fn write_buffer(data: Option<&WriteBufferData>) -> Finding {
    let Some(data) = data.filter(|data| data.bursts.iter().any(|burst| !burst.each.is_empty())) else {
        let measurement = Measurement::Bursts;
        return Finding::unknown(ID, Reason::NotMeasured(measurement), [WouldDecide::Measure(measurement)]);
    };
    let seen: Vec<Seen> = data.bursts.iter().filter_map(|burst| Seen::of(data.request, burst)).collect();
    if seen.is_empty() {
        return none(data);
    }
    if seen.len() < BURSTS_MIN || seen.len() * 3 < data.bursts.len() * 2 {
        let reason = Reason::SomeBurstsFast { fast: seen.len(), bursts: data.bursts.len() };
        let would_decide = [WouldDecide::More(Sample::Bursts), WouldDecide::QuieterMachine];
        return Finding::unknown(ID, reason, would_decide);
    }
    held(data, &seen)
}

fn none(data: &WriteBufferData) -> Finding {
    let times: Vec<f64> =
        data.bursts.iter().flat_map(|burst| &burst.each).map(Duration::as_secs_f64).collect();
    let typical = median(&times).unwrap_or(0.0);
    if typical <= 0.0 {
        return Finding::unknown(ID, Reason::NoTime, [WouldDecide::RunningClock]);
    }
    let longest = data.bursts.iter().map(|burst| burst.each.len()).max().unwrap_or(0);
    if data.request * (longest as u64) < MEMORY_MAX {
        let reason = Reason::BurstTooShort {
            writes: longest,
            request: data.request,
            write_s: typical,
            memory_max: MEMORY_MAX,
        };
        return Finding::unknown(ID, reason, [WouldDecide::Larger(Quantity::Bursts)]);
    }
    let evidence =
        StreamEvidence::BurstsAlike { writes: times.len(), request: data.request, write_s: typical };
    let confidence = Confidence::new(1.0 - UNSEEN_MEMORY_ERROR);
    Finding::exact(ID, Value::Bytes(Bytes::ZERO), confidence, Evidence::Stream(evidence))
}

fn held(data: &WriteBufferData, seen: &[Seen]) -> Finding {
    let all: Vec<f64> = seen.iter().map(|seen| seen.held).collect();
    let after = |pause: Option<Duration>| {
        let these = seen.iter().filter(|seen| Some(seen.pause) == pause).map(|seen| seen.held);
        median(&these.collect::<Vec<_>>())
    };
    let short = after(seen.iter().map(|seen| seen.pause).min());
    let long = after(seen.iter().map(|seen| seen.pause).max());
    let (Some(typical), Some(short), Some(long)) = (median(&all), short, long) else { return none(data) };
    if long > short * GROWS {
        let reason = Reason::GrowsWithPause { short: size(short), long: size(long) };
        return Finding::unknown(ID, reason, [WouldDecide::Larger(Quantity::Pauses)]);
    }
    let edge = data.request.as_f64() * EDGE_WRITES;
    let low = (quantile(&all, 0.0).unwrap_or(typical).min(typical) - edge).max(0.0);
    let high = quantile(&all, 1.0).unwrap_or(typical).max(typical) + edge;
    let value = power_of_two(low, high).unwrap_or(typical);
    let of = |seconds: fn(&Seen) -> f64| {
        median(&seen.iter().map(seconds).collect::<Vec<_>>()).unwrap_or(0.0) * data.request.as_f64()
    };
    let evidence = StreamEvidence::BufferFills {
        request: data.request,
        fast_s: of(|seen| seen.fast),
        held: size(typical),
        slow_s: of(|seen| seen.slow),
        bursts: seen.len(),
    };
    let share = count(seen.len()) / count(data.bursts.len().max(1));
    let confidence = Confidence::new(share.min(1.0 - MODEL_ERROR));
    Finding::exact(ID, Value::Bytes(size(value)), confidence, Evidence::Stream(evidence))
        .within(Value::Bytes(size(low)), Value::Bytes(size(high)))
}

/// The only power of two between both, if there is one: memory comes in powers of two.
fn power_of_two(low: f64, high: f64) -> Option<f64> {
    let mut inside = (9..40).map(f64::from).map(f64::exp2).filter(|size| (low..=high).contains(size));
    let first = inside.next()?;
    inside.next().is_none().then_some(first)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes are positive and below 2^60"
)]
const fn size(bytes: f64) -> Bytes {
    Bytes::new(bytes.max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts of writes of 4 KiB, given as the pause in seconds and the number of fast writes after it.
    fn bursts(fast: &[(u64, usize)]) -> WriteBufferData {
        let burst = |(seconds, fast): &(u64, usize)| Burst {
            pause: Duration::from_secs(*seconds),
            each: (0..fast + 64)
                .map(|index| Duration::from_micros(if index < *fast { 250 } else { 1000 }))
                .collect(),
        };
        WriteBufferData { request: Bytes::kib(4), bursts: fast.iter().map(burst).collect() }
    }

    #[test]
    fn what_the_flash_takes_meanwhile_is_no_part_of_the_buffer() {
        // 85 writes come in while the flash takes 21: 64 of them, 256 KiB, are held.
        let finding = write_buffer(Some(&bursts(&[(4, 85), (16, 85), (4, 86), (16, 84), (4, 85)])));
        assert_eq!(finding.bytes(), Some(Bytes::kib(256)), "{finding:?}");
    }

    #[test]
    fn a_fast_part_that_grows_with_the_pause_is_no_buffer() {
        let finding = write_buffer(Some(&bursts(&[(4, 85), (16, 340), (4, 85), (16, 340), (4, 85)])));
        assert_eq!(finding.value(), None);
    }

    #[test]
    fn equal_writes_show_no_buffer_and_too_few_or_timeless_ones_are_unknown() {
        let mut even = bursts(&[(4, 0)]);
        assert_eq!(write_buffer(Some(&even)).value(), None, "64 writes may fit into memory");
        even.bursts[0].each.resize(1024, Duration::from_micros(1000));
        assert_eq!(write_buffer(Some(&even)).bytes(), Some(Bytes::ZERO));
        let mut stopped = even;
        stopped.bursts[0].each.fill(Duration::ZERO);
        assert_eq!(write_buffer(Some(&stopped)).value(), None);
        assert_eq!(write_buffer(None).value(), None);
    }
}
