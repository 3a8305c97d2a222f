//! Confidence: findings grouped by confidence, unknowns with their reasons, early ends.

use flashscope_record::finding::{Finding, FindingId, Outcome, Reason, WouldDecide};
use flashscope_record::observation::{Data, Ended, Observations, Source};

use super::confidence::{LEVELS, confidence_level, interval};
use super::ended::{refusal, stop};
use super::reason::reason;
use super::sentence::Sentence;
use super::would_decide::would_decide;
use crate::Report;
use crate::quantity::percent;
use crate::terms::{finding_title, title_and_value};

pub fn sentences(report: &Report<'_>) -> Vec<Sentence> {
    let findings: Vec<&Finding> = FindingId::ALL.into_iter().filter_map(|id| report.finding(id)).collect();
    let levels = LEVELS.into_iter().filter_map(|level| findings_at_level(&findings, level));
    let unknowns = unknowns(&findings);
    let all = levels.chain(unknowns).chain(published(report)).chain(early_end_texts(report));
    let sentences: Vec<Sentence> = all.map(Sentence::new).collect();
    if sentences.is_empty() {
        return vec![Sentence::new("nothing was measured")];
    }
    sentences
}

fn findings_at_level(findings: &[&Finding], level: &str) -> Option<String> {
    let items: Vec<String> = findings.iter().filter_map(|finding| finding_at_level(finding, level)).collect();
    (!items.is_empty()).then(|| format!("{level}: {}", items.join("; ")))
}

fn finding_at_level(finding: &Finding, level: &str) -> Option<String> {
    let Outcome::Found { value, confidence, .. } = &finding.outcome else { return None };
    let interval = interval(finding).map(|interval| format!(", {interval}")).unwrap_or_default();
    let text = title_and_value(finding.id, *value);
    (confidence_level(*confidence) == level).then(|| format!("{text} ({}{interval})", percent(*confidence)))
}

/// One sentence for all unknowns with the same reason.
fn unknowns(findings: &[&Finding]) -> Vec<String> {
    let mut by_reason: Vec<(&Reason, &[WouldDecide], Vec<&str>)> = Vec::new();
    for finding in findings {
        let Outcome::Unknown { reason, would_decide } = &finding.outcome else { continue };
        let title = finding_title(finding.id);
        match by_reason.iter_mut().find(|(known, decide, _)| *known == reason && decide == would_decide) {
            Some((_, _, titles)) => titles.push(title),
            None => by_reason.push((reason, would_decide, vec![title])),
        }
    }
    by_reason
        .into_iter()
        .map(|(reason, would_decide, titles)| unknown(&titles, reason, would_decide))
        .collect()
}

fn unknown(titles: &[&str], why: &Reason, decides: &[WouldDecide]) -> String {
    let text = format!("unknown: {}. {}", titles.join("; "), Sentence::new(reason(why)));
    let decides = would_decide(decides);
    if decides.trim().is_empty() { text } else { format!("{text} What would decide it: {decides}") }
}

fn published(report: &Report<'_>) -> Option<String> {
    let program =
        report.run.observations.iter().find_map(|observations| match &observations.conditions.source {
            Source::Published { program, .. } => Some(program),
            Source::Measured => None,
        })?;
    Some(format!("the figures are published means of {program}, rounded; their spread is unknown"))
}

/// One sentence for each experiment that ended early or could not start.
pub fn early_ends(report: &Report<'_>) -> Vec<Sentence> {
    early_end_texts(report).map(Sentence::new).collect()
}

fn early_end_texts(report: &Report<'_>) -> impl Iterator<Item = String> {
    report.run.observations.iter().filter_map(early_end)
}

/// Why an experiment ended early or could not start; `None` if it is complete.
pub fn early_end(observations: &Observations) -> Option<String> {
    let name = experiment_name(&observations.data);
    match &observations.ended {
        Ended::Complete => None,
        Ended::Early { reason, .. } => Some(format!("the {name} measurement ended early: {}", stop(reason))),
        Ended::NotStarted { reason, .. } => {
            Some(format!("the {name} measurement could not start: {}", refusal(reason)))
        }
    }
}

/// The name of the experiment that records such data.
pub const fn experiment_name(data: &Data) -> &'static str {
    data.name()
}
