//! Whether reads across any boundaries take longer, whatever their size: this separates sticks with visible
//! geometry from others.

use flashscope_device::Bytes;
use flashscope_record::finding::{
    Boundary, Confidence, Evidence, Finding, FindingId, LogFault, Outcome, Quantity, ReadEvidence,
    ReadPenalty, Reason, Sample, Value, WouldDecide,
};
use flashscope_record::observation::AlignSample;

use crate::geometry::read_times::{ReadTimes, rows_agree};
use crate::geometry::staircase::{Explanation, Positions};
use crate::statistics::{count, median};
use crate::thresholds::{CLEAR, MODEL_ERROR, SURE_ENOUGH};

const ID: FindingId = FindingId::ReadBoundarySignal;
/// The least step in units of the noise; without that, its absence decides nothing. Guess.
const STEP_NOISES_MIN: f64 = 3.0;
/// At least this share of the reads across boundaries is on the slow side, and of the others on the fast
/// side. Guess.
const HITS_MIN: f64 = 0.55;
const WOULD_DECIDE: [WouldDecide; 1] = [WouldDecide::QuieterMachine];

/// Whether a boundary shows, and the extra time of a read across it: at an erase block if one shows, else at
/// a page.
#[must_use]
pub fn boundary_signal(
    explanations: &[Explanation],
    positions: Positions,
    samples: &[AlignSample],
    reads: ReadTimes,
) -> Finding {
    let ReadTimes { read_s, step_min_s, .. } = reads;
    let Some(best) = explanations.first() else {
        let reason = Reason::TooFew { number: None, sample: Sample::Boundaries };
        return Finding::unknown(ID, reason, [WouldDecide::Larger(Quantity::Device)]);
    };
    let probability = |counts: &dyn Fn(&Explanation) -> bool| -> f64 {
        explanations.iter().filter(|each| counts(each)).map(|each| each.probability).sum()
    };
    let counts =
        |each: &Explanation| each.at_block().or_else(|| largest(each)).is_some_and(|step| step >= step_min_s);
    let shown = probability(&counts);
    let none = probability(&|each| largest(each).is_none());
    let seen = explanations.iter().find(|each| counts(each));
    match seen.and_then(|each| Some((each, penalty(each, step_min_s)?))) {
        Some((explanation, penalty)) if shown >= SURE_ENOUGH => {
            if !single_reads_agree(explanation, samples, positions) {
                let reason = match positions {
                    Positions::Coprime => Reason::SingleReadsDisagree { block: None, slow: None },
                    Positions::OddMultiples => Reason::Log(LogFault::OutlierRows { block: None }),
                };
                return Finding::unknown(ID, reason, WOULD_DECIDE);
            }
            let evidence = Evidence::Reads(ReadEvidence::Slower { extra_s: penalty.extra_s, read_s });
            Finding::exact(ID, Value::Shows(Some(penalty)), confidence(shown), evidence)
        }
        // The noise of a published table is not known: what it does not show may be hidden by it.
        _ if positions == Positions::Coprime
            && none >= SURE_ENOUGH
            && best.noise * STEP_NOISES_MIN <= step_min_s =>
        {
            let evidence = Evidence::Reads(ReadEvidence::Alike { read_s, noise_s: best.noise });
            Finding::exact(ID, Value::Shows(None), confidence(none), evidence)
        }
        _ => {
            let reason = Reason::WithinNoise { boundaries_from: None, read_s, noise_s: best.noise };
            Finding::unknown(ID, reason, WOULD_DECIDE)
        }
    }
}

const fn confidence(probability: f64) -> Confidence {
    Confidence::new(probability * (1.0 - MODEL_ERROR))
}

/// The signal with the boundary as far as it is known. A step at a block of another size than the finding's,
/// or of an unknown size, is one at an undecided boundary.
#[must_use]
pub fn unless_block_differs(mut signal: Finding, block: Option<Bytes>) -> Finding {
    if let Outcome::Found { value, low, high, .. } = &mut signal.outcome {
        for value in [value, low, high] {
            if let Value::Shows(Some(ReadPenalty { boundary: boundary @ Boundary::EraseBlock(_), .. })) =
                value
                && block.map(Boundary::EraseBlock) != Some(*boundary)
            {
                *boundary = Boundary::Undecided;
            }
        }
    }
    signal
}

/// The step at a block's boundary if it counts alone, else the largest at a page's.
fn penalty(explanation: &Explanation, step_min_s: f64) -> Option<ReadPenalty> {
    let at = |boundary| move |extra_s| ReadPenalty { extra_s, boundary };
    let block = explanation.block.map(|level| Boundary::EraseBlock(level.size()));
    let of_block = explanation.block_step().zip(block).map(|(step, block)| at(block)(step));
    let of_page = largest_of_pages(explanation).map(at(Boundary::Page));
    of_block.filter(|penalty| penalty.extra_s >= step_min_s).or(of_page).or(of_block)
}

/// The step at a block's boundary, else the largest at a page's, seconds.
fn largest(explanation: &Explanation) -> Option<f64> {
    explanation.block_step().or_else(|| largest_of_pages(explanation))
}

fn largest_of_pages(explanation: &Explanation) -> Option<f64> {
    explanation.coefficients.iter().skip(1).take(explanation.pages.len()).copied().reduce(f64::max)
}

/// Whether single reads agree: most reads with an expected step lie above the middle between both groups,
/// most others below. For a published table, rows are compared instead, one of which may be an outlier.
fn single_reads_agree(explanation: &Explanation, samples: &[AlignSample], positions: Positions) -> bool {
    let expected = |sample: &&AlignSample| {
        let at_block = explanation.block.is_some_and(|level| sample.candidate.is_multiple_of(level.size()));
        let of_block = explanation.block_step().filter(|_| at_block).unwrap_or(0.0);
        of_block + explanation.of_pages(sample.candidate)
    };
    let most = samples.iter().map(|sample| expected(&sample)).fold(0.0, f64::max);
    let (across, beside): (Vec<&AlignSample>, Vec<&AlignSample>) =
        samples.iter().partition(|sample| expected(sample) > most / 2.0);
    let differences =
        |samples: &[&AlignSample]| samples.iter().map(|sample| sample.difference()).collect::<Vec<f64>>();
    let (across, beside) = (differences(&across), differences(&beside));
    if positions == Positions::OddMultiples {
        return rows_agree(&across, &beside);
    }
    let (Some(high), Some(low)) = (median(&across), median(&beside)) else { return true };
    let middle = f64::midpoint(high, low);
    let above = |values: &[f64]| {
        count(values.iter().filter(|value| **value > middle).count()) / count(values.len().max(1))
    };
    let (hits, misses) = (above(&across), above(&beside));
    let error = (0.25 / count(across.len()) + 0.25 / count(beside.len())).sqrt();
    hits >= HITS_MIN && misses <= 1.0 - HITS_MIN && hits - misses > CLEAR * error
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::geometry::staircase::{Level, Step, explain};

    const READ: f64 = 700e-6;
    const READS: ReadTimes = ReadTimes {
        read_s: READ,
        step_min_s: READ * 0.02,
        hardly: f64::INFINITY,
        block_min: Bytes::kib(64),
        is_published: false,
    };

    /// Reads whose extra time at multiples of 4 MiB is this, with this much noise.
    fn found(extra_us: f64, noise_us: f64) -> Finding {
        let candidates: Vec<Bytes> = (0..20).map(|shift| Bytes::kib(1 << shift)).collect();
        let noise = [0.3, -0.5, 0.1, 0.8, -0.2, -0.4, 0.6].map(|share| share * noise_us);
        let extra = |candidate: Bytes, index: usize| {
            let step = if candidate.is_multiple_of(Bytes::mib(4)) { extra_us } else { 0.0 };
            step + noise[index % noise.len()]
        };
        let eight_times = || candidates.iter().flat_map(|candidate| [candidate; 8]);
        let samples: Vec<AlignSample> = eight_times()
            .enumerate()
            .map(|(index, candidate)| AlignSample {
                candidate: *candidate,
                boundary: Some(*candidate),
                before: Duration::from_secs_f64(READ),
                across: Duration::from_secs_f64(READ + extra(*candidate, index) * 1e-6),
                after: Duration::from_secs_f64(READ),
            })
            .collect();
        let steps: Vec<Step> = crate::geometry::align::steps(&samples);
        let explanations = explain(&steps, Positions::Coprime, READ);
        boundary_signal(&explanations, Positions::Coprime, &samples, READS)
    }

    #[test]
    fn a_step_is_reported_with_its_size() {
        let finding = found(200.0, 4.0);
        let Some(Value::Shows(Some(penalty))) = finding.value() else { panic!("{finding:?}") };
        assert!((penalty.extra_s - 200e-6).abs() < 10e-6, "{penalty:?}");
        assert_eq!(penalty.boundary, Boundary::EraseBlock(Bytes::mib(4)));
        let boundary = |block| match unless_block_differs(finding.clone(), block).value() {
            Some(Value::Shows(Some(penalty))) => penalty.boundary,
            value => panic!("{value:?}"),
        };
        assert_eq!(boundary(Some(Bytes::mib(4))), penalty.boundary);
        assert_eq!(boundary(Some(Bytes::mib(8))), Boundary::Undecided);
        assert_eq!(boundary(None), Boundary::Undecided);
    }

    #[test]
    fn a_step_that_is_as_large_inside_a_block_is_one_of_pages() {
        let block = |step: f64| Explanation {
            pages: vec![Level::Multiples(Bytes::kib(2))],
            block: Some(Level::Multiples(Bytes::mib(4))),
            coefficients: vec![0.0, 150e-6, step],
            noise: 1e-6,
            probability: 1.0,
        };
        let boundary = |step| penalty(&block(step), READS.step_min_s).map(|penalty| penalty.boundary);
        assert_eq!(boundary(2e-6), Some(Boundary::Page));
        assert_eq!(boundary(90e-6), Some(Boundary::EraseBlock(Bytes::mib(4))));
    }

    #[test]
    fn quiet_reads_without_a_step_show_no_boundary() {
        assert_eq!(found(0.0, 4.0).value(), Some(Value::Shows(None)));
    }

    #[test]
    fn noise_as_large_as_a_step_leaves_the_signal_unknown() {
        assert_eq!(found(0.0, 400.0).value(), None);
    }

    #[test]
    fn a_page_alone_is_a_signal() {
        let page = Explanation {
            pages: vec![Level::Multiples(Bytes::kib(16))],
            block: None,
            coefficients: vec![0.0, 90e-6],
            noise: 1e-6,
            probability: 1.0,
        };
        let row = |size: u64, extra_us: u64| AlignSample {
            candidate: Bytes::kib(size),
            boundary: None,
            before: Duration::from_secs_f64(READ),
            across: Duration::from_secs_f64(READ) + Duration::from_micros(extra_us),
            after: Duration::from_secs_f64(READ),
        };
        let rows = [(4, 0), (8, 1), (16, 90), (32, 91), (64, 89)].map(|(size, extra_us)| row(size, extra_us));
        let of = |rows: &[AlignSample]| {
            boundary_signal(std::slice::from_ref(&page), Positions::OddMultiples, rows, READS)
        };
        assert_eq!(of(&rows[..3]).value(), None, "a single row");
        let finding = of(&rows);
        let penalty = ReadPenalty { extra_s: 90e-6, boundary: Boundary::Page };
        assert_eq!(finding.value(), Some(Value::Shows(Some(penalty))));
    }
}
