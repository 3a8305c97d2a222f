//! Whether the first of several reads near each other takes longer: the controller then loads something for
//! them, such as a part of its map, and a boundary in reads may be where the next part begins.

use std::collections::BTreeMap;

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Boundary, Confidence, Evidence, Finding, Outcome, ReadEvidence, ReadPenalty, Value,
};
use flashscope_record::observation::AlignSample;

use crate::copying::PAGE_READ_SECONDS;
use crate::statistics::{count, median, rank_correlation};
use crate::thresholds::{AS_LIKELY_AS_NOT, CLEAR};

/// A read across the boundary of two parts loads at most both: it takes this many times as long as loading
/// one.
const PARTS_ACROSS: f64 = 2.0;

/// The finding with half its confidence if the step at the erase block's boundaries is no longer than what
/// loading parts of a map explains: both causes are then as likely as not.
pub fn unless_loaded(mut finding: Finding, samples: &[AlignSample]) -> Finding {
    let Some(step_s) = block_step_s(&finding) else { return finding };
    if loading_s(samples).is_some_and(|loading_s| step_s <= PARTS_ACROSS * loading_s)
        && let Outcome::Found { confidence, .. } = &mut finding.outcome
    {
        *confidence = Confidence::new(confidence.get() * (1.0 - AS_LIKELY_AS_NOT));
    }
    finding
}

/// The extra time across the boundaries of the erase block that reads show, seconds.
fn block_step_s(finding: &Finding) -> Option<f64> {
    match (finding.value()?, finding.evidence.as_ref()?) {
        (Value::Shows(Some(ReadPenalty { boundary: Boundary::EraseBlock(_), extra_s })), _) => Some(extra_s),
        (_, Evidence::Reads(ReadEvidence::EraseBlock { extra_s, .. })) => Some(*extra_s),
        _ => None,
    }
}

/// How much longer the first of the three reads at a place takes, seconds, if those that follow it find what
/// it loaded; `None` if the reads do not depend on each other. Their sequence is random, so that the read
/// across is fast where one beside it was slow.
pub fn loading_s(samples: &[AlignSample]) -> Option<f64> {
    let across = without_medians(samples, |sample| sample.across.as_secs_f64());
    let beside = without_medians(samples, |sample| sample.before.as_secs_f64() + sample.after.as_secs_f64());
    let errors = rank_correlation(&across, &beside) * count(samples.len()).sqrt();
    let spread = |sample: &AlignSample| {
        let times = [sample.before, sample.across, sample.after].map(|time| time.as_secs_f64());
        times.into_iter().fold(0.0, f64::max) - times.into_iter().fold(f64::INFINITY, f64::min)
    };
    let loading_s = median(&samples.iter().map(spread).collect::<Vec<_>>())?;
    // Of 59 sticks of the zoo (seed 901), the lowest has -2.6. Of 22 sticks with several parts of a map in
    // memory, the highest of those with a wrong erase block has -6.5.
    (errors <= -CLEAR && loading_s >= PAGE_READ_SECONDS).then_some(loading_s)
}

/// The times without the median of their candidate, whose boundaries have their own step on either side.
fn without_medians(samples: &[AlignSample], seconds: impl Fn(&AlignSample) -> f64) -> Vec<f64> {
    let mut of_candidate: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        of_candidate.entry(sample.candidate).or_default().push(seconds(sample));
    }
    let medians: BTreeMap<Bytes, f64> = of_candidate
        .into_iter()
        .filter_map(|(candidate, times)| Some((candidate, median(&times)?)))
        .collect();
    let rest = |sample| seconds(sample) - medians.get(&sample.candidate).copied().unwrap_or(0.0);
    samples.iter().map(rest).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use flashscope_record::finding::FindingId;

    use super::*;

    const BLOCK: Bytes = Bytes::mib(4);

    /// A number without pattern for each number (G. Marsaglia, Journal of Statistical Software 8(14), 2003).
    pub(crate) fn scattered(number: u32) -> u32 {
        let mut state = number.wrapping_mul(2_654_435_761).wrapping_add(88_675_123);
        for _ in 0..4 {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
        }
        state
    }

    /// Reads at boundaries of 64 KiB and of a block of 4 MiB, whose step is 100 µs. The first read at each
    /// place, in random sequence, takes this much longer.
    pub(crate) fn samples(first_us: f64) -> Vec<AlignSample> {
        let sample = |index: u32| {
            let is_at_block = index.is_multiple_of(3);
            let noise_us = |at: u32| f64::from(scattered(index * 3 + at) % 1000) * 0.004;
            let time = |at: u32| {
                let load_us = if index / 3 % 3 == at { first_us } else { 0.0 };
                let step_us = if is_at_block && at == 1 { 100.0 } else { 0.0 };
                Duration::from_secs_f64((700.0 + load_us + step_us + noise_us(at)) * 1e-6)
            };
            let candidate = if is_at_block { BLOCK } else { Bytes::kib(64) };
            AlignSample { candidate, boundary: None, before: time(0), across: time(1), after: time(2) }
        };
        (0..120).map(sample).collect()
    }

    /// The confidence in that block.
    fn confidence(first_us: f64) -> f64 {
        let evidence =
            ReadEvidence::EraseBlock { size: BLOCK, extra_s: 1e-4, noise_s: 1e-6, others_to: None };
        let (value, evidence) = (Value::Bytes(BLOCK), Evidence::Reads(evidence));
        let found = Finding::exact(FindingId::EraseBlockBytes, value, Confidence::new(0.99), evidence);
        unless_loaded(found, &samples(first_us)).confidence().get()
    }

    #[test]
    fn reads_that_do_not_wait_for_each_other_load_nothing() {
        assert_eq!(loading_s(&samples(0.0)), None);
        assert!(loading_s(&samples(80.0)).is_some_and(|seconds| (seconds - 82e-6).abs() < 4e-6));
        assert_eq!(loading_s(&samples(15.0)), None, "no page is read in that time");
    }

    #[test]
    fn a_step_that_loading_a_map_explains_is_as_likely_no_block() {
        assert!((confidence(0.0) - 0.99).abs() < 1e-9, "no read loads anything");
        assert!((confidence(80.0) - 0.495).abs() < 1e-9, "two parts take longer than the step");
        assert!((confidence(30.0) - 0.99).abs() < 1e-9, "two parts take 60 µs, the step 100 µs");
    }

    /// Reads across the boundaries of the block take longer, and so do the reads before the other boundaries.
    #[test]
    fn boundaries_with_steps_of_their_own_load_nothing() {
        let step = Duration::from_micros(100);
        let mut samples = samples(0.0);
        for sample in samples.iter_mut().filter(|sample| sample.candidate != BLOCK) {
            sample.before += step;
        }
        assert_eq!(loading_s(&samples), None);
    }
}
