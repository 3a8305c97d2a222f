//! Where the time of an everyday copy goes: parts that sum to 100 %.

use flashscope_record::diagnosis::{Bottleneck, Diagnosis, DiagnosisEvidence};

use crate::words::diagnosis::stall_name;

/// A part of the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimePart {
    /// `small writes`.
    pub name: &'static str,
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// Whole percent; all parts sum to 100.
    pub percent: u32,
}

/// The parts, without those that round to 0 %.
pub fn parts(diagnosis: &Diagnosis) -> Vec<TimePart> {
    let shares = &diagnosis.time_shares;
    let exact: Vec<f64> = shares.iter().map(|share| share.share.clamp(0.0, 1.0) * 100.0).collect();
    let mut percents: Vec<u32> = exact.iter().map(|percent| percent.floor() as u32).collect();
    let missing = 100_u32.saturating_sub(percents.iter().sum());
    let mut by_rest: Vec<usize> = (0..exact.len()).collect();
    by_rest.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
    for index in by_rest.into_iter().cycle().take(if exact.is_empty() { 0 } else { missing as usize }) {
        percents[index] += 1;
    }
    let parts = shares.iter().zip(percents).filter(|(_, percent)| *percent > 0);
    parts
        .map(|(share, percent)| TimePart {
            name: name(share.bottleneck, diagnosis),
            bottleneck: share.bottleneck,
            percent,
        })
        .collect()
}

fn name(bottleneck: Bottleneck, diagnosis: &Diagnosis) -> &'static str {
    let evidence = diagnosis.cost(bottleneck).map(|cost| &cost.evidence);
    match bottleneck {
        Bottleneck::Link => "link",
        Bottleneck::Reader => "card reader",
        Bottleneck::Driver => "split requests",
        Bottleneck::SmallWrites => "small writes",
        Bottleneck::Alignment => "misaligned partition",
        Bottleneck::Filesystem => "misaligned filesystem",
        Bottleneck::OpenUnits => "merges",
        Bottleneck::SlcCache => match evidence {
            Some(DiagnosisEvidence::Slowdown { .. }) => "full cache",
            Some(DiagnosisEvidence::Stalls { cause, .. }) => stall_name(*cause),
            _ => "long copies",
        },
        Bottleneck::DataSource => "data source",
        Bottleneck::PageCache => "page cache",
        Bottleneck::Flash => "flash",
    }
}

#[cfg(test)]
mod tests {
    use flashscope_record::diagnosis::{Conclusion, Decider, DiagnosisReason, TimeShare};

    use super::*;

    #[test]
    fn parts_sum_to_100_percent_whatever_the_shares() {
        for count in 1..6_u32 {
            let share = TimeShare { bottleneck: Bottleneck::Flash, share: 1.0 / f64::from(count) };
            let conclusion = Conclusion::Unknown {
                reason: DiagnosisReason::NoSizeSweep,
                would_decide: Decider::WriteTests,
            };
            let diagnosis =
                Diagnosis { time_shares: vec![share; count as usize], ..Diagnosis::new(conclusion) };
            let sum: u32 = parts(&diagnosis).iter().map(|part| part.percent).sum();
            assert_eq!(sum, 100, "{count} shares");
        }
    }
}
