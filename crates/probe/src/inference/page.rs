//! The effective page from one stream of writes: how many pages each of them touched.
//!
//! Where flash is slower than the link, a write takes an overhead, so much for every page it covers and so much for every
//! page of which it brings a part. Each possible page says which is which for every single write; the one whose counts
//! explain the times is it.

use flashscope_device::Bytes;

use super::robust;
use super::statistics::{count, median};
use super::wording::time;
use crate::finding::{Confidence, Finding, FindingId, Value};
use crate::observation::{Times, WriteSizeCell};

/// Larger requests may be cut on their way, at places that are not known.
const REQUEST_MAX: Bytes = Bytes::kib(64);
/// The largest page that is looked for; requests of that size meet its edges now and then.
const PAGE_MAX: Bytes = Bytes::kib(448);
/// The smallest.
const PAGE_MIN: Bytes = Bytes::kib(1);
/// Fewer writes explain nothing.
const WRITES_MIN: usize = 40;
/// A page must explain the times this much better than a device without pages, as a logarithm of odds: what looks like
/// one otherwise is the shape of some overhead.
const ODDS_MIN: f64 = 8.0;
/// Below this probability the honest answer is unknown.
const PROBABILITY_MIN: f64 = 0.8;
/// What the model can be wrong about that its posterior does not know.
const MODEL_DOUBT: f64 = 0.01;

/// One write of the stream.
#[derive(Debug, Clone, Copy)]
struct Write {
    start: Bytes,
    length: Bytes,
    seconds: f64,
}

/// The single writes that can show a page; empty for published tables, which have means only.
fn writes(cells: &[WriteSizeCell]) -> Vec<Write> {
    let small = cells.iter().filter(|cell| cell.request <= REQUEST_MAX);
    small.flat_map(of_cell).collect()
}

fn of_cell(cell: &WriteSizeCell) -> Vec<Write> {
    let (Some(start), Times::Each(each)) = (cell.start, &cell.times) else { return Vec::new() };
    let at = |index: usize| start + cell.request * index as u64;
    let write = |(index, latency): (usize, &std::time::Duration)| Write {
        start: at(index),
        length: cell.request,
        seconds: latency.as_secs_f64(),
    };
    each.iter().enumerate().map(write).collect()
}

/// What may explain the times.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// Pages of this size.
    Pages(Bytes),
    /// None: time grows with the size from here on.
    GrowsFrom(Bytes),
}

impl Shape {
    /// What a write takes under this shape, but for factors: a constant first.
    fn row(self, write: &Write) -> Vec<f64> {
        match self {
            Self::Pages(page) => {
                let end = write.start + write.length;
                let touched = end.round_up(page) / page - write.start / page;
                let first_whole = write.start.round_up(page) / page;
                let whole = (end / page).saturating_sub(first_whole);
                vec![1.0, Bytes::new(whole).as_f64(), Bytes::new(touched - whole).as_f64()]
            }
            Self::GrowsFrom(from) => vec![1.0, write.length.max(from).as_f64() / REQUEST_MAX.as_f64()],
        }
    }

    /// Powers of two are the rule; TLC makes three times them common; five and seven times were never seen.
    fn prior(self) -> f64 {
        match self {
            Self::GrowsFrom(_) => 0.02,
            Self::Pages(page) => match page.get() >> page.get().trailing_zeros() {
                1 => 1.0,
                3 => 0.2,
                _ => 0.04,
            },
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let pages = sizes(&[1, 3, 5, 7]).filter(|size| (PAGE_MIN..=PAGE_MAX).contains(size)).map(Self::Pages);
        let eighths = sizes(&[8, 9, 10, 11, 12, 13, 14, 15]).map(|size| size / 8);
        let knees = eighths.filter(|size| *size <= REQUEST_MAX).map(Self::GrowsFrom);
        pages.chain(knees)
    }
}

fn sizes(odd_factors: &'static [u64]) -> impl Iterator<Item = Bytes> {
    odd_factors.iter().flat_map(|odd| (9..20).map(move |shift| Bytes::new(odd << shift)))
}

/// One shape with the logarithm of its weight and what a page and a part of one take, seconds.
struct Weighed {
    shape: Shape,
    weight: f64,
    coefficients: Vec<f64>,
}

/// Fits one shape. The noise is a share of the time, so every write counts by its own. A page that no write covers has no
/// time of its own; a part of one takes at least half as long as the whole, since the page is programmed all the same.
fn weigh(shape: Shape, writes: &[Write]) -> Option<Weighed> {
    let mut rows: Vec<Vec<f64>> = writes
        .iter()
        .map(|write| shape.row(write).into_iter().map(|value| value / write.seconds).collect())
        .collect();
    let is_covered = rows.iter().any(|row| row[1] > 0.0);
    if !is_covered {
        for row in &mut rows {
            row.remove(1);
        }
    }
    let fit = robust::fit_with_scale(&rows, &vec![1.0; writes.len()], NOISE_MIN)?;
    if fit.coefficients[1..].iter().any(|each| *each <= 0.0) {
        return None;
    }
    if let [_, whole, part] = fit.coefficients[..]
        && part < whole / 2.0
    {
        return None;
    }
    let parameters = count(fit.coefficients.len() + 1);
    let penalty = parameters * count(writes.len()).ln() / 2.0;
    let weight = fit.log_likelihood - penalty + shape.prior().ln();
    Some(Weighed { shape, weight, coefficients: fit.coefficients })
}

/// No clock and no model tells times apart that are closer than this share.
const NOISE_MIN: f64 = 0.004;

/// The page; `None` if there is no such stream.
#[must_use]
pub fn page(cells: &[WriteSizeCell]) -> Option<Finding> {
    let writes = writes(cells);
    if writes.len() < WRITES_MIN {
        return None;
    }
    let mut weighed: Vec<Weighed> = Shape::all().filter_map(|shape| weigh(shape, &writes)).collect();
    weighed.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let best = weighed.first()?;
    let total: f64 = weighed.iter().map(|each| (each.weight - best.weight).exp()).sum();
    let without = weighed
        .iter()
        .filter(|each| matches!(each.shape, Shape::GrowsFrom(_)))
        .map(|each| each.weight)
        .fold(f64::NEG_INFINITY, f64::max);
    Some(match best.shape {
        Shape::GrowsFrom(_) => none(),
        Shape::Pages(_) if best.weight - without < ODDS_MIN => none(),
        Shape::Pages(page) => found(page, 1.0 / total, best, &writes),
    })
}

fn none() -> Finding {
    Finding::unknown(
        FindingId::PageBytes,
        "the time of writes grows with their size as if there were no pages: the link hides them, or there are none",
        "a faster port or reader",
    )
}

fn found(page: Bytes, probability: f64, best: &Weighed, writes: &[Write]) -> Finding {
    let id = FindingId::PageBytes;
    if probability < PROBABILITY_MIN {
        let reason = format!(
            "the times of writes fit a page of {page} only with {:.0} % probability",
            probability * 100.0
        );
        return Finding::unknown(id, reason, "more writes, on a quieter machine");
    }
    let typical = |wanted: Bytes| {
        let times: Vec<f64> =
            writes.iter().filter(|write| write.length == wanted).map(|write| write.seconds).collect();
        median(&times).map(|seconds| format!(" ({wanted}: {})", time(seconds))).unwrap_or_default()
    };
    let part = time(best.coefficients[best.coefficients.len() - 1]);
    let evidence = match best.coefficients[..] {
        [_, whole, _] => format!(
            "each page of {page} that a write covers takes {}, each of which it brings a part {part}{}{}",
            time(whole),
            typical(page / 2),
            typical(page)
        ),
        _ => {
            format!("each page of {page} of which a write brings a part takes {part}{}", typical(REQUEST_MAX))
        }
    };
    Finding::exact(id, Value::Bytes(page), Confidence::new(probability * (1.0 - MODEL_DOUBT)), evidence)
}
