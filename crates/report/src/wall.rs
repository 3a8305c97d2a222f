//! The wall: what one open unit too many costs.

use flashscope_probe::observation::Order;

use crate::Report;
use crate::figures::Figures;
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
pub fn wall(report: &Report<'_>, figures: &Figures, order: Order) -> Option<Wall> {
    let limit = report.open_units(order)?;
    let fast = figures.unhindered(order, Some(limit));
    let (beyond, slow) = figures.of_order(order).find(|(count, _)| *count > limit)?;
    let walls = slow.values().filter_map(|slow| {
        let (within, fast) =
            fast.iter().find_map(|(count, rates)| Some((*count, *rates.get(&slow.request)?)))?;
        Some(Wall { limit, within, beyond, fast, slow: *slow })
    });
    walls.max_by(|a, b| a.ratio().total_cmp(&b.ratio())).filter(|wall| wall.ratio() >= LEAST_RATIO)
}
