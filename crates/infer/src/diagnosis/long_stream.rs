//! The long write stream of *sustained*: its time per byte, its stalls, and its slow-down.

use flashscope_device::Bytes;
use flashscope_record::diagnosis::{DiagnosisReason, GAIN_REPORTED_MIN};
use flashscope_record::finding::{Finding, FindingId, Outcome, Value};
use flashscope_record::observation::{Data, SustainedData, is_in_file};

use crate::diagnosis::gain::LEFT_MIN;
use crate::diagnosis::inputs::{Inputs, last_data};
use crate::diagnosis::size_sweep::SizeSweep;
use crate::diagnosis::workload::{CopyPart, TimePerByte};
use crate::streams::slowdown::Slowdown;
use crate::streams::stalls::Stalls;
use crate::streams::sustained::{Fill, so_far};
use crate::streams::throughput_profile::stalls_of;
use crate::thresholds::ERROR_MAX;

/// The largest factor by which the speed of a brief stream may be wrong. Guess: a gain is told from none
/// within it in most cases.
const BRIEF_FACTOR_MAX: f64 = 1.3;

/// The factor within which single large writes are known: a stall may be in one of them and not in the next.
/// Guess.
pub const SINGLE_WRITE_FACTOR: f64 = 1.2;

/// The last long stream, if one was measured.
pub fn stream<'a>(inputs: &Inputs<'a>) -> Option<&'a SustainedData> {
    last_data(inputs.observations, |data| match data {
        Data::Sustained(data) => Some(data),
        _ => None,
    })
}

/// The time per byte of a long copy, or why it is not known.
pub fn time_per_byte(inputs: &Inputs<'_>) -> Result<TimePerByte, DiagnosisReason> {
    let finding = inputs.finding(FindingId::SustainedWriteBytesPerS);
    match finding.map(|finding| &finding.outcome) {
        Some(Outcome::Found { value: Value::BytesPerSecond(rate), low, high, .. }) if *rate > 0.0 => {
            let half_width = match (low, high) {
                (Value::BytesPerSecond(low), Value::BytesPerSecond(high)) if *low > 0.0 => {
                    (high / low).sqrt()
                }
                _ => 1.0,
            };
            let seconds = 1.0 / rate;
            Ok(TimePerByte { seconds, factor: half_width.max(TimePerByte::of_one_run(seconds).factor) })
        }
        // The total time of a settled stream is valid even where single latencies are not.
        Some(Outcome::Unknown { reason, .. }) => {
            let so_far = || brief(inputs).map(|(time_per_byte, _)| time_per_byte);
            settled(inputs).or_else(so_far).ok_or_else(|| DiagnosisReason::Finding(reason.clone()))
        }
        _ => Err(DiagnosisReason::NoLongStream),
    }
}

/// From the stream itself, if it is settled: long enough, and equally fast in both halves. A stream that
/// overwrites one file says nothing of a longer copy.
fn settled(inputs: &Inputs<'_>) -> Option<TimePerByte> {
    if is_in_file(inputs.observations) {
        return None;
    }
    let fill = stream(inputs).map(Fill::of).filter(Fill::is_settled)?;
    let (seconds, error) = fill.lasting()?;
    let factor = TimePerByte::of_one_run(seconds).factor.max(1.0 + 2.0 * error);
    (error <= ERROR_MAX).then_some(TimePerByte { seconds, factor })
}

/// From a stream that ended before its speed was steady: its time per byte so far, and its length. A copy
/// of that length takes as long, whatever follows.
fn brief(inputs: &Inputs<'_>) -> Option<(TimePerByte, Bytes)> {
    let stream = stream(inputs)?;
    let so_far = so_far(stream)?;
    let half_width = (so_far.bytes_per_s_high / so_far.bytes_per_s_low.max(f64::MIN_POSITIVE)).sqrt();
    let seconds = 1.0 / so_far.bytes_per_s;
    let is_usable = seconds.is_finite() && half_width <= BRIEF_FACTOR_MAX;
    let factor = half_width.max(TimePerByte::of_one_run(seconds).factor);
    is_usable.then(|| (TimePerByte { seconds, factor }, stream.written()))
}

/// The longest copy that the long stream stands for; `None` if its speed is the steady one, and without a
/// stream.
pub fn copy_max(inputs: &Inputs<'_>) -> Option<Bytes> {
    let finding = inputs.finding(FindingId::SustainedWriteBytesPerS)?;
    let is_unknown = finding.value().is_none() && settled(inputs).is_none();
    brief(inputs).filter(|_| is_unknown).map(|(_, written)| written)
}

/// The time that periodic stalls add to each byte, seconds; 0 without stalls.
pub fn stall_time_per_byte(inputs: &Inputs<'_>) -> f64 {
    let stream = stream(inputs).filter(|_| time_per_byte(inputs).is_ok());
    let stalls = stream.and_then(|stream| stalls_without_cache(inputs, stream));
    stalls.map_or(0.0, |stalls| stalls.share * stalls.seconds_per_byte)
}

/// The periodic stalls, if no SLC cache was found: stalls alone can look like the end of a cache.
pub fn stalls_without_cache(inputs: &Inputs<'_>, stream: &SustainedData) -> Option<Stalls> {
    let cache = inputs.finding(FindingId::SlcCacheBytes).and_then(Finding::bytes).unwrap_or_default();
    stalls_of(stream).filter(|_| cache.is_zero())
}

/// The time per byte of a single large write, seconds, if a stream with this time per byte is slower.
pub fn slow_stream(inputs: &Inputs<'_>, long: &TimePerByte) -> Option<f64> {
    let single = inputs.sweep.time_per_byte(CopyPart::Large.request());
    (long.seconds >= single * SINGLE_WRITE_FACTOR).then_some(single)
}

/// The slow-down of the stream, if the finding about the SLC cache explains it: a cache was exhausted, or
/// more was written than any cache holds. A fast start in the write buffer is no slow-down.
pub fn slowdown(inputs: &Inputs<'_>, stream: &SustainedData) -> Result<Option<Slowdown>, DiagnosisReason> {
    let Some(slowdown) = Fill::of(stream).slowdown() else { return Ok(None) };
    let write_buffer: Bytes = inputs.write_buffer();
    match inputs.finding(FindingId::SlcCacheBytes).map(|finding| &finding.outcome) {
        // What gains too little needs no cause.
        Some(Outcome::Unknown { .. })
            if slowdown.slow < slowdown.fast * GAIN_REPORTED_MIN || inputs.short_fast_start().is_some() =>
        {
            Ok(None)
        }
        Some(Outcome::Unknown { reason, .. }) => Err(DiagnosisReason::Finding(reason.clone())),
        Some(Outcome::Found { value: Value::Bytes(cache), low: Value::Bytes(low), .. }) => {
            let exceeds_write_buffer = *cache > write_buffer && !low.is_zero();
            if exceeds_write_buffer || cache.is_zero() {
                return Ok(Some(slowdown));
            }
            if !write_buffer.is_zero() {
                return Ok(None);
            }
            Err(DiagnosisReason::CacheOrWriteBuffer { fast: *cache })
        }
        _ => Ok(None),
    }
}

/// The times by size of these inputs, none below what the long stream shows of a write buffer.
pub fn bounded_sweep(inputs: &Inputs<'_>) -> SizeSweep {
    inputs.sweep.clone().with_time_per_byte_min(time_per_byte_min(inputs))
}

/// The least time per byte of any request size, seconds, if there is a write buffer: that of the long stream
/// without its stalls. `None` without a write buffer.
fn time_per_byte_min(inputs: &Inputs<'_>) -> Option<f64> {
    let long = time_per_byte(inputs).ok().filter(|_| !inputs.write_buffer().is_zero())?;
    Some((long.seconds - stall_time_per_byte(inputs)).max(long.seconds * LEFT_MIN))
}

/// The time per byte before the SLC cache was exhausted, seconds, if it was.
pub fn time_per_byte_before_slowdown(inputs: &Inputs<'_>) -> Option<f64> {
    let is_usable = time_per_byte(inputs).is_ok() && stall_time_per_byte(inputs) <= 0.0;
    let stream = stream(inputs).filter(|_| is_usable)?;
    slowdown(inputs, stream).ok().flatten().map(|slowdown| slowdown.fast)
}
