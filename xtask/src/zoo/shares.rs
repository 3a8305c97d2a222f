//! How often a finding was exact, within its interval, unknown, or wrong.

use flashscope_record::finding::Finding;
use serde::Serialize;

use super::judge::Verdict;

/// From this confidence on a finding calls itself sure.
pub const CONFIDENT: f64 = 0.95;

/// How often a finding was what, over the specimens on which something shows the truth, or a value was named all the same.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Shares {
    /// Over so many specimens.
    pub count: u64,
    /// The share whose value is the truth.
    pub exact: f64,
    /// The share whose value is not, but whose interval holds it.
    pub within: f64,
    /// The share that is unknown.
    pub unknown: f64,
    /// The share that is wrong.
    pub wrong: f64,
    /// The share that is wrong and calls itself sure: part of `wrong`.
    pub confident_wrong: f64,
    /// On so many more nothing shows the truth, and no value was named.
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

/// Whether a finding is wrong and calls itself sure.
pub fn is_confident_wrong(finding: &Finding, verdict: Verdict) -> bool {
    verdict == Verdict::Wrong && finding.confidence().get() >= CONFIDENT
}

/// `some` of `all`; 0 of none.
#[expect(clippy::cast_precision_loss, reason = "counts of a zoo are small")]
pub fn part(some: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { some as f64 / all as f64 }
}
