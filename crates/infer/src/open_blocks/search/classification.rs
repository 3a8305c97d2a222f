//! Kinds of translation layers by the tests beside the search: logs, page mapping.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData, Order};

use super::kind::{Collection, LayerKind};
use super::weighed::Search;
use crate::open_blocks::evidence::WriteSequence;
use crate::open_blocks::{evidence, garbage_collection};
use crate::statistics::{count, lower_quartile, median};
use crate::thresholds::{ALIKE, MOST, SEVERAL, STALLS_MAX};

/// A log completes what it maps at once in less than this many writes. What costs more is another thing, such
/// as a cache that is emptied. Guess.
const COMPLETION_WRITES_MAX: f64 = 7.0;
/// It takes at least this share of a write: what costs less is no completion. Guess.
const COMPLETION_WRITES_MIN: f64 = 0.5;
/// The middle half of the distances between collections differs by at most this share of their median. For
/// exponential distances, those of random events, it is ln 3 / ln 2 = 1.6. Guess: half of that.
const UNEVENNESS_MAX: f64 = 0.8;
/// Random pages take less than this many times as long as sequential ones. Guess.
const SCATTERED_FREE: f64 = 1.25;

impl<'a> Search<'a> {
    /// Page mapping, if garbage collection shows while one block is written.
    pub(super) fn collected_in_one_run(&self) -> Option<LayerKind> {
        collection_in_one_run(self.data).map(LayerKind::Collected)
    }

    /// The search over data instead, if that found a number.
    pub(super) fn over_data(&self) -> Option<Self> {
        let (data, cells) = (self.data, &self.data.rewritten);
        let classifier = evidence::baseline_classifier(cells)?;
        let linear = evidence::over_data_posterior(cells, classifier);
        let classifier = linear.classifier();
        let over = Self {
            data,
            sequences: vec![WriteSequence::new(cells, classifier)],
            is_over_data: true,
            freed_cells: self.freed_cells,
            classifier,
            kind: LayerKind::Log,
            linear,
            random: self.random.clone(),
        };
        let fits = over.fits(Order::Linear).filter(|_| over.linear.stall_share() <= STALLS_MAX)?;
        let (seconds, _) = over.merge(Order::Linear, fits)?;
        let typical = classifier.typical_seconds();
        (COMPLETION_WRITES_MIN..COMPLETION_WRITES_MAX).contains(&(seconds / typical)).then_some(over)
    }
}

/// Garbage collection, if it shows while one block is written sequentially, takes the same time each, and
/// random pages cost nothing more.
fn collection_in_one_run(data: &OpenUnitsData) -> Option<Collection> {
    let own = garbage_collection::collection_times_s(&data.one_run);
    let seconds = median(&own).filter(|_| own.len() >= SEVERAL)?;
    // One request may wait for two collections.
    let is_alike =
        |own: &&f64| [1.0, 2.0].iter().any(|times| (**own / (seconds * times) - 1.0).abs() < ALIKE);
    let alike = own.iter().filter(is_alike).count();
    if garbage_collection::unevenness(&data.one_run).is_some_and(|unevenness| unevenness > UNEVENNESS_MAX) {
        return None;
    }
    let scattered: Vec<f64> = data.scattered.iter().map(Duration::as_secs_f64).collect();
    let sequential: Vec<f64> =
        data.one_run.first()?.writes().map(|(_, latency)| latency.as_secs_f64()).collect();
    let is_free = lower_quartile(&scattered)? < lower_quartile(&sequential)? * SCATTERED_FREE;
    let every = written_in(&data.one_run) / u64::try_from(own.len()).ok()?;
    (is_free && count(alike) >= count(own.len()) * MOST).then_some(Collection { every, seconds })
}

/// The bytes written by these.
fn written_in(cells: &[OpenUnitsCell]) -> Bytes {
    cells.iter().flat_map(|cell| cell.writes().map(|_| cell.request)).sum()
}
