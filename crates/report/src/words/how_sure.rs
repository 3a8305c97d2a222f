//! How sure: every finding by its confidence, every unknown with its reason, every early end.

use flashscope_record::finding::{Finding, FindingId, Outcome, Reason, WouldDecide};
use flashscope_record::observation::{Data, Ended, Observations, Source};

use super::ended::{refusal, stop};
use super::finding_title::{LEVELS, confidence, finding_title};
use super::hedge::interval;
use super::reason::reason;
use super::sentence::Sentence;
use super::value::value;
use super::would_decide::would_decide;
use crate::Report;
use crate::quantity::percent;

pub fn sentences(report: &Report<'_>) -> Vec<Sentence> {
    let findings: Vec<&Finding> = FindingId::ALL.into_iter().filter_map(|id| report.finding(id)).collect();
    let levels = LEVELS.into_iter().filter_map(|level| at_level(&findings, level));
    let unknowns = unknowns(&findings);
    let all = levels.chain(unknowns).chain(published(report)).chain(endings(report));
    let sentences: Vec<Sentence> = all.map(Sentence::new).collect();
    if sentences.is_empty() {
        return vec![Sentence::new("nothing was measured, so nothing was inferred")];
    }
    sentences
}

fn at_level(findings: &[&Finding], level: &str) -> Option<String> {
    let items: Vec<String> = findings.iter().filter_map(|finding| item(finding, level)).collect();
    (!items.is_empty()).then(|| format!("{level}: {}", items.join("; ")))
}

fn item(finding: &Finding, level: &str) -> Option<String> {
    let Outcome::Found { value: found, confidence: sure, .. } = finding.outcome else { return None };
    let between = interval(finding).map(|interval| format!(", {interval}")).unwrap_or_default();
    let text = || format!("{} {} ({}{between})", finding_title(finding.id), value(found), percent(sure));
    (confidence(sure) == level).then(text)
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
    Some(format!(
        "the figures were published by {program}: means of several requests, rounded, whose spread is not known"
    ))
}

/// What ended early, or could not begin.
pub fn early_ends(report: &Report<'_>) -> Vec<Sentence> {
    endings(report).map(Sentence::new).collect()
}

fn endings(report: &Report<'_>) -> impl Iterator<Item = String> {
    report.run.observations.iter().filter_map(ending)
}

/// That it ended early, or could not begin, and why.
pub fn ending(observations: &Observations) -> Option<String> {
    let name = experiment(&observations.data);
    match &observations.ended {
        Ended::Complete => None,
        Ended::Early { reason, .. } => Some(format!("the {name} measurement ended early: {}", stop(reason))),
        Ended::NotStarted { reason, .. } => {
            Some(format!("the {name} measurement could not begin: {}", refusal(reason)))
        }
    }
}

/// The name of the experiment that takes such data.
pub const fn experiment(data: &Data) -> &'static str {
    data.name()
}
