//! Adds to an unknown that its experiment ended early, or did not start, and what would have let it go on.

use flashscope_record::finding::{Finding, FindingId, Outcome, Reason, WouldDecide};
use flashscope_record::observation::{Data, Ended, Observations, Source};

/// The same finding; an unknown names the early end of its experiments.
pub fn with_early_ends(mut finding: Finding, observations: &[Observations]) -> Finding {
    let Outcome::Unknown { reason, would_decide } = &mut finding.outcome else { return finding };
    if observations.iter().any(wrote) {
        without_write_tests(would_decide);
    }
    for seen in observations.iter().filter(|seen| concerns(finding.id, &seen.data)) {
        match &seen.ended {
            Ended::Complete => {}
            Ended::NotStarted { reason: refusal, would_decide: needed } => {
                *reason = Reason::NotStarted(refusal.clone());
                if !needed.is_empty() {
                    would_decide.clone_from(needed);
                }
            }
            Ended::Early { reason: stop, cause } => {
                *reason = reason.clone().ended_early(stop.clone());
                if let Some(needed) = cause.would_decide() {
                    *would_decide = vec![needed];
                }
            }
        }
    }
    finding
}

/// What else would decide, where write tests were made and did not.
fn without_write_tests(would_decide: &mut Vec<WouldDecide>) {
    let before = would_decide.len();
    would_decide.retain(|each| *each != WouldDecide::WriteTests);
    if would_decide.is_empty() && before > 0 {
        *would_decide = vec![WouldDecide::QuieterMachine, WouldDecide::FasterPort];
    }
}

/// Whether these are of a write test that started.
fn wrote(seen: &Observations) -> bool {
    seen.data.facts().is_write_test()
        && matches!(seen.conditions.source, Source::Measured)
        && !matches!(seen.ended, Ended::NotStarted { .. })
}

/// Whether a finding rests on such data.
pub fn concerns(id: FindingId, data: &Data) -> bool {
    data.facts().findings().contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_record::finding::Quantity;
    use flashscope_record::observation::{
        AlignData, BlockEndsData, Conditions, FatAreaData, OpenUnitsData, Refusal, WriteSizeData,
    };

    /// Whether write tests are asked for, by a finding that they would decide, after this experiment.
    fn asks_for_write_tests(data: &Data, source: Source, ended: Ended) -> bool {
        let conditions = Conditions { source, capacity: None, region: None, is_in_file: false, seed: 1 };
        let seen = Observations { data: data.clone(), conditions, ended };
        let tests = [WouldDecide::WriteTests];
        let finding = Finding::unknown(FindingId::EraseBlockBytes, Reason::NothingFits, tests);
        let Outcome::Unknown { would_decide, .. } = with_early_ends(finding, &[seen]).outcome else {
            panic!("{data:?} decides nothing")
        };
        would_decide.contains(&WouldDecide::WriteTests)
    }

    #[test]
    fn every_kind_of_write_test_counts_as_made_once_it_has_started_here() {
        for data in [
            Data::WriteSize(WriteSizeData::default()),
            Data::OpenUnits(OpenUnitsData::default()),
            Data::FatArea(FatAreaData::default()),
            Data::BlockEnds(BlockEndsData::default()),
        ] {
            assert!(!asks_for_write_tests(&data, Source::Measured, Ended::Complete), "{data:?}");
            let refused = Ended::NotStarted { reason: Refusal::ReadOnly, would_decide: Vec::new() };
            assert!(asks_for_write_tests(&data, Source::Measured, refused), "{data:?}");
            let log = Source::Published { program: "flashbench".to_owned(), devices: Vec::new() };
            assert!(asks_for_write_tests(&data, log, Ended::Complete), "{data:?}");
        }
        let reads = Data::Align(AlignData::default());
        assert!(asks_for_write_tests(&reads, Source::Measured, Ended::Complete));
    }

    #[test]
    fn write_tests_that_were_made_are_no_longer_asked_for() {
        let left = |mut would_decide: Vec<WouldDecide>| {
            without_write_tests(&mut would_decide);
            would_decide
        };
        let (tests, fill) = (WouldDecide::WriteTests, WouldDecide::Fill);
        assert_eq!(left(vec![tests.clone()]), [WouldDecide::QuieterMachine, WouldDecide::FasterPort]);
        assert_eq!(left(vec![tests.clone(), fill.clone()]), std::slice::from_ref(&fill));
        assert_eq!(left(vec![fill.clone(), tests]), [fill]);
        let larger = WouldDecide::Larger(Quantity::Device);
        assert_eq!(left(vec![larger.clone()]), [larger]);
        assert_eq!(left(Vec::new()), []);
    }
}
