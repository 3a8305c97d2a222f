//! Rule *SLC cache*: the cost of an exhausted SLC cache, or of stalls, for a long copy.

use flashscope_device::Bytes;
use flashscope_record::diagnosis::{Bottleneck, Decider, DiagnosisEvidence, StallCause, Untested};
use flashscope_record::finding::{Finding, FindingId, FtlClass, Outcome, Value};

use crate::diagnosis::gain::{Counterfactual, LEFT_MIN, RUN_FACTOR, Range};
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::long_stream::{
    SINGLE_WRITE_FACTOR, slow_stream, slowdown, stalls_without_cache, stream, time_per_byte,
};
use crate::diagnosis::workload::{CopyPart, Workload};
use crate::streams::stalls::Stalls;

/// The factor within which the time between stalls is known, where stalls take most of the time. Guess.
const STALL_FACTOR: f64 = 1.35;

/// `None` as well without a long stream: the baseline reports that.
pub fn counterfactual(inputs: &Inputs<'_>, workload: &Workload) -> Result<Option<Counterfactual>, Untested> {
    let without =
        |without, evidence| Ok(Some(Counterfactual { bottleneck: Bottleneck::SlcCache, without, evidence }));
    let Ok(long) = time_per_byte(inputs) else { return Ok(None) };
    let Some(stream) = stream(inputs) else { return Ok(None) };
    let now = |part| workload.time_per_byte(part).seconds;
    let long_bytes_per_s = 1.0 / now(CopyPart::Large);
    if let Some(stalls) = stalls_without_cache(inputs, stream) {
        let unstalled = |part| (now(part) - workload.stalls).max(now(part) * LEFT_MIN);
        return without(
            CopyPart::ALL.map(|part| Some(Range::within(unstalled(part), STALL_FACTOR))),
            DiagnosisEvidence::Stalls {
                share: stalls.share,
                period: stalls.period,
                cause: stall_cause(inputs, &stalls, stream.request),
                bytes_per_s: long_bytes_per_s,
            },
        );
    }
    let slowdown = slowdown(inputs, stream);
    let slowdown = slowdown.map_err(|reason| Untested { bottleneck: Bottleneck::SlcCache, reason })?;
    if let Some(slowdown) = slowdown {
        let before_bytes_per_s = 1.0 / slowdown.fast;
        return without(
            within_cache(workload, slowdown.fast),
            DiagnosisEvidence::Slowdown { before_bytes_per_s, after_bytes_per_s: long_bytes_per_s },
        );
    }
    let Some(single) = slow_stream(inputs, &long) else { return Ok(None) };
    let large = Range::within(now(CopyPart::Large) - long.seconds + single, SINGLE_WRITE_FACTOR);
    let single_bytes_per_s = 1.0 / single;
    without(
        [Some(large), None, None, None],
        DiagnosisEvidence::SlowLongCopy { single_bytes_per_s, long_bytes_per_s },
    )
}

/// The cause of stalls in a stream of `request` bytes a write. A stall is known to a write, so that its
/// period is known to a write more or less.
fn stall_cause(inputs: &Inputs<'_>, stalls: &Stalls, request: Bytes) -> StallCause {
    let period = stalls.period_low.saturating_sub(request)..=stalls.period_high + request;
    let block = inputs.finding(FindingId::EraseBlockBytes).and_then(Finding::bytes);
    if block.is_some_and(|block| period.contains(&block)) {
        return StallCause::OpeningEraseBlock;
    }
    match inputs.finding(FindingId::FtlClass).and_then(Finding::value) {
        Some(Value::Class { class: FtlClass::PageMapped | FtlClass::LogStructured, .. }) => {
            StallCause::GarbageCollection
        }
        _ => StallCause::Unknown,
    }
}

/// A long stream; if there was one, the measurement that its unknown findings name.
pub fn would_decide(inputs: &Inputs<'_>) -> Decider {
    let of_stream = [FindingId::SustainedWriteBytesPerS, FindingId::SlcCacheBytes];
    let of_findings = of_stream.into_iter().find_map(|id| match &inputs.finding(id)?.outcome {
        Outcome::Unknown { would_decide, .. } => Some(would_decide.clone()),
        Outcome::Found { .. } => None,
    });
    let of_findings = of_findings.filter(|decider| stream(inputs).is_some() && !decider.is_empty());
    of_findings.map_or(Decider::LongStream, Decider::Finding)
}

/// All parts if every write fits into the cache: at best as fast as large writes, at worst as now.
fn within_cache(workload: &Workload, fast: f64) -> [Option<Range>; 4] {
    let long = workload.time_per_byte(CopyPart::Large).seconds;
    let share = (fast / long).min(1.0);
    CopyPart::ALL.map(|part| {
        let now = workload.time_per_byte(part).seconds;
        let low = fast.min(now);
        Some(match part {
            CopyPart::Large => Range::within(fast, RUN_FACTOR),
            CopyPart::Medium => Range { low, likely: (now - (long - fast)).max(low), high: now },
            CopyPart::Small => Range { low, likely: now * share.sqrt(), high: now },
            // Either the cache is a log, where interleaved writes merge nothing, or it takes sequential
            // writes only.
            CopyPart::Interleaved => Range { low, likely: (low * now).sqrt(), high: now },
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::workload::SMALL_FILES;

    /// Small writes take 4 s a byte, interleaved ones 2 s, and large ones 3 s, or 1 s in the cache.
    #[test]
    fn in_a_cache_three_times_as_fast_small_writes_gain_the_square_root_of_three() {
        let workload = Workload::of([3.0, 1.2, 4.0, 2.0]);
        let cache = Counterfactual {
            bottleneck: Bottleneck::SlcCache,
            without: within_cache(&workload, 1.0),
            evidence: DiagnosisEvidence::Slowdown { before_bytes_per_s: 1.0, after_bytes_per_s: 1.0 / 3.0 },
        };
        let gain = cache.gain(&workload, &SMALL_FILES).unwrap();
        // One byte of small files in three is written in small requests.
        let truth = (4.0 + 2.0 * 2.0) / (4.0 / 3.0_f64.sqrt() + 2.0 * 2.0_f64.sqrt());
        assert!((gain.likely - truth).abs() < 1e-9, "{gain:?} instead of {truth}");
    }
}
