//! Which boundaries to read next, and when enough were read.

use flashscope_device::Bytes;

use super::figure::Figures;
use super::step_min_s;
use crate::inference::Explanation;
use crate::inference::statistics::count;

/// Once one size of block has this probability, reading on would change nothing.
const DECIDED: f64 = 0.998;
/// A page is never known that well from reads: a write may fill several planes' pages.
const PAGE_DECIDED: f64 = 0.95;
/// So many deviations tell a step from nothing.
const CLEAR: f64 = 5.0;

/// Whether page and erase block are decided, or that no boundary shows.
#[must_use]
pub fn is_decided(explanations: &[Explanation], figures: &Figures) -> bool {
    let Some(best) = explanations.first() else { return false };
    let with = |matches: &dyn Fn(&Explanation) -> bool| {
        explanations.iter().filter(|each| matches(each)).map(|each| each.probability).sum::<f64>()
    };
    let block = with(&|each| each.block == best.block);
    let page = with(&|each| each.pages.first() == best.pages.first());
    let block_is_decided = match best.block {
        Some(_) => block >= DECIDED,
        None => nothing_hides(figures),
    };
    block_is_decided && (page >= PAGE_DECIDED || (best.pages.is_empty() && nothing_hides(figures)))
}

/// Whether even the smallest step that counts would have shown.
fn nothing_hides(figures: &Figures) -> bool {
    let error_s = 2.0 * figures.noise_s / count(figures.samples().max(1)).sqrt();
    error_s * CLEAR < step_min_s(figures.read_s)
}

/// The candidates, the most telling first: those at which the explanations differ most for what is known there, and those that
/// fit none of them.
#[must_use]
pub fn telling(explanations: &[Explanation], figures: &Figures) -> Vec<Bytes> {
    let mut scored: Vec<(f64, Bytes)> = figures
        .each
        .iter()
        .map(|figure| {
            let (mean, variance) = predicted(explanations, figure.candidate);
            let surprise = ((figure.extra_s - mean).powi(2) - (3.0 * figure.error_s).powi(2)).max(0.0);
            let told = (variance + surprise) / figures.noise_s.powi(2) + 1e-3;
            (told / count(figure.samples.max(1)), figure.candidate)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Mean and variance over the explanations of the extra time at a candidate's boundaries, seconds.
fn predicted(explanations: &[Explanation], candidate: Bytes) -> (f64, f64) {
    let (mut mean, mut square) = (0.0, 0.0);
    for explanation in explanations {
        let extra = explanation.extra(candidate);
        mean += explanation.probability * extra;
        square += explanation.probability * extra * extra;
    }
    (mean, (square - mean * mean).max(0.0))
}
