//! What a long copy loses once a cache is full, or old data has to be collected.

use flashscope_record::diagnosis::{Layer, Unweighed, Why};
use flashscope_record::figure::speed;
use flashscope_record::finding::{Finding, FindingId, Measurement, Outcome, Reason, Value, WouldDecide};
use flashscope_record::observation::{Data, SustainedData};

use crate::diagnosis::gain::{Cure, Range};
use crate::diagnosis::seen::{Seen, last};
use crate::diagnosis::workload::{Pace, Part, Workload};

use crate::streams::slowdown::Slowdown;
use crate::streams::stalls::Stalls;
use crate::streams::sustained::Fill;
use crate::streams::throughput_profile::stalls_of;

/// Speeds before and behind are told to a few hundredths.
const FACTOR: f64 = 1.08;
/// What single large writes reach beside a stream is known worse: a stall may be in one and not in the other.
const FACTOR_OF_LADDER: f64 = 1.2;
/// What is left between stalls is known worse where they take most of the time.
const FACTOR_OF_STALLS: f64 = 1.35;
/// A speed that is known worse is not known.
const ERROR_MAX: f64 = 0.1;
/// At least this share of the time is left.
const LEFT_MIN: f64 = 0.01;

/// What a byte of a long copy takes, or why that is not known.
pub fn pace(seen: &Seen<'_>) -> Result<Pace, Why> {
    let finding = seen.finding(FindingId::SustainedWriteBytesPerS);
    match finding.map(|finding| &finding.outcome) {
        Some(Outcome::Found { value: Value::BytesPerSecond(rate), low, high, .. }) if *rate > 0.0 => {
            let half = match (low, high) {
                (Value::BytesPerSecond(low), Value::BytesPerSecond(high)) if *low > 0.0 => {
                    (high / low).sqrt()
                }
                _ => 1.0,
            };
            Ok(Pace { seconds: 1.0 / rate, factor: half.max(Pace::of(1.0).factor) })
        }
        // Where single times make no sense, a long stream took what it took.
        Some(Outcome::Unknown { reason, .. }) => lasting(seen).ok_or_else(|| reason.clone().into()),
        _ => Err(Reason::NotMeasured(Measurement::LongStream).into()),
    }
}

/// From the stream itself, if it went on for long and its halves are alike.
fn lasting(seen: &Seen<'_>) -> Option<Pace> {
    let fill = stream(seen).map(Fill::of).filter(Fill::is_settled)?;
    let (seconds, error) = fill.lasting()?;
    (error <= ERROR_MAX).then(|| Pace { seconds, factor: Pace::of(1.0).factor.max(1.0 + 2.0 * error) })
}

/// What stalls that come again and again add to each byte, seconds; 0 without any.
pub fn stalls(seen: &Seen<'_>) -> f64 {
    let known =
        stream(seen).filter(|_| pace(seen).is_ok()).and_then(|stream| stalls_without_a_cache(seen, stream));
    known.map_or(0.0, |stalls| stalls.share * stalls.seconds_per_byte)
}

/// Stalls that come again and again, where no cache was found: a stream that they interrupt may seem to slow down.
fn stalls_without_a_cache(seen: &Seen<'_>, stream: &SustainedData) -> Option<Stalls> {
    let cache = seen.finding(FindingId::SlcCacheBytes).and_then(Finding::bytes).unwrap_or_default();
    stalls_of(stream).filter(|_| cache.is_zero())
}

pub fn cure(seen: &Seen<'_>, workload: &Workload) -> Result<Option<Cure>, Unweighed> {
    let cure = |after, evidence| Ok(Some(Cure { layer: Layer::SlcCache, after, evidence }));
    let Some(stream) = stream(seen).filter(|_| pace(seen).is_ok()) else { return Ok(None) };
    let now = |part| workload.pace(part).seconds;
    let slow = speed(1.0 / now(Part::Long));
    if let Some(stalls) = stalls_without_a_cache(seen, stream) {
        let text = format!(
            "stalls take {:.0} % of the time of a long copy, one each {}, and leave {slow}",
            stalls.share * 100.0,
            stalls.period
        );
        let without = |part| (now(part) - workload.stalls).max(now(part) * LEFT_MIN);
        return cure(Part::ALL.map(|part| Some(Range::within(without(part), FACTOR_OF_STALLS))), text);
    }
    if let Some(slowdown) = slowdown(seen, stream)? {
        let text = format!("a long copy falls from {} to {slow}", speed(1.0 / slowdown.fast));
        return cure(in_the_cache(workload, slowdown.fast), text);
    }
    let single = seen.ladder.seconds_per_byte(Part::Long.request());
    let long = pace(seen).map_or(single, |pace| pace.seconds);
    if long < single * FACTOR_OF_LADDER {
        return Ok(None);
    }
    let text = format!("single large writes reach {}, a long copy only {slow}", speed(1.0 / single));
    let after = Range::within(now(Part::Long) - long + single, FACTOR_OF_LADDER);
    cure([Some(after), None, None, None], text)
}

/// What would tell how a long copy goes: a long stream, if there was none; then what the findings about it ask for.
pub fn would_decide(seen: &Seen<'_>) -> Vec<WouldDecide> {
    let of_stream = [FindingId::SustainedWriteBytesPerS, FindingId::SlcCacheBytes];
    let asked = of_stream.into_iter().find_map(|id| match &seen.finding(id)?.outcome {
        Outcome::Unknown { would_decide, .. } => Some(would_decide.clone()),
        Outcome::Found { .. } => None,
    });
    let asked = asked.filter(|asked| stream(seen).is_some() && !asked.is_empty());
    asked.unwrap_or_else(|| vec![WouldDecide::Measure(Measurement::LongStream)])
}

/// Where a stream becomes slow, if the finding about the cache says why: a cache was full, or more was written than any holds.
/// What memory of the controller takes at first is no cache.
fn slowdown(seen: &Seen<'_>, stream: &SustainedData) -> Result<Option<Slowdown>, Unweighed> {
    let Some(slowdown) = Fill::of(stream).slowdown() else { return Ok(None) };
    match seen.finding(FindingId::SlcCacheBytes).map(|finding| &finding.outcome) {
        Some(Outcome::Unknown { reason, .. }) => {
            Err(Unweighed { layer: Layer::SlcCache, reason: reason.clone().into() })
        }
        Some(Outcome::Found { value: Value::Bytes(cache), low: Value::Bytes(low), .. }) => {
            let is_more_than_memory = *cache > seen.buffer() && !low.is_zero();
            if is_more_than_memory || cache.is_zero() {
                return Ok(Some(slowdown));
            }
            if !seen.buffer().is_zero() {
                return Ok(None);
            }
            let reason = format!("the {cache} that go fast at first may be memory of the controller");
            Err(Unweighed { layer: Layer::SlcCache, reason: reason.into() })
        }
        _ => Ok(None),
    }
}

/// What a byte takes at least, seconds, where memory of the controller takes single writes: as much as in the long run, but for
/// stalls. `None` where no such memory was found.
pub fn behind_memory(seen: &Seen<'_>) -> Option<f64> {
    let pace = pace(seen).ok().filter(|_| !seen.buffer().is_zero())?;
    Some((pace.seconds - stalls(seen)).max(pace.seconds * LEFT_MIN))
}

/// What a byte took before a cache was full, seconds, if one was.
pub fn before_full(seen: &Seen<'_>) -> Option<f64> {
    let stream = stream(seen).filter(|_| pace(seen).is_ok() && stalls(seen) <= 0.0)?;
    slowdown(seen, stream).ok().flatten().map(|slowdown| slowdown.fast)
}

/// All parts where everything goes into the cache: at most as fast as large writes, and no faster than now at least.
fn in_the_cache(workload: &Workload, fast: f64) -> [Option<Range>; 4] {
    let long = workload.pace(Part::Long).seconds;
    let share = (fast / long).min(1.0);
    Part::ALL.map(|part| {
        let now = workload.pace(part).seconds;
        let low = fast.min(now);
        Some(match part {
            Part::Long => Range::within(fast, FACTOR),
            Part::Medium => Range { low, likely: (now - (long - fast)).max(low), high: now },
            Part::Small => Range { low, likely: now * share.sqrt(), high: now },
            // What goes into the cache goes there in one row, and merges nothing; or the cache takes rows only.
            Part::InTurn => Range { low, likely: (low * now).sqrt(), high: now },
        })
    })
}

fn stream<'a>(seen: &Seen<'a>) -> Option<&'a SustainedData> {
    last(seen.observations, |data| match data {
        Data::Sustained(data) => Some(data),
        _ => None,
    })
}
