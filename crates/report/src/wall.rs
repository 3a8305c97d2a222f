//! The wall: what one open unit too many costs.

use flashscope_record::finding::FindingId;
use flashscope_record::observation::Order;

use crate::Report;
use crate::figures::{BySize, Figures};
use crate::rate::Rate;

/// Below this ratio we do not speak of a wall: published means of equal work differ by as much as a third.
pub const LEAST_RATIO: f64 = 1.5;

/// The same requests within the limit and just beyond it.
#[derive(Debug, Clone, Copy)]
pub struct Wall {
    /// How many units can be open.
    pub limit: u32,
    /// How many were open when it was fast.
    pub within: u32,
    /// How many were open when it was slow.
    pub beyond: u32,
    /// The rate within the limit.
    pub fast: Rate,
    /// The rate beyond.
    pub slow: Rate,
}

impl Wall {
    /// How many times longer a request takes.
    pub fn ratio(&self) -> f64 {
        self.slow.seconds / self.fast.seconds
    }
}

/// The request size at which the wall is highest; `None` if nothing beyond the limit was measured, or nothing is slower.
///
/// Writes into blocks in turn are held against each other. Writes of one size after the other, in one place, are short rows: they
/// count where nothing else was measured, and not behind memory of the controller, which takes such a row at once.
pub fn wall(report: &Report<'_>, figures: &Figures, order: Order) -> Option<Wall> {
    let limit = report.open_units(order)?;
    let (beyond, slow) = figures.of_order(order).find(|(count, _)| *count > limit)?;
    let highest = |fast: &[(u32, &BySize)]| {
        let walls = slow.values().filter_map(|slow| {
            let (within, fast) =
                fast.iter().find_map(|(count, rates)| Some((*count, *rates.get(&slow.request)?)))?;
            Some(Wall { limit, within, beyond, fast, slow: *slow })
        });
        walls.max_by(|a, b| a.ratio().total_cmp(&b.ratio())).filter(|wall| wall.ratio() >= LEAST_RATIO)
    };
    let is_buffered = report.size(FindingId::WriteBufferBytes).is_some();
    let alone = || (!is_buffered).then(|| highest(&figures.unhindered(order, Some(limit))))?;
    highest(&figures.in_turn(order, limit)).or_else(alone)
}
