//! The verdict in plain sentences, and advice.
//!
//! Every figure carries its confidence, its interval, or the statistic and number of requests it comes from.

mod advice;
mod bottleneck;
mod cached;
mod capacity;
mod caveat;
mod confidence;
mod confidence_levels;
mod consequences;
pub mod diagnosis;
mod ended;
mod evidence;
mod headline;
mod reason;
mod sentence;
mod speeds;
mod structure;
mod throughput_profile;
mod timing_objection;
mod warning;
mod would_decide;

pub use advice::{Advice, advice};
pub(crate) use bottleneck::gain_text;
pub use cached::cached;
pub use caveat::caveat;
pub use confidence::{confidence_level, interval};
pub(crate) use confidence_levels::{early_end, experiment_name};
pub use ended::{refusal, stop};
pub use evidence::evidence;
pub use reason::{objection, reason};
pub use sentence::Sentence;
pub(crate) use throughput_profile::change_name;
pub use throughput_profile::sustained_write;
pub(crate) use warning::alarm;
pub use would_decide::would_decide;

use serde::Serialize;

use crate::Report;
use crate::figures::Figures;
use crate::{layout, results};

/// The verdict on a target in memory.
pub(crate) const IN_MEMORY: &str =
    "no verdict: the target lies in memory (tmpfs); these figures say nothing about a stick or disk";

/// The verdict of a benchmark that stopped in its first round.
pub(crate) const NO_ROUND: &str = "unknown: no round was completed";

/// The title above [`Verdict::layout`].
pub(crate) const LAYOUT_TITLE: &str = "Partitions and filesystems on it";

/// The sentences of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The warning above everything else: the device is a counterfeit, or may be failing.
    pub warning: Option<Sentence>,
    /// The most important result in one sentence.
    pub headline: Sentence,
    /// What a false capacity means.
    pub capacity: Vec<Sentence>,
    /// The structure of the device, as seen from outside.
    pub structure: Vec<Sentence>,
    /// The consequences for its use.
    pub consequences: Vec<Sentence>,
    /// The bottleneck, and the gain of removing it.
    pub bottleneck: Vec<Sentence>,
    /// How each partition and filesystem lies against the erase block.
    pub layout: Vec<Sentence>,
    /// Confidence of the findings, unknowns, and what would decide them.
    pub confidence: Vec<Sentence>,
}

/// The verdict of a report.
#[must_use]
pub fn verdict(report: &Report<'_>) -> Verdict {
    let mut verdict = without_capacity(report);
    verdict.capacity = capacity::consequences(report);
    verdict.confidence.extend(capacity::excluded(report));
    verdict
}

fn without_capacity(report: &Report<'_>) -> Verdict {
    let figures = Figures::of(report);
    let observations = &report.run.observations;
    if report.is_memory_only() {
        return memory_verdict(report);
    }
    if !observations.is_empty() && observations.iter().all(|each| each.data.is_of_speed()) {
        return speed_verdict(report);
    }
    if let Some(headline) = results::headline(report.run).filter(|_| report.findings.is_empty()) {
        return of_results(report, &headline);
    }
    let diagnosis = report.diagnosis();
    Verdict {
        warning: warning::sentence(report),
        headline: headline::headline(report, &figures),
        capacity: Vec::new(),
        structure: structure::sentences(report),
        consequences: consequences::sentences(report, &figures),
        bottleneck: bottleneck::sentences(&diagnosis),
        layout: layout::sentences(report, &diagnosis),
        confidence: confidence_levels::sentences(report),
    }
}

/// The verdict where no device was measured.
fn memory_verdict(report: &Report<'_>) -> Verdict {
    Verdict {
        warning: warning::sentence(report),
        headline: Sentence::new(IN_MEMORY),
        capacity: Vec::new(),
        structure: Vec::new(),
        consequences: Vec::new(),
        bottleneck: Vec::new(),
        layout: Vec::new(),
        confidence: Vec::new(),
    }
}

/// The verdict of experiments without findings.
fn of_results(report: &Report<'_>, headline: &str) -> Verdict {
    Verdict {
        warning: warning::sentence(report),
        headline: Sentence::new(headline),
        capacity: Vec::new(),
        structure: Vec::new(),
        consequences: Vec::new(),
        bottleneck: Vec::new(),
        layout: Vec::new(),
        confidence: confidence_levels::early_ends(report),
    }
}

/// The verdict where only speeds were measured.
fn speed_verdict(report: &Report<'_>) -> Verdict {
    let speeds = speeds::SpeedSentences::of(report);
    let levels = if report.findings.is_empty() {
        confidence_levels::early_ends(report)
    } else {
        confidence_levels::sentences(report)
    };
    let sentences =
        |of: fn(&speeds::SpeedSentences) -> Vec<Sentence>| speeds.as_ref().map(of).unwrap_or_default();
    Verdict {
        warning: warning::sentence(report),
        headline: speed_headline(report, speeds.as_ref()),
        capacity: Vec::new(),
        structure: Vec::new(),
        consequences: [
            throughput_profile::sentences(report),
            sentences(speeds::SpeedSentences::consequences),
        ]
        .concat(),
        bottleneck: Vec::new(),
        layout: Vec::new(),
        confidence: [sentences(speeds::SpeedSentences::confidence), levels].concat(),
    }
}

fn speed_headline(report: &Report<'_>, speeds: Option<&speeds::SpeedSentences>) -> Sentence {
    let sustained = throughput_profile::headline(report);
    let known = sustained.into_iter().chain(speeds.and_then(speeds::SpeedSentences::headline));
    let unknown = throughput_profile::unknown_reason(report)
        .map(|reason| format!("sustained write speed unknown: {reason}"));
    let published = crate::published_speeds::headline(report.run);
    let parts: Vec<String> = known.chain(unknown).chain(published).collect();
    Sentence::new(match parts.as_slice() {
        [] => format!("unknown: these measurements do not give the speed of this {}", report.noun()),
        parts => parts.join("; "),
    })
}
