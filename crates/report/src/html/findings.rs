//! The table of findings: value, interval, confidence, evidence, caveats.

use flashscope_record::finding::{Confidence, Finding, FindingId, Outcome};
use maud::{Markup, html};

use crate::Report;
use crate::bound::bound;
use crate::clean::printable;
use crate::quantity::percent;
use crate::words::interval;

pub fn section(report: &Report<'_>) -> Markup {
    let findings: Vec<&Finding> = FindingId::ALL.into_iter().filter_map(|id| report.finding(id)).collect();
    let only_speeds = findings.is_empty() && !crate::speeds(report.run).is_empty();
    html! {
        @if !only_speeds { section class="findings" {
            h2 { "Findings" }
            @if findings.is_empty() {
                p { "Nothing was inferred." }
            } @else {
                table {
                    thead { tr { th scope="col" { "What" } th scope="col" { "Value" } th scope="col" { "How sure" } th scope="col" { "Why" } } }
                    tbody { @for finding in findings { (row(finding)) } }
                }
            }
        } }
    }
}

fn row(finding: &Finding) -> Markup {
    html! {
        tr {
            th scope="row" { (finding.id.title()) }
            @match &finding.outcome {
                Outcome::Found { value, confidence, .. } => {
                    td class="value" {
                        strong { (bound(&value.to_string())) }
                        @if let Some(interval) = interval(finding) { br; span class="muted" { (bound(&interval)) } }
                    }
                    td class="sure" { (bar(*confidence)) }
                    td class="why" { (why(&finding.evidence, &finding.caveats)) }
                },
                Outcome::Unknown { reason, would_decide } => {
                    td class="value" { em { "unknown" } }
                    td class="sure muted" { "not known" }
                    td class="why" { (unknown(reason, would_decide)) (why(&finding.evidence, &finding.caveats)) }
                },
            }
        }
    }
}

fn bar(confidence: Confidence) -> Markup {
    let width = format!("width:{:.0}%", confidence.get() * 100.0);
    html! {
        span { (confidence.words()) ", " (bound(&percent(confidence))) }
        span class="bar" aria-hidden="true" { span style=(width) {} }
    }
}

fn why(evidence: &str, caveats: &[String]) -> Markup {
    html! {
        @if !evidence.is_empty() { p { (line(evidence)) } }
        @for caveat in caveats { p class="caveat" { (line(caveat)) } }
    }
}

/// Text from an inference, harmless and with its numbers held to their units.
fn line(text: &str) -> String {
    bound(&printable(text))
}

fn unknown(reason: &str, would_decide: &str) -> Markup {
    html! {
        p { (line(reason)) }
        @if !would_decide.is_empty() { p { "What would decide it: " (line(would_decide)) } }
    }
}
