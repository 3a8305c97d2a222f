//! The effective page from small writes across places where it may end.

use flashscope_device::Bytes;

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, Value};
use flashscope_record::observation::{PageEdge, WriteSizeData};

use crate::geometry::page_posterior::PageBelief;
use crate::statistics::median;

/// A search that ends with less than this has gone as far as it may: what is left then is mostly noise.
const LEAST: f64 = 0.97;
/// One more page takes no more than so many times as long as a write into the controller's memory: what takes longer is no page.
const STRANGE: f64 = 15.0;
/// What the model can be wrong about that its posterior does not know.
const MODEL_DOUBT: f64 = 0.005;

/// With a flush behind each write it may be what a flush costs that shows: the unit of the map instead of the page.
const FLUSH_DOUBT: f64 = 0.06;

/// The page; `None` if no such writes were made.
#[must_use]
pub fn page(data: &WriteSizeData) -> Option<Finding> {
    if data.edges.is_empty() {
        return None;
    }
    let mut belief = PageBelief::new(data.erase_block);
    data.edges.iter().for_each(|edge| belief.take(edge));
    let (page, probability) = belief.verdict();
    let is_strange = page.is_some_and(|page| {
        let (across, elsewhere) = (typical(&data.edges, page, true), typical(&data.edges, page, false));
        across.zip(elsewhere).is_some_and(|(across, elsewhere)| across > elsewhere * STRANGE)
    });
    Some(match page {
        None => none(&data.edges),
        Some(page) if probability < LEAST || belief.missing().is_some() || is_strange => {
            undecided(page, probability.min(LEAST))
        }
        Some(page) => found(page, probability, data),
    })
}

fn none(edges: &[PageEdge]) -> Finding {
    let reason = format!(
        "small writes take as long across {} places where a page may end as beside them: the link hides it, or there is none",
        edges.len()
    );
    Finding::unknown(FindingId::PageBytes, reason, "a faster port or reader")
}

fn undecided(page: Bytes, probability: f64) -> Finding {
    let reason = format!(
        "the times of writes fit a page of {page} only with {:.0} % probability",
        probability * 100.0
    );
    Finding::unknown(FindingId::PageBytes, reason, "more writes, on a quieter machine")
}

/// What a write across takes at multiples of this page, or elsewhere, seconds.
fn typical(edges: &[PageEdge], page: Bytes, is_edge: bool) -> Option<f64> {
    let here = edges.iter().filter(|edge| edge.edge.is_multiple_of(page) == is_edge);
    median(&here.map(|edge| edge.across.as_secs_f64()).collect::<Vec<_>>())
}

fn found(page: Bytes, probability: f64, data: &WriteSizeData) -> Finding {
    let edges = &data.edges;
    let typical = |is_edge: bool| typical(edges, page, is_edge).map_or_else(|| "not tried".to_owned(), time);
    let evidence = format!(
        "a write of {}{} across a multiple of {page} takes {}, elsewhere {} ({} places)",
        edges.first().map_or(Bytes::ZERO, |edge| edge.write),
        if data.edges_flushed { " with a flush" } else { "" },
        typical(true),
        typical(false),
        edges.len()
    );
    let doubt = if data.edges_flushed { FLUSH_DOUBT } else { MODEL_DOUBT };
    let confidence = Confidence::new(probability * (1.0 - doubt));
    Finding::exact(FindingId::PageBytes, Value::Bytes(page), confidence, evidence)
}
