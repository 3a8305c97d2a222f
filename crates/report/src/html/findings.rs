//! The table of findings: value, interval, confidence, evidence, caveats.

use flashscope_record::finding::{
    Caveat, Confidence, Evidence, Finding, FindingId, Outcome, Reason, WouldDecide,
};
use maud::{Markup, html};

use super::prose::prose;
use crate::Report;
use crate::printable::printable;
use crate::quantity::percent;
use crate::terms::{finding_title, value_text};
use crate::words;
use crate::words::interval;

pub fn section(report: &Report<'_>) -> Markup {
    let findings: Vec<&Finding> = FindingId::ALL.into_iter().filter_map(|id| report.finding(id)).collect();
    let only_speeds = findings.is_empty() && !crate::speeds(report.run).is_empty();
    html! {
        @if !only_speeds { section class="findings" {
            h2 { "Findings" }
            @if findings.is_empty() {
                p { "No findings." }
            } @else {
                table {
                    thead { tr { th scope="col" { "Finding" } th scope="col" { "Value" } th scope="col" { "How sure" } th scope="col" { "Evidence" } } }
                    tbody { @for finding in findings { (row(finding)) } }
                }
            }
        } }
    }
}

fn row(finding: &Finding) -> Markup {
    html! {
        tr {
            th scope="row" { (finding_title(finding.id)) }
            @match &finding.outcome {
                Outcome::Found { value, confidence, .. } => {
                    td class="value" {
                        strong { (prose(&value_text(*value))) }
                        @if let Some(interval) = interval(finding) { br; span class="muted" { (prose(&interval)) } }
                    }
                    td class="sure" { (bar(*confidence)) }
                    td class="why" { (evidence_and_caveats(finding.evidence.as_ref(), &finding.caveats)) }
                },
                Outcome::Unknown { reason, would_decide } => {
                    td class="value" { em { "unknown" } }
                    td class="sure muted" { "unknown" }
                    td class="why" { (unknown(reason, would_decide)) (evidence_and_caveats(finding.evidence.as_ref(), &finding.caveats)) }
                },
            }
        }
    }
}

fn bar(confidence: Confidence) -> Markup {
    let width = format!("width:{:.0}%", confidence.get() * 100.0);
    html! {
        span { (words::confidence_level(confidence)) ", " (prose(&percent(confidence))) }
        span class="bar" aria-hidden="true" { span style=(width) {} }
    }
}

fn evidence_and_caveats(evidence: Option<&Evidence>, caveats: &[Caveat]) -> Markup {
    html! {
        @if let Some(evidence) = evidence { p { (line(&words::evidence(evidence))) } }
        @for caveat in caveats { p class="caveat" { (line(&words::caveat(caveat))) } }
    }
}

/// Text of an inference, printable, with no-break spaces before units.
fn line(text: &str) -> Markup {
    prose(&printable(text))
}

fn unknown(reason: &Reason, would_decide: &[WouldDecide]) -> Markup {
    html! {
        p { (line(&words::reason(reason))) }
        @if !would_decide.is_empty() { p { "What would decide it: " (line(&words::would_decide(would_decide))) } }
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::finding::{ReadEvidence, Value};
    use flashscope_record::observation::{
        Conditions, Data, Direction, Ended, Observations, Order, Source, SpeedCase, SpeedCell, SpeedData,
    };
    use flashscope_record::run_file::RunFile;

    use super::*;

    #[test]
    fn only_a_run_of_nothing_but_speeds_has_no_section_of_findings() {
        let text = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let nothing = RunFile::parse(text).unwrap();
        let mut speeds = nothing.clone();
        let (direction, order) = (Direction::Write, Order::Linear);
        let case = SpeedCase { direction, order, request: Bytes::mib(1), queue_depth: 1 };
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
        let data = Data::Speed(SpeedData { cells: vec![SpeedCell::new(case)], ..SpeedData::default() });
        speeds.observations.push(Observations { data, conditions, ended: Ended::Complete });
        let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 2e-4, noise_s: 1e-6 });
        let page = Value::Bytes(Bytes::kib(32));
        let findings = [Finding::exact(FindingId::PageBytes, page, Confidence::new(0.9), evidence)];
        let shown = |run: &RunFile, found: &[Finding]| section(&Report::new(run, found)).into_string();
        assert_eq!(shown(&speeds, &[]), "");
        assert!(shown(&nothing, &[]).contains("No findings."), "{}", shown(&nothing, &[]));
        for run in [&nothing, &speeds] {
            let table = shown(run, &findings);
            assert!(table.contains("<h2>Findings</h2>") && table.contains("<table>"), "{table}");
        }
    }
}
