//! What opening a block costs on a controller that takes one sequential run.

use std::time::Duration;

use flashscope_record::finding::{BlockEvidence, Confidence, Evidence};

use crate::copying::ERASE_SECONDS;
use crate::open_blocks::search::{SHORTER_THAN_ERASING, Search};
use crate::statistics::median;
use crate::thresholds::{LIKELY, SURE};

/// How sure it is that only one sequential run is taken.
pub fn one_run_confidence(search: &Search<'_>) -> Confidence {
    let data = search.data();
    let probability = match data.opening_pairs.len() {
        0 | 1 => LIKELY,
        _ => SURE,
    };
    Confidence::new(probability * (1.0 - if closes_fast(search) { SHORTER_THAN_ERASING } else { 0.0 }))
}

/// Whether closing one block for another takes less than erasing one: then a log completes what it maps at
/// once.
pub fn closes_fast(search: &Search<'_>) -> bool {
    let (free, closing) = typical_openings(search);
    free.zip(closing).is_some_and(|(free, closing)| closing - free < ERASE_SECONDS)
}

/// The figures of both kinds of openings.
pub fn evidence(search: &Search<'_>) -> Evidence {
    let (free, closing) = typical_openings(search);
    Evidence::Blocks(BlockEvidence::Openings {
        free_s: free.unwrap_or(0.0),
        closing_s: closing.unwrap_or(0.0),
    })
}

/// The median opening of a block that closes no other, and of one that does, seconds.
fn typical_openings(search: &Search<'_>) -> (Option<f64>, Option<f64>) {
    let typical = |times: &mut dyn Iterator<Item = Duration>| {
        median(&times.map(|latency| latency.as_secs_f64()).collect::<Vec<_>>())
    };
    let pairs = &search.data().opening_pairs;
    (typical(&mut pairs.iter().map(|pair| pair.alone)), typical(&mut pairs.iter().map(|pair| pair.second)))
}
