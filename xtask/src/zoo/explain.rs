//! Single specimens, for whoever looks for the reason of a miss.

use std::fmt::Write as _;

use anyhow::bail;
use flashscope_record::finding::{Finding, FindingId, Outcome};
use flashscope_zoo::{Habitat, Specimen};

use super::judge::Verdict;
use super::measure::{Measured, Surveyed, device_seconds};

/// One specimen: its profile, and each finding beside the truth. All but the profile are comments of it.
pub fn specimen(measured: &Measured) -> String {
    let mut text = measured.specimen.describe();
    text += &survey("reading only", &measured.read_only, &measured.specimen);
    text += &survey("in full", &measured.full, &measured.specimen);
    text += &survey("filling it", &measured.fill, &measured.specimen);
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
    for (name, asked) in &surveyed.asked {
        let _ = writeln!(text, "#   {name}: {} requests, {} of them writes", asked.requests, asked.writes);
    }
    for finding in &surveyed.findings {
        let _ = writeln!(text, "# {}", line(finding, specimen));
        let _ = writeln!(text, "#     {}", why(finding));
    }
    text
}

/// What a finding says, what is true, and what that makes of it.
fn line(finding: &Finding, specimen: &Specimen) -> String {
    let id = finding.id.as_str();
    let truth = specimen.truth.fact(id).map_or_else(|| "not judged".to_owned(), |fact| fact.to_string());
    let hidden = specimen.truth.hidden(id).map_or_else(String::new, |reason| format!(" (hidden: {reason})"));
    let verdict = Verdict::of(finding, &specimen.truth)
        .map_or_else(String::new, |verdict| format!(" {verdict:?}").to_lowercase());
    format!("{id}:{verdict}: {}, truth {truth}{hidden}", said(finding))
}

fn said(finding: &Finding) -> String {
    match &finding.outcome {
        Outcome::Found { value, low, high, confidence } if low == high => {
            format!("{value} ({})", confidence.get())
        }
        Outcome::Found { value, low, high, confidence } => {
            format!("{value}, from {low} to {high} ({})", confidence.get())
        }
        Outcome::Unknown { .. } => "unknown".to_owned(),
    }
}

fn why(finding: &Finding) -> String {
    match &finding.outcome {
        Outcome::Found { .. } => {
            let caveats: String = finding.caveats.iter().map(|caveat| format!("; {caveat}")).collect();
            format!("{}{caveats}", finding.evidence)
        }
        Outcome::Unknown { reason, .. } => reason.clone(),
    }
}

/// Every specimen of which one finding of the surveys that write is not exact, a line each.
pub fn misses(zoo: &[Measured], id: &str) -> anyhow::Result<String> {
    if id != "wrong" && !FindingId::ALL.iter().any(|known| known.as_str() == id) {
        let known = FindingId::ALL.map(FindingId::as_str).join(", ");
        bail!("there is no finding '{}'; the findings are {known}", id.escape_debug());
    }
    Ok(zoo.iter().flat_map(|measured| misses_of(measured, id)).collect())
}

/// A line about each finding that is asked for and not exact; `wrong` asks for the wrong ones of all surveys.
fn misses_of<'a>(measured: &'a Measured, id: &'a str) -> impl Iterator<Item = String> + 'a {
    let specimen = &measured.specimen;
    let habitat = match specimen.habitat {
        Habitat::Inside => "inside",
        Habitat::Outside(kind) => kind.as_str(),
    };
    let wrong = measured.reading().filter(move |_| id == "wrong");
    let asked_for = move |finding: &Finding, verdict| match id {
        "wrong" => verdict == Verdict::Wrong,
        id => finding.id.as_str() == id && !matches!(verdict, Verdict::Exact | Verdict::Declined),
    };
    wrong.chain(measured.writing()).filter(move |(finding, verdict)| asked_for(finding, *verdict)).map(
        move |(finding, _)| {
            format!("{:>5} {habitat:<13} {}: {}\n", specimen.index, line(finding, specimen), why(finding))
        },
    )
}
