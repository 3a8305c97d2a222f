//! The probability of errors that the posterior of the search does not know.

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use super::kind::LayerKind;
use super::weighed::Search;
use crate::copying::{Delay, ERASE_SECONDS};
use crate::open_blocks::eviction::EvictionLaw;
use crate::open_blocks::evidence;
use crate::thresholds::{AS_LIKELY_AS_NOT, MODEL_ERROR, ROUGH_MODEL_ERROR};

/// Shorter merges are something else with this probability. Guess.
pub const SHORTER_THAN_ERASING: f64 = 0.1;
/// So are merges in random order that copy this many times as fast as the stick writes: copying programs the
/// same pages, in several dies at once at most. Guess.
const COPIES_QUICKLY: f64 = 4.0;
/// A block of fewer writes than this makes the search less sure. Guess.
const FEW_WRITES: f64 = 24.0;

impl Search<'_> {
    /// The probability of an error that the posterior does not know. Under random eviction it follows the
    /// controller on average only; in blocks of few writes, merges of nearly full ones do not show.
    pub fn model_error(&self, order: Order) -> f64 {
        let request = self.sequences.last().map_or(1.0, |sequence| sequence.request.as_f64());
        let writes = self.data.erase_block.as_f64() / request;
        let few = if writes < FEW_WRITES { 1.0 / writes } else { 0.0 };
        let is_random_or_hidden = if self.hides_merges() {
            1.0
        } else {
            self.posterior(order).eviction_probability(EvictionLaw::Random)
        };
        MODEL_ERROR
            + ROUGH_MODEL_ERROR * is_random_or_hidden
            + few
            + self.merge_model_error(order)
            + self.switch_model_error()
    }

    /// If merges between two blocks are shorter than copying one, they may be the cost of any switch.
    fn switch_model_error(&self) -> f64 {
        let one = self.fits(Order::Linear).filter(|fits| *fits == 1 && !self.is_over_data);
        let seconds = one.and_then(|fits| self.merge(Order::Linear, fits)).map(|(seconds, _)| seconds);
        let request = self.sequences.last().map_or(Bytes::ZERO, |sequence| sequence.request);
        let is_short =
            |seconds| evidence::hardly_copies_block(seconds, self.classifier, request, self.data.erase_block);
        if seconds.is_some_and(is_short) { ROUGH_MODEL_ERROR } else { 0.0 }
    }

    /// Whether more blocks than fit were written round-robin without a visible merge: then some merges are
    /// hidden.
    fn hides_merges(&self) -> bool {
        !self.is_over_data && self.linear.open_at_once_max() > self.linear.verdict().number
    }

    /// The probability that slow writes are no merges. Each merge erases a block. In random order, if every
    /// write merges, each also copies one.
    pub fn merge_model_error(&self, order: Order) -> f64 {
        let fits = self.fits(order);
        let Some((seconds, _)) = fits.and_then(|fits| self.merge(order, fits)) else { return 0.0 };
        let another_law = self.another_law_probability(order);
        if another_law >= SHORTER_THAN_ERASING {
            return another_law;
        }
        let request = self.data.cells.first().map_or(0.0, |cell| cell.request.as_f64());
        let writes = request / self.classifier.typical_seconds();
        let is_too_fast = self.data.erase_block.as_f64() > seconds * writes * COPIES_QUICKLY;
        if seconds < ERASE_SECONDS || (order == Order::Random && fits == Some(0) && is_too_fast) {
            SHORTER_THAN_ERASING
        } else {
            another_law
        }
    }

    /// The probability of another law than random eviction or hidden merges, where writes look like either:
    /// the same blocks merge in every round, in this order or in sequential order, or all in a fixed cycle.
    fn another_law_probability(&self, order: Order) -> f64 {
        if self.kind != LayerKind::Blocks {
            return 0.0;
        }
        let is_random = |order: Order| self.posterior(order).eviction_probability(EvictionLaw::Random) > 0.5;
        let same_blocks = |order: Order| {
            (is_random(order) || self.posterior(order).hides_merges()) && self.merges_the_same_blocks(order)
        };
        let of_blocks = if same_blocks(order) || same_blocks(Order::Linear) { AS_LIKELY_AS_NOT } else { 0.0 };
        let of_cycle = if is_random(Order::Linear) { self.cycle_probability() } else { 0.0 };
        of_blocks.max(of_cycle)
    }

    /// The delay of a switch, if the layer merges whole blocks, or `of_any_kind`.
    pub fn merge_delay(&self, of_any_kind: bool) -> Option<Delay> {
        let in_order = |order: Order| self.fits(order).and_then(|fits| self.merge(order, fits));
        let merge = in_order(Order::Linear).or_else(|| in_order(Order::Random));
        let (seconds, _) = merge.filter(|_| of_any_kind || self.kind == LayerKind::Blocks)?;
        Some(Delay { seconds, write_s: self.classifier.typical_seconds() })
    }
}
