//! Where the time of the everyday copy goes, and the gain of copying small files as one archive.

use flashscope_record::diagnosis::{ArchiveGain, Bottleneck, DiagnosisEvidence, TimeShare};

use crate::diagnosis::gain::{Counterfactual, Range};
use crate::diagnosis::workload::{CopyPart, EVERYDAY, SMALL_FILES, Workload};

/// The shares of the time. Bottlenecks are removed one after the other, that of the largest gain first: each
/// takes the time that its removal saves of what is left. What remains is the flash's own.
pub fn time_shares(counterfactuals: &[Counterfactual], workload: &Workload) -> Vec<TimeShare> {
    let mut left = CopyPart::ALL.map(|part| workload.time_per_byte(part).seconds);
    let total = time_of(&left);
    if !total.is_finite() || total <= 0.0 {
        return Vec::new();
    }
    let likely = |each: &Counterfactual| each.gain(workload, &EVERYDAY).map(|gain| gain.likely);
    let with_gain = counterfactuals.iter().filter_map(|each| Some((each, likely(each)?)));
    let mut with_gain: Vec<(&Counterfactual, f64)> = with_gain.collect();
    with_gain.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut shares = Vec::new();
    for (counterfactual, _) in with_gain {
        let before = time_of(&left);
        for (seconds, without) in left.iter_mut().zip(&counterfactual.without) {
            *seconds = without.map_or(*seconds, |without| without.at_most(*seconds).likely.max(0.0));
        }
        let share = (before - time_of(&left)) / total;
        shares.push(TimeShare { bottleneck: counterfactual.bottleneck, share });
    }
    shares.push(TimeShare { bottleneck: Bottleneck::Flash, share: time_of(&left) / total });
    shares
}

/// The time of the everyday copy for each of its bytes, seconds.
fn time_of(seconds: &[f64; 4]) -> f64 {
    seconds.iter().zip(EVERYDAY).map(|(seconds, share)| seconds * share).sum()
}

/// The gain where the small parts of a copy are written like a large file.
pub fn archive_gain(workload: &Workload) -> ArchiveGain {
    let large = workload.time_per_byte(CopyPart::Large);
    let as_large = Some(Range::within(large.seconds, large.factor));
    let archive = Counterfactual {
        bottleneck: Bottleneck::SmallWrites,
        without: [None, None, as_large, as_large],
        evidence: DiagnosisEvidence::Flash { single_bytes_per_s: 0.0, long_bytes_per_s: 0.0 },
    };
    ArchiveGain {
        everyday: archive.gain(workload, &EVERYDAY),
        small_files: archive.gain(workload, &SMALL_FILES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counterfactual(bottleneck: Bottleneck, without: [Option<f64>; 4]) -> Counterfactual {
        let without = without.map(|each| each.map(|seconds| Range::within(seconds, 1.1)));
        let evidence = DiagnosisEvidence::Flash { single_bytes_per_s: 1.0, long_bytes_per_s: 1.0 };
        Counterfactual { bottleneck, without, evidence }
    }

    #[test]
    fn shares_sum_to_one_and_each_part_of_the_time_has_one_owner() {
        let workload = Workload::of([1.0, 1.0, 1.0, 100.0]);
        let both = [
            counterfactual(Bottleneck::SmallWrites, [None, None, None, Some(50.0)]),
            counterfactual(Bottleneck::OpenUnits, [None, None, None, Some(1.0)]),
        ];
        let shares = time_shares(&both, &workload);
        let named: Vec<Bottleneck> = shares.iter().map(|share| share.bottleneck).collect();
        assert_eq!(named, [Bottleneck::OpenUnits, Bottleneck::SmallWrites, Bottleneck::Flash]);
        let sum: f64 = shares.iter().map(|share| share.share).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{shares:?}");
        assert!(shares[1].share.abs() < 1e-12, "its time was saved before: {shares:?}");
        assert!((shares[0].share - 0.02 * 99.0 / 2.98).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn without_a_bottleneck_all_time_is_the_flashs_own() {
        let shares = time_shares(&[], &Workload::of([1.0; 4]));
        assert_eq!(shares, [TimeShare { bottleneck: Bottleneck::Flash, share: 1.0 }]);
    }

    #[test]
    fn an_archive_gains_what_small_files_lose() {
        let gain = archive_gain(&Workload::of([1.0, 1.0, 30.0, 30.0]));
        assert!(gain.small_files.is_some_and(|gain| (gain.likely - 30.0).abs() < 1e-9), "{gain:?}");
        assert!(gain.everyday.is_some_and(|gain| (gain.likely - 1.87).abs() < 1e-9), "{gain:?}");
        assert_eq!(archive_gain(&Workload::of([1.0; 4])), ArchiveGain::default());
    }
}
