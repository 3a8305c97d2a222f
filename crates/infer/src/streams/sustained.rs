//! The SLC cache and the steady write speed, from a long stream of large writes.

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Caveat, Confidence, Evidence, Finding, FindingId, Measurement, Quantity, Reason, Sample, StallShare,
    StreamEvidence, Value, WouldDecide,
};
use flashscope_record::observation::SustainedData;

use crate::statistics::{count, student_within, whole_bytes};
use crate::streams::batch_means::{BATCHES, FREEDOM, Mean};
use crate::streams::fill::{
    ERROR_GOOD, HALVES_MAX, MEMORY_MAX, error, explained, free_max, is_even, kept, rounded,
};
pub use crate::streams::fill::{Fill, SAMPLES_MIN, cache_max};
use crate::streams::other_writes::{unless_used_before, with_other_writes};
use crate::streams::slowdown::Slowdown;
use crate::streams::speed::CLEAR_HALF_WIDTH;
use crate::streams::stalls::Stalls;
use crate::streams::stream_stalls::{stalled_share, stalls_of};
use crate::thresholds::{ERROR_MAX, LIKELY, NEARLY_ALL};

/// The relative error of the length of a single period of stalls. Guess.
const ERROR_PER_PERIOD: f64 = 0.04;
/// In a stream of fewer periods of stalls, the part of a period at its end changes the mean: with eight, by
/// up to an eighth of what stalls take. Guess.
const FEW_PERIODS: f64 = 8.0;
/// Up to this size it may be memory and cache, or a few blocks that were erased beforehand. Guess.
const MEMORY_OR_CACHE_MAX: f64 = 2.0 * MEMORY_MAX;
/// The largest memory of a controller that was seen. A fast start that memory of this size explains is a
/// cache in most cases only.
pub const MEMORY_SEEN_MAX: f64 = 64.0 * 1_048_576.0;
/// The error of a cache's end as a share of its size, beside the stretch in which it lies. Guess.
pub const EDGE: f64 = 0.02;
/// The probability that the model is wrong, which its posterior does not contain: speeds that change on a
/// longer scale, a second cache. Guess.
const MODEL_ERROR: f64 = 0.02;
/// The probability that a cache is memory where memory of the size of the largest seen explains it as well,
/// and no bursts showed none. Guess: few controllers have 32 MiB of memory.
const LARGE_MEMORY_ERROR: f64 = 0.15;
/// A stream is even if stalls take less than this share of its time. Guess.
const STALLED_MIN: f64 = 0.05;
/// The probability of a cache that was not seen: cells of two bits may hold one in half of the capacity, and
/// a slowdown by less than a tenth does not show. Guess.
const UNSEEN_CACHE_ERROR: f64 = 0.03;

/// The cache in front of the dense cells, and the steady speed. `capacity`: of the device; `buffer`: the
/// largest size that its write buffer may have, 0 if bursts show none, `None` if it is not known.
#[must_use]
pub fn sustained(
    data: Option<&SustainedData>,
    capacity: Option<Bytes>,
    buffer: Option<Bytes>,
) -> [Finding; 2] {
    let unknown = |reason: Reason, would_decide: &[WouldDecide]| {
        [FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS]
            .map(|id| Finding::unknown(id, reason.clone(), would_decide))
    };
    let Some(data) = data else {
        let measurement = Measurement::LongStream;
        return unknown(Reason::NotMeasured(measurement), &[WouldDecide::Measure(measurement)]);
    };
    let (fill, written) = (Fill::of(data), data.written());
    let longer = WouldDecide::Larger(Quantity::Stream);
    let Some(mean) = fill.mean() else {
        let more = if data.is_spread { WouldDecide::More(Sample::StreamSamples) } else { longer };
        let reason = Reason::NotSettled { written, spread: None };
        let has_time = data.pieces.iter().any(|piece| !piece.time.is_zero());
        return unknown(reason, &[if has_time { more } else { WouldDecide::RunningClock }]);
    };
    let periods = over_whole_periods(data, &fill, &mean);
    let mean = periods.map_or(mean, |(mean, _)| mean);
    let stalls = periods.as_ref().map(|(_, stalls)| stalls);
    if mean.halves > HALVES_MAX.max(3.0 * mean.error) || mean.error > ERROR_MAX {
        let spread = Some(mean.halves.max(mean.error));
        return unknown(Reason::NotSettled { written, spread }, &[longer]);
    }
    let is_cache = |slowdown: &Slowdown| capacity.is_none_or(|capacity| slowdown.bytes <= free_max(capacity));
    match fill.slowdown() {
        Some(slowdown) if !is_cache(&slowdown) => {
            [no_cache(&fill, data, (&mean, stalls)), rate((&mean, stalls), Some(&slowdown))]
        }
        Some(slowdown) => {
            let cache = cache(&slowdown, fill.memory(), buffer, &mean);
            [with_other_writes(cache, &slowdown, data), rate((&mean, stalls), Some(&slowdown))]
        }
        None if capacity.is_some_and(|capacity| written >= cache_max(capacity)) => {
            let none = no_cache(&fill, data, (&mean, stalls));
            [unless_used_before(none, data), rate((&mean, stalls), None)]
        }
        None => unknown(Reason::StreamTooShort { written }, &[longer]),
    }
}

/// The mean over whole periods of stalls, if that is the steady one: rare stalls make parts of a stream
/// differ. `None` if the mean of the stream is.
fn over_whole_periods(data: &SustainedData, fill: &Fill, mean: &Mean) -> Option<(Mean, Stalls)> {
    let are_few = |stalls: &Stalls| stalls.period.as_f64() * FEW_PERIODS > mean.bytes;
    let stalls =
        stalls_of(data).filter(|stalls| fill.slowdown().is_none() && (!is_even(mean) || are_few(stalls)))?;
    let of_periods = Mean {
        seconds_per_byte: stalls.seconds_per_byte,
        error: ERROR_GOOD.max(ERROR_PER_PERIOD / count(stalls.seen - 1)).max(stalls.error),
        halves: 0.0,
        ..*mean
    };
    Some((of_periods, stalls))
}

/// The cache, which is full where the stream becomes slow. What the controller's memory holds then has not
/// reached it: as much as went there at first, if that showed, or what the known buffer explains. Behind a
/// slow link it is unknown.
fn cache(slowdown: &Slowdown, memory: Option<f64>, buffer: Option<Bytes>, mean: &Mean) -> Finding {
    let (fast, id) = (rounded(slowdown.bytes), FindingId::SlcCacheBytes);
    let [before_bytes_per_s, after_bytes_per_s] = [1.0 / slowdown.fast, 1.0 / slowdown.slow];
    if slowdown.agreement < NEARLY_ALL {
        let reason = Reason::SpeedVaries { fast, before_bytes_per_s, after_bytes_per_s };
        return Finding::unknown(id, reason, [WouldDecide::QuieterMachine]);
    }
    let found = buffer.filter(|buffer| !buffer.is_zero());
    let by_buffer = found.map(|buffer| explained(buffer.as_f64(), slowdown));
    let low = slowdown.bytes_low * (1.0 - EDGE) - memory.or(by_buffer).unwrap_or(MEMORY_MAX);
    let kept = kept_at_least(slowdown);
    let memory_max = match buffer {
        None => MEMORY_OR_CACHE_MAX,
        // Bursts do not fill memory over a slow link.
        Some(Bytes::ZERO) => MEMORY_MAX,
        Some(_) => 0.0,
    };
    if low <= 0.0 || kept <= memory_max {
        // Memory is emptied while it fills: it may be all that makes the start fast.
        let reason = Reason::MayBeMemory { fast, before_bytes_per_s, after_bytes_per_s, buffer: found };
        let would_decide = match found {
            Some(_) => WouldDecide::FasterPort,
            None => WouldDecide::Measure(Measurement::Bursts),
        };
        return Finding::unknown(id, reason, [would_decide]);
    }
    let stalls_matter = mean.seconds_per_byte > slowdown.slow * (1.0 + STALLED_MIN);
    let with_stalls_bytes_per_s = stalls_matter.then_some(1.0 / mean.seconds_per_byte);
    let evidence =
        StreamEvidence::CacheEnd { fast, before_bytes_per_s, after_bytes_per_s, with_stalls_bytes_per_s };
    let may_be_memory = buffer.is_none() && kept <= MEMORY_SEEN_MAX;
    let model_error = match may_be_memory {
        true => LARGE_MEMORY_ERROR,
        false if slowdown.bytes < MEMORY_OR_CACHE_MAX => 1.0 - LIKELY,
        false => MODEL_ERROR,
    };
    let confidence = Confidence::new(slowdown.agreement.min(1.0 - model_error));
    let held = (slowdown.bytes - memory.unwrap_or(0.0)).max(0.0);
    let low = rounded(low.min(held));
    let high = rounded(slowdown.bytes_high * (1.0 + EDGE));
    let mut finding = Finding::exact(id, Value::Bytes(rounded(held)), confidence, Evidence::Stream(evidence))
        .within(Value::Bytes(low), Value::Bytes(high))
        .with_caveat(Caveat::CacheMayBePartlyUsed);
    finding.caveats.extend(may_be_memory.then_some(Caveat::MayBeMemory));
    finding
}

/// The least that memory holds at the end of a fast start, if it is memory.
fn kept_at_least(slowdown: &Slowdown) -> f64 {
    kept(&Slowdown { bytes: slowdown.bytes_low * (1.0 - EDGE), ..*slowdown })
}

/// The size of the fast start of a stream that memory of a controller explains as well, if it has one: any
/// that was seen if the bursts after it were fast, else a usual one.
#[must_use]
pub fn maybe_memory(fill: &Fill, bursts_were_fast: bool) -> Option<Bytes> {
    let memory_max = if bursts_were_fast { MEMORY_SEEN_MAX } else { MEMORY_MAX };
    let slowdown = fill.slowdown().filter(|slowdown| kept_at_least(slowdown) <= memory_max)?;
    Some(rounded(slowdown.bytes))
}

fn no_cache(fill: &Fill, data: &SustainedData, mean: (&Mean, Option<&Stalls>)) -> Finding {
    let evidence = match fill.slowdown() {
        Some(Slowdown { bytes, fast, .. }) => {
            StreamEvidence::MoreThanACache { written: rounded(bytes), bytes_per_s: 1.0 / fast }
        }
        None => without_a_slowdown(data, mean),
    };
    let confidence = Confidence::new(1.0 - UNSEEN_CACHE_ERROR);
    Finding::exact(
        FindingId::SlcCacheBytes,
        Value::Bytes(Bytes::ZERO),
        confidence,
        Evidence::Stream(evidence),
    )
}

/// A steady mean may be made of fast writes and of stalls: then no single write has that speed.
fn without_a_slowdown(data: &SustainedData, (mean, stalls): (&Mean, Option<&Stalls>)) -> StreamEvidence {
    let share = stalled_share(data);
    let stalled = StallShare { share, is_over_periods: stalls.is_some() };
    StreamEvidence::NoSlowdown {
        written: data.written(),
        sample: data.is_spread.then_some(data.request),
        bytes_per_s: 1.0 / mean.seconds_per_byte,
        stalls: (share >= STALLED_MIN).then_some(stalled),
    }
}

fn rate((mean, stalls): (&Mean, Option<&Stalls>), slowdown: Option<&Slowdown>) -> Finding {
    let (written, seconds) = (whole_bytes(mean.bytes), mean.seconds);
    let evidence = match stalls {
        Some(stalls) => {
            let period = rounded(stalls.period.as_f64());
            StreamEvidence::OverStalls { written, seconds, stalls: stalls.seen, period }
        }
        None => StreamEvidence::OverParts {
            written,
            seconds,
            after: slowdown.map(|slowdown| rounded(slowdown.bytes)),
            spread: mean.error * count(BATCHES).sqrt(),
        },
    };
    let SoFar { bytes_per_s: rate, bytes_per_s_low: low, bytes_per_s_high: high, .. } = SoFar::of(mean);
    let value = Value::BytesPerSecond(rate);
    let within = student_within(FREEDOM, half_width(mean) / error(mean));
    let confidence = Confidence::new(within * (1.0 - MODEL_ERROR));
    let evidence = Evidence::Stream(evidence);
    Finding::exact(FindingId::SustainedWriteBytesPerS, value, confidence, evidence)
        .within(Value::BytesPerSecond(low), Value::BytesPerSecond(high))
}

/// The speed of a stream at its end, whether or not it is the steady one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoFar {
    /// The bytes it is measured over: those after a slowdown, if there was one.
    pub bytes: Bytes,
    /// The mean.
    pub bytes_per_s: f64,
    /// The interval's lower end, if the stream goes on as before.
    pub bytes_per_s_low: f64,
    /// The interval's upper end.
    pub bytes_per_s_high: f64,
}

impl SoFar {
    fn of(mean: &Mean) -> Self {
        let (rate, half) = (1.0 / mean.seconds_per_byte, half_width(mean));
        Self {
            bytes: rounded(mean.bytes),
            bytes_per_s: rate,
            bytes_per_s_low: rate / (1.0 + half),
            bytes_per_s_high: rate * (1.0 + half),
        }
    }
}

/// The speed of a stream at its end; `None` from too few writes.
#[must_use]
pub fn so_far(data: &SustainedData) -> Option<SoFar> {
    let fill = Fill::of(data);
    let mean = fill.mean().or_else(|| fill.mean_of_few())?;
    Some(SoFar::of(&over_whole_periods(data, &fill, &mean).map_or(mean, |(mean, _)| mean)))
}

/// Half the width of the 95 % interval of a mean, as a share of it.
fn half_width(mean: &Mean) -> f64 {
    (error(mean) * mean.student_95()).max(CLEAR_HALF_WIDTH)
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
    fn the_cache_ends_where_the_speed_falls() {
        let data = data((0..300).map(|index| if index < 120 { 20 } else { 100 + index % 3 }));
        let [cache, rate] = values(&data, Bytes::gib(4));
        assert_eq!(cache, Some(Value::Bytes(Bytes::mib(120))));
        let Some(Value::BytesPerSecond(rate)) = rate else { panic!("no rate") };
        assert!((rate / (1_048_576.0 / 0.101) - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn stalls_do_not_hide_the_end_of_the_cache() {
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
        let Some(Evidence::Stream(StreamEvidence::CacheEnd {
            after_bytes_per_s,
            with_stalls_bytes_per_s: Some(with_stalls),
            ..
        })) = cache.evidence
        else {
            panic!("{cache:?}")
        };
        assert!((after_bytes_per_s / 10.2e6 - 1.0).abs() < 0.01 && (with_stalls / 8.8e6 - 1.0).abs() < 0.01);
    }

    fn stalls_in_evidence(finding: &Finding) -> Option<StallShare> {
        match finding.evidence {
            Some(Evidence::Stream(StreamEvidence::NoSlowdown { stalls, .. })) => stalls,
            _ => panic!("{finding:?}"),
        }
    }

    #[test]
    fn evidence_of_a_stalling_stream_names_the_share_of_stalls() {
        let mut stalling = data((0..600).map(|index| if index % 16 == 15 { 1760 } else { 40 }));
        let long = |index: u64| LongWrite {
            written: Bytes::mib(index + 1),
            took: Duration::from_millis(1760),
            ended: Duration::from_millis((index + 1) / 16 * (1760 + 15 * 40)),
        };
        stalling.long = (0..600).filter(|index| index % 16 == 15).map(long).collect();
        let [cache, _] = sustained(Some(&stalling), Some(Bytes::gib(1)), None);
        assert_eq!(cache.value(), Some(Value::Bytes(Bytes::ZERO)));
        let share = stalls_in_evidence(&cache).unwrap().share;
        assert!((share - 0.745).abs() < 0.005, "{share}");
        let [even, _] = sustained(Some(&data((0..600).map(|_| 40))), Some(Bytes::gib(1)), None);
        assert_eq!(stalls_in_evidence(&even), None);
    }

    #[test]
    fn an_incomplete_period_at_the_end_is_ignored() {
        // Three stalls of 90 s, 4000 writes apart; then three quarters of a period without one.
        let mut data = data((1..=15_000).map(|index| if index % 4000 == 0 { 90_000 } else { 88 }));
        let long = |index: u64| LongWrite {
            written: Bytes::mib(index * 4000),
            took: Duration::from_secs(90),
            ended: Duration::from_millis(index * (90_000 + 3999 * 88)),
        };
        data.long = (1..=3).map(long).collect();
        let [cache, rate] = sustained(Some(&data), Some(Bytes::gib(15)), None);
        assert!(stalls_in_evidence(&cache).unwrap().is_over_periods);
        let over_stalls = rate.evidence;
        assert!(
            matches!(over_stalls, Some(Evidence::Stream(StreamEvidence::OverStalls { stalls: 3, .. }))),
            "{over_stalls:?}"
        );
        let Some(Value::BytesPerSecond(rate)) = rate.value() else { panic!("no rate") };
        assert!((rate / (4000.0 * 1_048_576.0 / (90.0 + 3999.0 * 0.088)) - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn a_clock_jump_in_one_of_many_periods_leaves_the_speed_unknown() {
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
    fn both_findings_name_the_same_number_of_written_bytes() {
        let seen = sustained(Some(&data((0..10_958).map(|_| 77))), Some(Bytes::gib(29)), None);
        for finding in seen {
            let bytes = match finding.evidence {
                Some(Evidence::Stream(
                    StreamEvidence::NoSlowdown { written, .. } | StreamEvidence::OverParts { written, .. },
                )) => written,
                _ => panic!("{finding:?}"),
            };
            assert_eq!(bytes.to_string(), "10.7 GiB");
        }
    }

    #[test]
    fn evidence_of_samples_names_their_size_and_too_few_are_unknown() {
        let samples = |count: u64| SustainedData { is_spread: true, ..data((0..count).map(|_| 40)) };
        let [cache, _] = sustained(Some(&samples(600)), Some(Bytes::gib(1)), None);
        let Some(Evidence::Stream(StreamEvidence::NoSlowdown { written, sample, .. })) = cache.evidence
        else {
            panic!("{cache:?}")
        };
        assert_eq!((written, sample), (Bytes::mib(600), Some(Bytes::mib(1))));
        let known = |count| sustained(Some(&samples(count)), Some(Bytes::mib(20)), None)[1].value().is_some();
        assert_eq!([known(SAMPLES_MIN - 1), known(SAMPLES_MIN)], [false, true]);
    }

    #[test]
    fn memory_of_the_controller_is_no_part_of_the_cache() {
        let time = |index| match index {
            0..4 => 3,
            4..58 => 21,
            _ => 42,
        };
        let data = data((0..400).map(time));
        assert_eq!(values(&data, Bytes::gib(4))[0], Some(Value::Bytes(Bytes::mib(54))));
    }

    #[test]
    fn a_fast_start_that_the_buffer_explains_is_no_cache() {
        // 8 MiB of memory take 9 MiB while the flash behind it takes one.
        let buffer = data((0..400).map(|index| if index < 9 { 3 } else { 26 }));
        assert_eq!(values(&buffer, Bytes::gib(1))[0], Some(Value::Bytes(Bytes::ZERO)));
        let long = |found| {
            let data = data((0..400).map(|index| if index < 36 { 20 } else { 100 }));
            sustained(Some(&data), Some(Bytes::gib(1)), found)[0].clone()
        };
        assert_eq!(long(None).bytes(), Some(Bytes::mib(36)));
        assert_eq!(long(Some(Bytes::mib(2))).bytes(), Some(Bytes::mib(36)));
        let with_buffer = long(Some(Bytes::mib(32)));
        let reason = with_buffer.reason();
        assert!(
            matches!(reason, Some(Reason::MayBeMemory { buffer: Some(buffer), .. }) if *buffer == Bytes::mib(32)),
            "{reason:?}"
        );
    }

    #[test]
    fn a_fast_start_that_a_buffer_of_a_usual_size_explains_is_no_sure_cache() {
        let of = |fast: u64, slow_ms: u64, buffer| {
            let data = data((0..600).map(|index| if index < fast { 20 } else { slow_ms }));
            let [cache, _] = sustained(Some(&data), Some(Bytes::gib(4)), buffer);
            (cache.value(), cache.confidence().get(), cache.caveats.contains(&Caveat::MayBeMemory))
        };
        // Either a cache of 17 MiB, or a buffer of 16 MiB whose flash takes one meanwhile.
        assert_eq!(of(17, 300, None).0, None);
        // If it is memory, it holds at least 15.8 MiB, which is a usual size; or 16.8 MiB, which is not.
        assert_eq!(of(18, 400, None).0, None);
        assert_eq!(of(19, 400, None).0, Some(Value::Bytes(Bytes::mib(19))));
        // Either 31 MiB of cache, or a buffer of 4 MiB that is emptied nearly as fast as it is filled.
        assert_eq!(of(31, 23, None).0, None);
        assert_eq!(of(31, 23, Some(Bytes::ZERO)).0, None);
        assert_eq!(of(17, 300, Some(Bytes::ZERO)).0, Some(Value::Bytes(Bytes::mib(17))));
        for (fast, sure, may_be_memory) in [(40, 0.85, true), (120, 0.98, false)] {
            let (value, confidence, has_caveat) = of(fast, 300, None);
            assert_eq!((value, has_caveat), (Some(Value::Bytes(Bytes::mib(fast))), may_be_memory));
            assert!((confidence - sure).abs() < 1e-9, "{fast}: {confidence}");
        }
    }

    #[test]
    fn a_cache_is_excluded_only_after_a_third_of_the_capacity() {
        let data = data((0..300).map(|index| 50 + index % 2));
        assert_eq!(values(&data, Bytes::mib(900))[0], Some(Value::Bytes(Bytes::ZERO)));
        assert_eq!(values(&data, Bytes::mib(1000)), [None, None]);
        let [none, _] = sustained(Some(&data), Some(Bytes::mib(900)), None);
        assert_eq!(none.confidence(), Confidence::new(0.97), "one in half of the capacity does not show");
    }

    #[test]
    fn a_stream_without_a_steady_speed_has_a_speed_so_far() {
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
    fn a_stream_that_keeps_slowing_and_a_standing_clock_are_unknown() {
        assert_eq!(values(&data((0..300).map(|index| 50 + index)), Bytes::mib(300)), [None, None]);
        assert_eq!(values(&data((0..300).map(|_| 0)), Bytes::mib(300)), [None, None]);
    }

    #[test]
    fn confidence_of_the_rate_falls_with_the_spread_of_its_parts() {
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
    fn stalls_lower_the_speed_and_are_no_cache() {
        let data = data((0..320).map(|index| if index % 16 == 7 { 500 } else { 50 }));
        let [cache, rate] = values(&data, Bytes::mib(900));
        assert_eq!(cache, Some(Value::Bytes(Bytes::ZERO)));
        let Some(Value::BytesPerSecond(rate)) = rate else { panic!("no rate") };
        assert!((rate * 0.078_125 / 1_048_576.0 - 1.0).abs() < 0.02, "{rate}");
    }

    #[test]
    fn a_slowdown_after_half_the_capacity_is_no_cache() {
        let data = data((0..300).map(|index| if index < 200 { 20 } else { 100 }));
        assert_eq!(values(&data, Bytes::mib(420))[0], Some(Value::Bytes(Bytes::mib(200))));
        assert_eq!(values(&data, Bytes::mib(380))[0], Some(Value::Bytes(Bytes::ZERO)));
    }

    #[test]
    fn intervals_of_cache_and_speed_lie_on_both_sides_of_their_values() {
        // A cache of 12 MiB may be a few blocks that were erased beforehand; none is surer than that.
        for (fast, sure) in [(12, 0.9), (40, 0.98), (120, 0.98)] {
            let data = data((0..600).map(|index| if index < fast { 20 } else { 100 + index % 3 }));
            let [cache, rate] = sustained(Some(&data), Some(Bytes::gib(4)), Some(Bytes::ZERO));
            let bytes = |value| match value {
                Value::Bytes(bytes) => bytes.as_f64(),
                Value::BytesPerSecond(rate) => rate,
                _ => panic!("{value:?}"),
            };
            for finding in [&cache, &rate] {
                let Outcome::Found { value, low, high, .. } = finding.outcome else { panic!("{finding:?}") };
                assert!(bytes(low) < bytes(value) && bytes(value) < bytes(high), "{finding:?}");
            }
            assert!((cache.confidence().get() - sure).abs() < 1e-9, "{cache:?}");
        }
    }
}
