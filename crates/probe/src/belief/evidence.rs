//! The belief that stored writes lead to: the same as while they were measured.

use std::time::Duration;

use flashscope_device::Bytes;

use super::{Belief, Prior, Slowness};
use crate::observation::{OpenUnitsData, Order};

/// What a write without a merge takes, by the writes into one unit at the start; the first of them, which may close
/// another block, does not count. `None` if there are too few.
#[must_use]
pub fn unmerged(data: &OpenUnitsData) -> Option<Slowness> {
    let first = data.cells.first().filter(|cell| cell.order == Order::Linear && cell.open_units == 1)?;
    let times: Vec<Duration> = first.writes().skip(1).map(|(_, latency)| latency).collect();
    Slowness::beyond(&times).filter(|_| times.len() >= 3)
}

/// The belief behind all writes of the search in one order.
#[must_use]
pub fn of(data: &OpenUnitsData, order: Order, slowness: Slowness, prior: Prior) -> Belief {
    let request = data.cells.first().map(|cell| cell.request);
    let mut belief =
        Belief::new(order, slowness, prior).full_after(writes_per_unit(data.erase_block, request));
    let searched = data.cells.iter().filter(|cell| cell.order == order && Some(cell.request) == request);
    for (unit, latency) in searched.flat_map(|cell| cell.writes()) {
        belief.write(unit, latency);
    }
    belief
}

/// After how many writes of this size an erase block is full.
#[must_use]
pub fn writes_per_unit(erase_block: Bytes, request: Option<Bytes>) -> u32 {
    request.map_or(u32::MAX, |request| u32::try_from(erase_block / request).unwrap_or(u32::MAX))
}
