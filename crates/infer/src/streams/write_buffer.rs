//! The write buffer, from the bytes that are fast after a pause.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, Measurement, Quantity, Reason, Sample, StreamEvidence, Value,
    WouldDecide,
};
use flashscope_record::observation::{Burst, SustainedData, WriteBufferData};

use crate::statistics::{count, median, quantile};
use crate::streams::fill::Fill;
use crate::streams::slowdown::{Slowdown, Stretch};
use crate::streams::sustained::maybe_memory;
use crate::thresholds::{LIKELY, REPEATED, ROUGH_MODEL_ERROR};

const ID: FindingId = FindingId::WriteBufferBytes;
/// Memory is at least this many times as fast as the flash. Guess.
const RATIO_MIN: f64 = 1.25;
/// What a pause four times as long makes this many times as large is not memory. Guess.
const GROWS: f64 = 1.4;
/// The error of the size at either end, in writes. Guess.
const EDGE_WRITES: f64 = 1.5;
/// The largest write buffer that is considered. Guess: larger ones were not seen in sticks. A burst of at
/// most this size may fit into it whole.
pub const MEMORY_MAX: Bytes = Bytes::mib(4);

/// A small write into memory takes at most this time, seconds. Guess: a command over USB; flash takes longer
/// to program a page.
const INTO_MEMORY_S: f64 = 2e-4;

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

/// The write buffer, from bursts and the long stream before them.
#[must_use]
pub fn write_buffer(data: Option<&WriteBufferData>, stream: Option<&SustainedData>) -> Finding {
    let Some(data) = data.filter(|data| data.bursts.iter().any(|burst| !burst.each.is_empty())) else {
        let measurement = Measurement::Bursts;
        return Finding::unknown(ID, Reason::NotMeasured(measurement), [WouldDecide::Measure(measurement)]);
    };
    let seen: Vec<Seen> = data.bursts.iter().filter_map(|burst| Seen::of(data.request, burst)).collect();
    if seen.is_empty() {
        return none(data, stream);
    }
    if seen.len() < REPEATED || seen.len() * 3 < data.bursts.len() * 2 {
        let reason = Reason::SomeBurstsFast { fast: seen.len(), bursts: data.bursts.len() };
        let would_decide = [WouldDecide::More(Sample::Bursts), WouldDecide::QuieterMachine];
        return Finding::unknown(ID, reason, would_decide);
    }
    held(data, &seen)
}

/// No buffer, unless memory explains the fast start of the stream before the bursts, and they may have fit
/// into it, or did not fill it.
fn none(data: &WriteBufferData, stream: Option<&SustainedData>) -> Finding {
    let times: Vec<f64> =
        data.bursts.iter().flat_map(|burst| &burst.each).map(Duration::as_secs_f64).collect();
    let typical = median(&times).unwrap_or(0.0);
    if typical <= 0.0 {
        return Finding::unknown(ID, Reason::NoTime, [WouldDecide::RunningClock]);
    }
    let longest = data.bursts.iter().map(|burst| burst.each.len()).max().unwrap_or(0);
    let fill = stream.map(Fill::of);
    let may_be_memory =
        fill.and_then(|fill| maybe_memory(&fill, is_as_fast_as_memory(data.request, typical, &fill)));
    let memory_max = may_be_memory.map_or(MEMORY_MAX, |fast| fast.max(MEMORY_MAX));
    if data.request * (longest as u64) < MEMORY_MAX || may_be_memory.is_some() {
        let (writes, request) = (longest, data.request);
        let reason = Reason::BurstTooShort { writes, request, write_s: typical, memory_max };
        return Finding::unknown(ID, reason, [WouldDecide::Larger(Quantity::Bursts)]);
    }
    let evidence =
        StreamEvidence::BurstsAlike { writes: times.len(), request: data.request, write_s: typical };
    let confidence = Confidence::new(LIKELY);
    Finding::exact(ID, Value::Bytes(Bytes::ZERO), confidence, Evidence::Stream(evidence))
}

/// Whether a write of a burst may have gone into memory: it took no longer than a transfer may, or less than
/// the flash takes for as many bytes in the long run.
fn is_as_fast_as_memory(request: Bytes, write_s: f64, fill: &Fill) -> bool {
    let lasting = fill.lasting().map(|(seconds_per_byte, _)| seconds_per_byte);
    write_s <= INTO_MEMORY_S || lasting.is_some_and(|lasting| write_s < lasting * request.as_f64())
}

fn held(data: &WriteBufferData, seen: &[Seen]) -> Finding {
    let all: Vec<f64> = seen.iter().map(|seen| seen.held).collect();
    let after = |pause: Option<Duration>| {
        let these = seen.iter().filter(|seen| Some(seen.pause) == pause).map(|seen| seen.held);
        median(&these.collect::<Vec<_>>())
    };
    let short = after(seen.iter().map(|seen| seen.pause).min());
    let long = after(seen.iter().map(|seen| seen.pause).max());
    let (Some(typical), Some(short), Some(long)) = (median(&all), short, long) else {
        return none(data, None);
    };
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
    let confidence = Confidence::new(share.min(1.0 - ROUGH_MODEL_ERROR));
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
    use flashscope_record::observation::Piece;

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
        let finding = write_buffer(Some(&bursts(&[(4, 85), (16, 85), (4, 86), (16, 84), (4, 85)])), None);
        assert_eq!(finding.bytes(), Some(Bytes::kib(256)), "{finding:?}");
    }

    #[test]
    fn a_fast_part_that_grows_with_the_pause_is_no_buffer() {
        let finding = write_buffer(Some(&bursts(&[(4, 85), (16, 340), (4, 85), (16, 340), (4, 85)])), None);
        assert_eq!(finding.value(), None);
    }

    #[test]
    fn bursts_that_may_fit_into_memory_do_not_exclude_it() {
        let stream = |fast: usize, slow_ms: u64| SustainedData {
            request: Bytes::mib(1),
            pieces: (0..600)
                .map(|index| Piece {
                    requests: 1,
                    time: Duration::from_millis(if index < fast { 3 } else { slow_ms }),
                })
                .collect(),
            ..SustainedData::default()
        };
        let burst = |micros| WriteBufferData {
            request: Bytes::kib(4),
            bursts: vec![Burst {
                pause: Duration::from_secs(4),
                each: vec![Duration::from_micros(micros); 4096],
            }],
        };
        let is_none = |micros, stream: &SustainedData| {
            write_buffer(Some(&burst(micros)), Some(stream)).bytes() == Some(Bytes::ZERO)
        };
        // The flash takes 195 us for 4 KiB in the long run.
        assert!(!is_none(71, &stream(17, 50)), "a buffer of 16 MiB takes them all");
        assert!(is_none(300, &stream(17, 50)), "each waits for the flash");
        assert!(!is_none(300, &stream(17, 100)), "faster than the flash");
        assert!(is_none(71, &stream(200, 50)), "no buffer is so large");
        assert!(!is_none(900, &stream(17, 4)), "the flash empties a small one faster than they fill it");
        assert!(is_none(71, &stream(0, 50)), "no buffer shows in the stream");
    }

    #[test]
    fn equal_writes_show_no_buffer_and_too_few_or_timeless_ones_are_unknown() {
        let mut even = bursts(&[(4, 0)]);
        assert_eq!(write_buffer(Some(&even), None).value(), None, "64 writes may fit into memory");
        even.bursts[0].each.resize(1024, Duration::from_micros(1000));
        assert_eq!(write_buffer(Some(&even), None).bytes(), Some(Bytes::ZERO));
        let mut stopped = even;
        stopped.bursts[0].each.fill(Duration::ZERO);
        assert_eq!(write_buffer(Some(&stopped), None).value(), None);
        assert_eq!(write_buffer(None, None).value(), None);
    }

    #[test]
    fn only_writes_clearly_faster_than_the_flash_went_into_a_buffer() {
        let found = |flash_us: u64| {
            let each: Vec<Duration> = (0..1185)
                .map(|index| Duration::from_micros(if index < 85 { 250 } else { flash_us }))
                .collect();
            let burst = |seconds| Burst { pause: Duration::from_secs(seconds), each: each.clone() };
            let data = WriteBufferData { request: Bytes::kib(4), bursts: [4, 16, 4, 16].map(burst).into() };
            write_buffer(Some(&data), None).bytes()
        };
        assert_eq!(found(290), Some(Bytes::ZERO), "a seventh slower");
        // 85 writes come in while the flash takes 65: 20 of them are held.
        assert!(found(325).is_some_and(|held| (Bytes::kib(76)..Bytes::kib(80)).contains(&held)));
    }
}
