//! The shares of exact, covered, unknown and wrong findings.

use flashscope_record::finding::Finding;
use serde::Serialize;

use super::judge::Verdict;

/// A wrong finding with at least this confidence counts as confident and wrong.
pub const CONFIDENT: f64 = 0.95;

/// The shares of one finding, over the specimens on which the truth has a visible effect or the finding has a
/// value.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Shares {
    /// The number of these specimens.
    pub count: u64,
    /// Share with the true value.
    pub exact: f64,
    /// Share with another value whose interval holds the truth.
    pub within: f64,
    /// Share of unknown findings.
    pub unknown: f64,
    /// Share of wrong findings.
    pub wrong: f64,
    /// Share of wrong findings with a confidence of at least 0.95; part of `wrong`.
    pub confident_wrong: f64,
    /// Further specimens on which the finding is correctly unknown.
    pub declined: u64,
}

impl Shares {
    pub fn of<'a>(judged: impl Iterator<Item = (&'a Finding, Verdict)>) -> Self {
        let judged: Vec<_> = judged.collect();
        let number =
            |counts: &dyn Fn(&(&Finding, Verdict)) -> bool| judged.iter().filter(|each| counts(each)).count();
        let declined = number(&|(_, verdict)| *verdict == Verdict::Declined);
        let count = judged.len() - declined;
        let share = |counts: &dyn Fn(&(&Finding, Verdict)) -> bool| part(number(counts), count);
        Self {
            count: count as u64,
            exact: share(&|(_, verdict)| *verdict == Verdict::Exact),
            within: share(&|(_, verdict)| *verdict == Verdict::Within),
            unknown: share(&|(_, verdict)| *verdict == Verdict::Unknown),
            wrong: share(&|(_, verdict)| *verdict == Verdict::Wrong),
            confident_wrong: share(&|(finding, verdict)| is_confident_wrong(finding, *verdict)),
            declined: declined as u64,
        }
    }
}

/// Whether a finding is wrong with a confidence of at least 0.95.
pub fn is_confident_wrong(finding: &Finding, verdict: Verdict) -> bool {
    verdict == Verdict::Wrong && finding.confidence().get() >= CONFIDENT
}

/// `count / all`; 0 if `all` is 0.
#[expect(clippy::cast_precision_loss, reason = "counts of a zoo are small")]
pub fn part(count: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { count as f64 / all as f64 }
}
