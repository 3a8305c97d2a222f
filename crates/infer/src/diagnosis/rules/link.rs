//! Rule *link* or *reader*: whether the link is full, and the gain of a faster one.

use flashscope_record::attachment::Link;
use flashscope_record::diagnosis::{Bottleneck, DiagnosisEvidence, DiagnosisReason, LinkUse, Untested};

use crate::diagnosis::gain::{Counterfactual, Range};
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::link_path::{FULL_MIN, LinkPath};
use crate::diagnosis::partial_pages::misalignment;
use crate::diagnosis::workload::{CopyPart, Workload};

/// At least this share of a time per byte remains. Guess: it keeps gains finite.
const LEFT_MIN: f64 = 0.05;

pub fn counterfactual(inputs: &Inputs<'_>, workload: &Workload) -> Result<Option<Counterfactual>, Untested> {
    let Some(link) = inputs.link() else {
        return Err(Untested { bottleneck: Bottleneck::Link, reason: DiagnosisReason::NoLink });
    };
    let Some(path) = LinkPath::full(inputs, link) else { return Ok(None) };
    let Some(faster_bytes_per_s) = path.faster_bytes_per_s(link) else { return Ok(None) };
    let misalignment = misalignment(inputs);
    let without = CopyPart::ALL.map(|part| {
        let now = workload.time_per_byte(part).seconds;
        let saved = path.saved_per_byte(inputs, part, faster_bytes_per_s)?;
        // A faster link no longer hides the time of partial pages.
        let revealed = misalignment.as_ref().map_or(0.0, |extra| extra.total(part) - extra.visible(part));
        let left = |saved: f64| (now - saved + revealed).max(now * LEFT_MIN);
        Some(Range { low: left(saved.high), likely: left(saved.likely), high: left(saved.low) })
    });
    let bottleneck = if link.is_card_reader { Bottleneck::Reader } else { Bottleneck::Link };
    Ok(Some(Counterfactual { bottleneck, without, evidence: evidence(link, path.bytes_per_s) }))
}

fn evidence(link: &Link, bytes_per_s: f64) -> DiagnosisEvidence {
    let low = link.bytes_per_s.0;
    let link_use = match bytes_per_s {
        speed if speed >= low => LinkUse::Within,
        speed if speed >= FULL_MIN * low => LinkUse::Close,
        _ => LinkUse::WithoutCommands,
    };
    let device_fastest = link.device_fastest.as_ref().map(|range| range.kind.clone());
    DiagnosisEvidence::Link { bytes_per_s, link_use, link: link.range(), device_fastest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_compares_the_measured_speed_with_the_range_of_the_link() {
        let link = Link::usb(480.0, Some(5000.0)).unwrap();
        let link_use = |measured| match evidence(&link, measured) {
            DiagnosisEvidence::Link { bytes_per_s, link_use, .. } if bytes_per_s == measured => {
                Some(link_use)
            }
            _ => None,
        };
        let uses = [36e6, 26e6, 20e6].map(link_use);
        assert_eq!(uses, [LinkUse::Within, LinkUse::Close, LinkUse::WithoutCommands].map(Some));
    }
}
