//! The search for open units, weighed write by write.

use flashscope_record::finding::{Finding, FindingId, Measurement, Reason, WouldDecide};
use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData, Order};

use super::drift::{drift, drift_like_merges};
use super::kind::LayerKind;
use super::writes::round_robin_max;
use crate::open_blocks::evidence;
use crate::open_blocks::evidence::WriteSequence;
use crate::open_blocks::posterior::Posterior;
use crate::slow_classifier::SlowClassifier;

/// Why the writes decide nothing, and what would.
#[derive(Debug, Clone, PartialEq)]
pub struct Undecidable {
    /// Why.
    pub reason: Box<Reason>,
    /// What would decide.
    pub would_decide: WouldDecide,
}

impl Undecidable {
    /// The finding that is unknown for this.
    #[must_use]
    pub fn finding(&self, id: FindingId) -> Finding {
        Finding::unknown(id, (*self.reason).clone(), [self.would_decide.clone()])
    }
}

/// The writes of both orders, and what they say.
pub struct Search<'a> {
    pub(super) data: &'a OpenUnitsData,
    /// The sequential writes that count: those of the search by request size, or those over data.
    pub(super) sequences: Vec<WriteSequence<'a>>,
    pub(super) is_over_data: bool,
    /// Random writes into units that lacked no slot unless they were too many, if they show how many fit.
    pub(super) freed_cells: Option<&'a [OpenUnitsCell]>,
    /// Which writes are slow.
    pub classifier: SlowClassifier,
    /// The kind of the layer.
    pub kind: LayerKind,
    /// The posterior in sequential order.
    pub linear: Posterior,
    /// The posterior in random order.
    pub random: Posterior,
}

impl<'a> Search<'a> {
    /// Weighs every write of the experiment.
    ///
    /// # Errors
    /// Why they decide nothing.
    pub fn new(data: &'a OpenUnitsData) -> Result<Self, Undecidable> {
        let Some(linear) = evidence::sequential_posterior(data) else {
            let reason = Box::new(Reason::NotMeasured(Measurement::RoundRobinWrites));
            return Err(Undecidable { reason, would_decide: WouldDecide::WriteTests });
        };
        let linear = evidence::with_whole_requests(linear, data);
        let sequences = evidence::write_sequences(data);
        let classifier = linear.classifier();
        let at_start = sequences
            .first()
            .map_or(classifier, |sequence| sequence.classifier.at_least_as_strict_as(classifier));
        let as_much_as_a_merge = || drift_like_merges(data, &linear, sequences.first()?.classifier);
        if let Some(reason) = drift(data, at_start).or_else(as_much_as_a_merge) {
            return Err(Undecidable { reason: Box::new(reason), would_decide: WouldDecide::Rest });
        }
        let units_max = round_robin_max(&sequences, Order::Linear);
        let freed_cells = [&data.continued, &data.freed].into_iter().find_map(|cells| {
            evidence::found_with_freed_slots(cells, &linear, units_max)
                .map(|random| (cells.as_slice(), random))
        });
        let (freed_cells, random) = match freed_cells {
            Some((cells, random)) => (Some(cells), random),
            None => (None, evidence::random_posterior(&data.cells, &linear, units_max)),
        };
        let is_no_log = evidence::is_no_log(data, &linear);
        let is_log = evidence::is_slow_over_data(data, classifier) && !is_no_log;
        let kind = if is_log { LayerKind::Log } else { LayerKind::Blocks };
        let is_one_run = evidence::takes_one_run(data, classifier);
        let search =
            Self { data, sequences, is_over_data: false, freed_cells, classifier, kind, linear, random };
        if let Some(log) = search.over_data().filter(|_| !is_no_log) {
            return Ok(log);
        }
        let special = if is_one_run { Some(LayerKind::OneRun) } else { search.collected_in_one_run() };
        Ok(Self { kind: special.unwrap_or(kind), ..search })
    }

    /// The writes themselves.
    pub const fn data(&self) -> &'a OpenUnitsData {
        self.data
    }

    /// The posterior in one order.
    pub const fn posterior(&self, order: Order) -> &Posterior {
        match order {
            Order::Linear => &self.linear,
            Order::Random => &self.random,
        }
    }
}
