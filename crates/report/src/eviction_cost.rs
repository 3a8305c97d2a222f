//! The cost of one open erase block too many: each switch then evicts a block, which costs a merge.

use flashscope_record::finding::FindingId;
use flashscope_record::observation::Order;

use crate::Report;
use crate::figures::{Figures, RatesBySize};
use crate::rate::Rate;

/// The least slowdown worth reporting. Published means of equal work differ by up to a third; 1.5 lies above
/// that.
pub const SLOWDOWN_RATIO_MIN: f64 = 1.5;

/// The same requests with as many open blocks as the controller keeps, and with more.
#[derive(Debug, Clone, Copy)]
pub struct EvictionCost {
    /// The most blocks the controller keeps open.
    pub open_units_max: u32,
    /// The number of open blocks of the fast writes.
    pub open_units_within: u32,
    /// The number of open blocks of the slow writes.
    pub open_units_beyond: u32,
    /// The rate of the fast writes.
    pub rate_within: Rate,
    /// The rate of the slow writes.
    pub rate_beyond: Rate,
}

impl EvictionCost {
    /// The slow writes' latency divided by that of the fast ones.
    pub fn ratio(&self) -> f64 {
        self.rate_beyond.seconds / self.rate_within.seconds
    }
}

/// The eviction cost at the request size where it is highest; `None` if no more blocks were tried, or none
/// was slower.
///
/// Round-robin writes are compared with round-robin writes. The single stream of the write-size test is
/// short: it counts only where nothing else was measured, and never if a write buffer could have taken it.
pub fn eviction_cost(report: &Report<'_>, figures: &Figures, order: Order) -> Option<EvictionCost> {
    let open_units_max = report.open_units(order)?;
    let (beyond, slow_rates) = figures.of_order(order).find(|(count, _)| *count > open_units_max)?;
    let highest = |fast: &[(u32, &RatesBySize)]| {
        let costs = slow_rates.values().filter_map(|slow| {
            let (within, fast) =
                fast.iter().find_map(|(count, rates)| Some((*count, *rates.get(&slow.request)?)))?;
            Some(EvictionCost {
                open_units_max,
                open_units_within: within,
                open_units_beyond: beyond,
                rate_within: fast,
                rate_beyond: *slow,
            })
        });
        costs.max_by(|a, b| a.ratio().total_cmp(&b.ratio())).filter(|cost| cost.ratio() >= SLOWDOWN_RATIO_MIN)
    };
    let is_buffered = report.size(FindingId::WriteBufferBytes).is_some();
    let single_stream =
        || (!is_buffered).then(|| highest(&figures.merge_free(order, Some(open_units_max))))?;
    highest(&figures.round_robin(order, open_units_max)).or_else(single_stream)
}
