//! The details of single specimens, to find the reason of a wrong finding.

use std::fmt::Write as _;

use anyhow::bail;
use flashscope_record::finding::{Finding, FindingId, Outcome};
use flashscope_report::words;
use flashscope_zoo::{Scope, Specimen};

use super::judge::Verdict;
use super::measure::{Measured, Surveyed, device_seconds};

/// One specimen: its profile, followed by each finding and its truth as comments.
pub fn specimen(measured: &Measured) -> String {
    let mut text = measured.specimen.describe();
    text += &survey("read-only", &measured.read_only, &measured.specimen);
    text += &survey("with writes", &measured.full, &measured.specimen);
    text += &survey("filled", &measured.fill, &measured.specimen);
    text
}

fn survey(title: &str, surveyed: &Surveyed, specimen: &Specimen) -> String {
    let cost = &surveyed.cost;
    let mut text = format!(
        "\n# {title}: {} reads, {} writes, {} written, {:.2} s\n",
        cost.reads,
        cost.writes,
        cost.bytes_written,
        device_seconds(cost)
    );
    for (name, requests) in &surveyed.requests {
        let _ = writeln!(text, "#   {name}: {} requests, {} of them writes", requests.all, requests.writes);
    }
    for finding in &surveyed.findings {
        let _ = writeln!(text, "# {}", line(finding, specimen));
        let _ = writeln!(text, "#     {}", reason(finding));
    }
    text
}

/// A finding, its truth, and the verdict.
fn line(finding: &Finding, specimen: &Specimen) -> String {
    let id = finding.id.as_str();
    let truth = specimen.truth.fact(id).map_or_else(|| "truth unknown".to_owned(), |fact| fact.to_string());
    let hidden = specimen.truth.hidden(id).map_or_else(String::new, |reason| format!(" (hidden: {reason})"));
    let verdict = Verdict::of(finding, &specimen.truth)
        .map_or_else(String::new, |verdict| format!(" {verdict:?}").to_lowercase());
    format!("{id}:{verdict}: {}, truth {truth}{hidden}", value_text(finding))
}

fn value_text(finding: &Finding) -> String {
    let value = flashscope_report::value_text;
    match finding.outcome {
        Outcome::Found { value: found, low, high, confidence } if low == high => {
            format!("{} ({})", value(found), confidence.get())
        }
        Outcome::Found { value: found, low, high, confidence } => {
            format!("{}, from {} to {} ({})", value(found), value(low), value(high), confidence.get())
        }
        Outcome::Unknown { .. } => "unknown".to_owned(),
    }
}

fn reason(finding: &Finding) -> String {
    match &finding.outcome {
        Outcome::Found { .. } => {
            let caveats = finding.caveats.iter().map(|caveat| format!("; {}", words::caveat(caveat)));
            let evidence = finding.evidence.as_ref().map(words::evidence).unwrap_or_default();
            std::iter::once(evidence).chain(caveats).collect()
        }
        Outcome::Unknown { reason, .. } => words::reason(reason),
    }
}

/// One line for each specimen of which this finding of the surveys with writes is not exact.
pub fn misses(zoo: &[Measured], id: &str) -> anyhow::Result<String> {
    if id != "wrong" && !FindingId::ALL.iter().any(|known| known.as_str() == id) {
        let known = FindingId::ALL.map(FindingId::as_str).join(", ");
        bail!("unknown finding '{}'; the findings are {known}", id.escape_debug());
    }
    Ok(zoo.iter().flat_map(|measured| misses_of(measured, id)).collect())
}

/// One line for each selected finding that is not exact; `wrong` selects the wrong findings of all surveys.
fn misses_of<'a>(measured: &'a Measured, id: &'a str) -> impl Iterator<Item = String> + 'a {
    let specimen = &measured.specimen;
    let scope = match specimen.scope {
        Scope::Inside => "inside",
        Scope::Outside(kind) => kind.as_str(),
        Scope::Variant(law) => law.as_str(),
    };
    let wrong = measured.reading().filter(move |_| id == "wrong");
    let is_selected = move |finding: &Finding, verdict| match id {
        "wrong" => verdict == Verdict::Wrong,
        id => finding.id.as_str() == id && !matches!(verdict, Verdict::Exact | Verdict::Declined),
    };
    wrong.chain(measured.writing()).filter(move |(finding, verdict)| is_selected(finding, *verdict)).map(
        move |(finding, _)| {
            format!("{:>5} {scope:<13} {}: {}\n", specimen.index, line(finding, specimen), reason(finding))
        },
    )
}
