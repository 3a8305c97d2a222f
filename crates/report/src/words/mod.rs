//! The verdict in plain sentences: what it is, what it means for the person, how sure it is; and advice.
//!
//! Every figure is either hedged (how sure, or between which values) or says what it rests on.

mod advice;
mod headline;
mod hedge;
mod how_sure;
mod sentence;
mod speeds;
mod what_it_is;
mod what_it_means;

pub use advice::{Advice, advice};
pub use hedge::interval;
pub(crate) use how_sure::experiment;
pub use sentence::Sentence;

use serde::Serialize;

use crate::Report;
use crate::figures::Figures;

/// What a report says in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The one sentence to remember.
    pub headline: Sentence,
    /// How the device is built, as seen from outside.
    pub what_it_is: Vec<Sentence>,
    /// What follows for the person who uses it.
    pub what_it_means: Vec<Sentence>,
    /// How sure all this is, what is not known, and what would decide it.
    pub how_sure: Vec<Sentence>,
}

/// The verdict of a report.
#[must_use]
pub fn verdict(report: &Report<'_>) -> Verdict {
    let figures = Figures::of(report);
    if let Some(speeds) = speeds::Words::of(report).filter(|_| report.findings.is_empty()) {
        return of_speeds(report, &speeds);
    }
    Verdict {
        headline: headline::headline(report, &figures),
        what_it_is: what_it_is::sentences(report),
        what_it_means: what_it_means::sentences(report, &figures),
        how_sure: how_sure::sentences(report),
    }
}

/// Where nothing but speeds was measured.
fn of_speeds(report: &Report<'_>, speeds: &speeds::Words) -> Verdict {
    let unknown = || format!("unknown: these measurements do not tell how fast this {} is", report.noun());
    let headline = speeds.headline().map_or_else(unknown, |told| format!("this {} {told}", report.noun()));
    Verdict {
        headline: Sentence::new(headline),
        what_it_is: Vec::new(),
        what_it_means: speeds.what_it_means(),
        how_sure: speeds.how_sure().into_iter().chain(how_sure::early_ends(report)).collect(),
    }
}
