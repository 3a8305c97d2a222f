//! The bottleneck, and the gain of removing it.

use flashscope_record::diagnosis::{
    Bottleneck, Conclusion, Cost, Diagnosis, GAIN_REPORTED_MIN, Gain, Untested,
};

use super::diagnosis::{bottleneck_title, cost_title, decider_text, evidence_text, reason_text};
use super::sentence::Sentence;

pub fn sentences(diagnosis: &Diagnosis) -> Vec<Sentence> {
    let is_unknown = matches!(diagnosis.conclusion, Conclusion::Unknown { .. });
    if is_unknown && diagnosis.costs.is_empty() && diagnosis.untested.is_empty() {
        // No write was measured; "How sure" reports that.
        return Vec::new();
    }
    let first = match &diagnosis.conclusion {
        Conclusion::Bottleneck(cost) => format!(
            "{}. Without it, an everyday copy (large files, some small ones, several at once) would be {}",
            cost_text(cost),
            gain_text(cost.gain)
        ),
        Conclusion::Flash(evidence) => {
            format!("{}: {}", bottleneck_title(Bottleneck::Flash), evidence_text(evidence))
        }
        Conclusion::Unknown { reason, would_decide } => {
            format!("unknown: {}. What would decide it: {}", reason_text(reason), decider_text(would_decide))
        }
    };
    let others = diagnosis.costs.iter().skip(1).filter(|cost| cost.gain.likely >= GAIN_REPORTED_MIN);
    let others = others.map(|cost| format!("{}. Without it: {}", cost_text(cost), gain_text(cost.gain)));
    let small = diagnosis.small_files.as_ref();
    let small = small.filter(|cost| diagnosis.bottleneck() != Some(cost.bottleneck));
    let small = small.map(|cost| {
        format!("small files alone are limited by {}. Without it: {}", cost_text(cost), gain_text(cost.gain))
    });
    let untested = diagnosis.untested.iter();
    let untested = untested.filter(|each| !is_unknown && each.bottleneck != Bottleneck::Alignment);
    let untested = untested.map(|Untested { bottleneck, reason }| {
        format!("not tested: {} ({})", bottleneck_title(*bottleneck), reason_text(reason))
    });
    std::iter::once(first).chain(others).chain(small).chain(untested).map(Sentence::new).collect()
}

/// The bottleneck with its evidence: `small writes: a write of 4 KiB takes 4.4 ms`.
fn cost_text(cost: &Cost) -> String {
    format!("{}: {}", cost_title(cost), evidence_text(&cost.evidence))
}

/// `1.4 to 2.1 times as fast`.
pub fn gain_text(gain: Gain) -> String {
    let number = |ratio: f64| if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") };
    let (low, high) = (number(gain.low), number(gain.high));
    match low.as_str() {
        "1.0" => format!("up to {high} times as fast"),
        _ => format!("{low} to {high} times as fast"),
    }
}
