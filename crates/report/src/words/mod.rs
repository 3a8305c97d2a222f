//! The verdict in plain sentences: what it is, what it means for the person, how sure it is; and advice.
//!
//! Every figure is either hedged (how sure, or between which values) or says what it rests on.

mod advice;
mod bottleneck;
mod cached;
mod caveat;
mod course;
pub mod diagnosis;
mod ended;
mod evidence;
mod finding_title;
mod headline;
mod hedge;
mod how_sure;
mod reason;
mod sentence;
mod speeds;
mod value;
mod warning;
mod what_it_is;
mod what_it_means;
mod would_decide;

pub use advice::{Advice, advice};
pub use cached::cached;
pub use caveat::caveat;
pub(crate) use course::name as name_of_change;
pub use course::stream;
pub use ended::{refusal, stop};
pub use evidence::evidence;
pub use finding_title::{confidence, finding_title};
pub use hedge::interval;
pub(crate) use how_sure::{ending, experiment};
pub use reason::{objection, reason};
pub use sentence::Sentence;
pub use value::value;
pub use would_decide::would_decide;

use serde::Serialize;

use crate::Report;
use crate::figures::Figures;
use crate::results;

/// The verdict on what lies in memory.
pub(crate) const IN_MEMORY: &str =
    "no verdict: what was measured lies in memory (tmpfs), and its figures say nothing of any stick or disk";

/// The verdict of a bench in rounds that was stopped in the first.
pub(crate) const NO_ROUND: &str = "unknown: no round came to its end";

/// What a report says in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What comes before everything else, if something does: the data that is on a device that fails.
    pub warning: Option<Sentence>,
    /// The one sentence to remember.
    pub headline: Sentence,
    /// How the device is built, as seen from outside.
    pub what_it_is: Vec<Sentence>,
    /// What follows for the person who uses it.
    pub what_it_means: Vec<Sentence>,
    /// Which layer holds it back, and what it would give to lift it.
    pub what_holds_it_back: Vec<Sentence>,
    /// How sure all this is, what is not known, and what would decide it.
    pub how_sure: Vec<Sentence>,
}

/// The verdict of a report.
#[must_use]
pub fn verdict(report: &Report<'_>) -> Verdict {
    let figures = Figures::of(report);
    let seen = &report.run.observations;
    if report.is_of_memory() {
        return of_memory(report);
    }
    if !seen.is_empty() && seen.iter().all(|seen| seen.data.is_of_speed()) {
        return of_speeds(report);
    }
    if let Some(headline) = results::headline(report.run).filter(|_| report.findings.is_empty()) {
        return of_results(report, &headline);
    }
    Verdict {
        warning: warning::sentence(report),
        headline: headline::headline(report, &figures),
        what_it_is: what_it_is::sentences(report),
        what_it_means: what_it_means::sentences(report, &figures),
        what_holds_it_back: bottleneck::sentences(&report.diagnosis()),
        how_sure: how_sure::sentences(report),
    }
}

/// Where there is no device to say anything of.
fn of_memory(report: &Report<'_>) -> Verdict {
    Verdict {
        warning: warning::sentence(report),
        headline: Sentence::new(IN_MEMORY),
        what_it_is: Vec::new(),
        what_it_means: Vec::new(),
        what_holds_it_back: Vec::new(),
        how_sure: Vec::new(),
    }
}

/// The verdict of experiments without findings.
fn of_results(report: &Report<'_>, headline: &str) -> Verdict {
    Verdict {
        warning: warning::sentence(report),
        headline: Sentence::new(headline),
        what_it_is: Vec::new(),
        what_it_means: Vec::new(),
        what_holds_it_back: Vec::new(),
        how_sure: how_sure::early_ends(report),
    }
}

/// Where nothing but speeds was measured.
fn of_speeds(report: &Report<'_>) -> Verdict {
    let speeds = speeds::Words::of(report);
    let told = [course::headline(report), speeds.as_ref().and_then(speeds::Words::headline)];
    let told: Vec<String> = told.into_iter().flatten().collect();
    let noun = report.noun();
    let open = course::unknown(report).map(|reason| format!("in the long run is unknown: {reason}"));
    let headline = match (told.as_slice(), open) {
        ([], Some(open)) => format!("how fast this {noun} writes {open}"),
        ([], None) => format!("unknown: these measurements do not tell how fast this {noun} is"),
        (told, Some(open)) => format!("this {noun} {}; how fast it writes {open}", told.join("; ")),
        (told, None) => format!("this {noun} {}", told.join("; ")),
    };
    let sure =
        if report.findings.is_empty() { how_sure::early_ends(report) } else { how_sure::sentences(report) };
    let rows = |of: fn(&speeds::Words) -> Vec<Sentence>| speeds.as_ref().map(of).unwrap_or_default();
    Verdict {
        warning: warning::sentence(report),
        headline: Sentence::new(headline),
        what_it_is: Vec::new(),
        what_it_means: [course::sentences(report), rows(speeds::Words::what_it_means)].concat(),
        what_holds_it_back: Vec::new(),
        how_sure: [rows(speeds::Words::how_sure), sure].concat(),
    }
}
