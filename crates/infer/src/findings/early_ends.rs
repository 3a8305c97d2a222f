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
