//! The effective page from small writes across offsets where it may end.

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, Reason, Sample, SizeEvidence, Value, WouldDecide,
};
use flashscope_record::observation::{PageEdge, WriteSizeData};

use crate::geometry::page_posterior::PagePosterior;
use crate::statistics::median;
use crate::thresholds::{GRANTED, MODEL_ERROR, ROUGH_MODEL_ERROR};

/// The page; `None` if no such writes were made.
#[must_use]
pub fn page(data: &WriteSizeData) -> Option<Finding> {
    if data.edges.is_empty() {
        return None;
    }
    let mut posterior = PagePosterior::new(data.erase_block);
    data.edges.iter().for_each(|edge| posterior.take(edge));
    let (page, probability) = posterior.verdict();
    Some(match page {
        None => none(&data.edges),
        Some(page) if probability < GRANTED || posterior.missing().is_some() => {
            undecided(page, probability.min(GRANTED))
        }
        Some(page) => found(page, probability, data),
    })
}

fn none(edges: &[PageEdge]) -> Finding {
    let reason = Reason::NoPageInWrites { boundaries: edges.len() };
    Finding::unknown(FindingId::PageBytes, reason, [WouldDecide::FasterPort])
}

fn undecided(page: Bytes, probability: f64) -> Finding {
    let (value, confidence) = (Value::Bytes(page), Confidence::new(probability));
    let reason = Reason::Likely { value, confidence, because: None };
    let would_decide = [WouldDecide::More(Sample::Writes), WouldDecide::QuieterMachine];
    Finding::unknown(FindingId::PageBytes, reason, would_decide)
}

/// What a write across takes at multiples of this page, or elsewhere, seconds.
fn typical(edges: &[PageEdge], page: Bytes, is_edge: bool) -> Option<f64> {
    let here = edges.iter().filter(|edge| edge.edge.is_multiple_of(page) == is_edge);
    median(&here.map(|edge| edge.across.as_secs_f64()).collect::<Vec<_>>())
}

fn found(page: Bytes, probability: f64, data: &WriteSizeData) -> Finding {
    let edges = &data.edges;
    let evidence = Evidence::Sizes(SizeEvidence::PageEdges {
        page,
        write: edges.first().map_or(Bytes::ZERO, |edge| edge.write),
        is_flushed: data.edges_flushed,
        across_s: typical(edges, page, true),
        elsewhere_s: typical(edges, page, false),
        boundaries: edges.len(),
    });
    let model_error = if data.edges_flushed { ROUGH_MODEL_ERROR } else { MODEL_ERROR };
    let confidence = Confidence::new(probability * (1.0 - model_error));
    Finding::exact(FindingId::PageBytes, Value::Bytes(page), confidence, evidence)
}
