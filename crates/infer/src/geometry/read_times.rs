//! Limits of steps in reads, for our own reads and for the rows of published tables.

use flashscope_device::Bytes;

use crate::geometry::staircase::Positions;
use crate::geometry::{boundary, staircase};
use crate::statistics::{count, median};
use crate::thresholds::{MOST, NOT_NOISE};

/// The least step in a published table, whose noise is not known, as a share of a read's time. Alignment
/// effects of an NVMe drive are 1 to 3 % (docs/methods/align.md); the margin is a guess.
const PUBLISHED_STEP_SHARE_MIN: f64 = 0.05;

/// The time of a read beside a boundary, and the limits that follow from it.
#[derive(Debug, Clone, Copy)]
pub struct ReadTimes {
    /// The median read, seconds.
    pub read_s: f64,
    /// The smallest step that counts as a boundary, seconds.
    pub step_min_s: f64,
    /// A page's step that another exceeds by this factor is a detail of addressing.
    pub hardly: f64,
    /// The smallest erase block that is searched for.
    pub block_min: Bytes,
    /// Whether the reads are those of published tables.
    pub is_published: bool,
}

impl ReadTimes {
    /// For reads of this time and kind.
    #[must_use]
    pub fn of(read_s: f64, positions: Positions) -> Self {
        // The steps of a published table are not known well enough for that.
        let (step_min_s, hardly, block_min) = match positions {
            Positions::Coprime => (
                boundary::limits::step_min_s(read_s),
                boundary::limits::HARDLY,
                boundary::limits::ERASE_BLOCK_MIN,
            ),
            Positions::OddMultiples => {
                (read_s * PUBLISHED_STEP_SHARE_MIN, f64::INFINITY, staircase::ERASE_BLOCK_MIN)
            }
        };
        let is_published = positions == Positions::OddMultiples;
        Self { read_s, step_min_s, hardly, block_min, is_published }
    }
}

/// Whether most rows at a boundary lie above the middle between both, and most of the others below.
pub fn rows_agree(across: &[f64], beside: &[f64]) -> bool {
    let (Some(high), Some(low)) = (median(across), median(beside)) else { return false };
    let middle = f64::midpoint(high, low);
    let above =
        |rows: &[f64]| count(rows.iter().filter(|row| **row > middle).count()) / count(rows.len().max(1));
    across.len() >= NOT_NOISE && above(across) >= MOST && above(beside) <= 1.0 - MOST
}
