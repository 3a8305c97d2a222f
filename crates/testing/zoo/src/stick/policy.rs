//! The translation layer: the number of open units, and the cost of exceeding it.

use flashscope_device::Bytes;
use flashscope_sim::profile::{
    Association, Basis, Curve, GcVictim, HybridLog, LogStructured, OpenBlocks, PageMapped, Policy, Victim,
};

use super::era::Era;
use super::geometry::{Geometry, truncated};
use crate::copy_costs::CopyCosts;
use crate::draw::Draw;
use crate::rounding::rounded;

/// The largest map, so that a thousand sticks are made in minutes. A guess.
const MAPPED_UNITS_MAX: u64 = 1 << 20;

/// Draws a policy. A layer that maps pages has no FAT area, and its map limits the capacity.
pub(super) fn sample(geometry: &mut Geometry, page_program_us: f64, draw: &mut Draw) -> Policy {
    let kind = draw.uniform_integer(0, 99);
    let linear = open_units(geometry, draw);
    if kind < 76 {
        return Policy::OpenBlocks(open_blocks(geometry, linear, draw));
    }
    geometry.shrink_to(geometry.page * MAPPED_UNITS_MAX);
    let costs = CopyCosts::sample(page_program_us, draw);
    match kind {
        76..=81 => hybrid_log(Association::Block, linear, costs),
        82..=85 => hybrid_log(Association::Full, linear.max(2), costs),
        _ => mapped(geometry, kind >= 93, linear.min(64), costs, draw),
    }
}

/// True if the policy may have a separate path for small writes.
pub(super) const fn allows_small_write_path(policy: &Policy) -> bool {
    matches!(policy, Policy::OpenBlocks(_))
}

const fn hybrid_log(association: Association, log_blocks: u32, costs: CopyCosts) -> Policy {
    let CopyCosts { copy_page_us, erase_us } = costs;
    Policy::HybridLog(HybridLog { basis: Basis::Assumed, association, log_blocks, copy_page_us, erase_us })
}

fn mapped(geometry: &mut Geometry, by_page: bool, streams: u32, costs: CopyCosts, draw: &mut Draw) -> Policy {
    geometry.fat_area = Bytes::ZERO;
    let over_provisioning = rounded(draw.uniform(0.03, 0.12), 3);
    let CopyCosts { copy_page_us, erase_us } = costs;
    if by_page {
        return Policy::PageMapped(PageMapped {
            basis: Basis::Assumed,
            over_provisioning,
            victim: if draw.bernoulli(0.5) { GcVictim::Greedy } else { GcVictim::CostBenefit },
            hot_cold: false,
            background_share: 0.0,
            copy_page_us,
            erase_us,
        });
    }
    Policy::LogStructured(LogStructured {
        basis: Basis::Assumed,
        streams,
        unit: Some(geometry.page * draw.weighted(&[(0.5, 1), (0.25, 2), (0.25, 4)])),
        over_provisioning,
        background_share: 0.0,
        copy_page_us,
        erase_us,
    })
}

fn open_blocks(geometry: &Geometry, linear: u32, draw: &mut Draw) -> OpenBlocks {
    let random = match draw.uniform_integer(0, 9) {
        0..=1 => 0,
        2..=5 => linear,
        _ => count(draw.uniform_integer(1, u64::from(linear))),
    };
    OpenBlocks {
        basis: Basis::Assumed,
        open_units_linear: linear,
        open_units_random: random,
        victim: if draw.bernoulli(0.75) { Victim::Lru } else { Victim::Random },
        merge_us: Curve::Constant(rounded(merge_us(geometry, draw), 0)),
        random_merge_us: None,
        open_us: 0.0,
        opening: Vec::new(),
        random_merge_copies: rounded(if draw.bernoulli(0.5) { 1.0 } else { draw.uniform(1.0, 2.5) }, 2),
        completes_broken_runs: true,
        fills_gaps: false,
        random_log: random_log(geometry, draw),
    }
}

/// Few on early sticks (1, 2, 3, 5, 7, 8, 20 and "64 and more" were reported), up to 128 on unusual ones.
fn open_units(geometry: &Geometry, draw: &mut Draw) -> u32 {
    let few = draw.uniform_integer(1, 10);
    let many = draw.log_uniform_integer(8.0, 129.0).min(128);
    let common = draw.weighted(&[
        (4.0, 1),
        (3.0, 2),
        (2.0, 3),
        (2.0, 4),
        (3.0, 5),
        (1.0, 6),
        (1.0, 7),
        (3.0, 8),
        (1.0, 10),
        (1.0, 16),
        (1.0, 20),
    ]);
    count(match geometry.era {
        Era::Early => draw.weighted(&[(0.6, 1), (0.4, few)]),
        Era::Middle => draw.weighted(&[(0.7, common), (0.2, few), (0.1, many)]),
        Era::Late => draw.weighted(&[(0.4, common), (0.2, few), (0.4, many)]),
        Era::Unusual => draw.uniform_integer(1, 128),
    })
}

/// The time to copy an erase block, plus an erase.
fn merge_us(geometry: &Geometry, draw: &mut Draw) -> f64 {
    let megabytes_per_s = match geometry.era {
        Era::Early => draw.log_uniform(2.0, 12.0),
        Era::Middle | Era::Unusual => draw.log_uniform(5.0, 40.0),
        Era::Late => draw.log_uniform(20.0, 150.0),
    };
    (geometry.erase_block.as_f64() / megabytes_per_s + 3000.0).clamp(8000.0, 1_500_000.0)
}

fn random_log(geometry: &Geometry, draw: &mut Draw) -> Option<Bytes> {
    let share = draw.uniform(0.25, 1.5);
    let log = Bytes::new(truncated(geometry.erase_block.as_f64() * share)).round_up(geometry.page);
    draw.bernoulli(0.4).then_some(log)
}

/// A drawn count, at most 128.
fn count(drawn: u64) -> u32 {
    u32::try_from(drawn).unwrap_or(u32::MAX)
}
