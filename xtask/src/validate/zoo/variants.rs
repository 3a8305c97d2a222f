//! Variants: how often findings are wrong about sticks with a law that the inference does not contain.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use flashscope_record::finding::{Finding, FindingId};
use flashscope_zoo::{Law, Scope};

use super::judge::Verdict;
use super::measure::Measured;
use super::shares::part;

/// A wrong finding with at least this confidence counts as confident and wrong: from there on a report
/// gives a value.
const CONFIDENT: f64 = 0.8;

/// Numbers of findings of the surveys with writes.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    /// Findings with a value.
    pub found: u64,
    /// Those whose value or interval is the truth.
    pub right: u64,
    /// Unknown ones.
    pub unknown: u64,
    /// Wrong ones.
    pub wrong: u64,
    /// Wrong ones with a confidence of at least 0.8.
    pub confident_wrong: u64,
}

impl Counts {
    fn of<'a>(judged: impl Iterator<Item = (&'a Finding, Verdict)>) -> Self {
        let mut counts = Self::default();
        for (finding, verdict) in judged {
            let wrong = verdict == Verdict::Wrong;
            counts.found += u64::from(verdict.is_found());
            counts.right += u64::from(verdict.is_covered());
            counts.unknown += u64::from(!verdict.is_found());
            counts.wrong += u64::from(wrong);
            counts.confident_wrong += u64::from(wrong && finding.confidence().get() >= CONFIDENT);
        }
        counts
    }
}

/// All findings together.
pub fn total(zoo: &[Measured]) -> Counts {
    Counts::of(zoo.iter().flat_map(Measured::writing))
}

/// The results as text: by law, by finding, and together.
pub fn text(zoo: &[Measured], seed: u64) -> String {
    let mut text = format!("{} variants, seed {seed}, surveyed with writes\n", zoo.len());
    text += &heading("law");
    for law in Law::ALL {
        let of_law = zoo.iter().filter(|each| each.specimen.scope == Scope::Variant(law));
        text += &row(law.as_str(), Counts::of(of_law.flat_map(Measured::writing)));
    }
    text += &heading("finding");
    for id in FindingId::ALL {
        let judged = zoo.iter().flat_map(Measured::writing);
        text += &row(id.as_str(), Counts::of(judged.filter(|(finding, _)| finding.id == id)));
    }
    text += &row("all", total(zoo));
    text += &confident_wrong_by_both(zoo);
    text
}

fn heading(title: &str) -> String {
    format!("\n  {title:<28} right  unknown  wrong  confident and wrong, of those with a value\n")
}

fn row(name: &str, counts: Counts) -> String {
    let Counts { found, right, unknown, wrong, confident_wrong } = counts;
    let share = 100.0 * part(usize_of(confident_wrong), usize_of(found));
    format!("  {name:<28} {right:>5} {unknown:>8} {wrong:>6} {confident_wrong:>10} ({share:.1} %)\n")
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The combinations of law and finding with confident and wrong findings, the most frequent ones first.
fn confident_wrong_by_both(zoo: &[Measured]) -> String {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for measured in zoo {
        let Scope::Variant(law) = measured.specimen.scope else { continue };
        for judged in measured.writing() {
            let wrong = Counts::of(std::iter::once(judged)).confident_wrong;
            *counts.entry((law.as_str(), judged.0.id.as_str())).or_default() += wrong;
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut text = "\n  confident and wrong by law and finding\n".to_owned();
    for ((law, finding), count) in sorted {
        let _ = writeln!(text, "  {law:<16} {finding:<28} {count:>4}");
    }
    text
}
