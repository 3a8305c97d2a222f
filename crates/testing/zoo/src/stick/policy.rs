//! The translation layer: how many units are open, and what it costs when there are too many.

use std::fmt::Write as _;

use flashscope_device::Bytes;

use super::geometry::{Age, Geometry, whole};
use super::size;
use crate::draw::Draw;
use crate::work::Work;

/// The numbers of a translation layer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Policy {
    OpenBlocks(OpenBlocks),
    HybridLog { association: &'static str, log_blocks: u64, work: Work },
    LogStructured { streams: u64, unit: Bytes, spare: f64, work: Work },
    PageMapped { victim: &'static str, spare: f64, work: Work },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OpenBlocks {
    linear: u64,
    random: u64,
    victim: &'static str,
    merge_us: f64,
    random_merge_copies: f64,
    random_log: Option<Bytes>,
}

/// A map of pages is not larger than this many of them, so that a thousand sticks are made in minutes.
const MAPPED_UNITS_MAX: u64 = 1 << 20;

impl Policy {
    /// Draws one. A layer that maps pages has no FAT area, and a stick no larger than its map allows.
    pub(super) fn draw(geometry: &mut Geometry, page_program_us: f64, draw: &mut Draw) -> Self {
        let kind = draw.whole(0, 99);
        let linear = open_units(geometry, draw);
        if kind < 76 {
            return Self::OpenBlocks(OpenBlocks::draw(geometry, linear, draw));
        }
        geometry.shrink_to(geometry.page * MAPPED_UNITS_MAX);
        let work = Work::draw(page_program_us, draw);
        match kind {
            76..=81 => Self::HybridLog { association: "block", log_blocks: linear, work },
            82..=85 => Self::HybridLog { association: "full", log_blocks: linear.max(2), work },
            _ => Self::mapped(geometry, kind >= 93, linear.min(64), work, draw),
        }
    }

    fn mapped(geometry: &mut Geometry, by_page: bool, streams: u64, work: Work, draw: &mut Draw) -> Self {
        geometry.fat_area = Bytes::ZERO;
        let spare = draw.between(0.03, 0.12);
        if by_page {
            let victim = if draw.chance(0.5) { "greedy" } else { "cost-benefit" };
            return Self::PageMapped { victim, spare, work };
        }
        let unit = geometry.page * draw.weighted(&[(0.5, 1), (0.25, 2), (0.25, 4)]);
        Self::LogStructured { streams, unit, spare, work }
    }

    /// Whether there is no path of their own for small writes.
    pub(super) const fn maps_small_writes_alike(&self) -> bool {
        !matches!(self, Self::OpenBlocks(_))
    }

    pub(super) fn toml(&self) -> String {
        match self {
            Self::OpenBlocks(policy) => policy.toml(),
            Self::HybridLog { association, log_blocks, work } => format!(
                "\n[policy.hybrid_log]\nbasis = \"assumed\"\nassociation = \"{association}\"\nlog_blocks = {log_blocks}\n{}",
                work.toml()
            ),
            Self::LogStructured { streams, unit, spare, work } => format!(
                "\n[policy.log_structured]\nbasis = \"assumed\"\nstreams = {streams}\nunit = {}\nover_provisioning = {spare:.3}\n{}",
                size(*unit),
                work.toml()
            ),
            Self::PageMapped { victim, spare, work } => format!(
                "\n[policy.page_mapped]\nbasis = \"assumed\"\nvictim = \"{victim}\"\nover_provisioning = {spare:.3}\n{}",
                work.toml()
            ),
        }
    }
}

impl OpenBlocks {
    fn draw(geometry: &Geometry, linear: u64, draw: &mut Draw) -> Self {
        let random = match draw.whole(0, 9) {
            0..=1 => 0,
            2..=5 => linear,
            _ => draw.whole(1, linear),
        };
        Self {
            linear,
            random,
            victim: if draw.chance(0.75) { "lru" } else { "random" },
            merge_us: merge_us(geometry, draw),
            random_merge_copies: if draw.chance(0.5) { 1.0 } else { draw.between(1.0, 2.5) },
            random_log: random_log(geometry, draw),
        }
    }

    fn toml(&self) -> String {
        let mut text = format!(
            "\n[policy.open_blocks]\nbasis = \"assumed\"\nopen_units_linear = {}\nopen_units_random = {}\nvictim = \"{}\"\n\
             merge_us = {:.0}\nrandom_merge_copies = {:.2}\n",
            self.linear, self.random, self.victim, self.merge_us, self.random_merge_copies
        );
        if let Some(log) = self.random_log {
            let _ = writeln!(text, "random_log = {}", size(log));
        }
        text
    }
}

/// Few on old sticks (1, 2, 3, 5, 7, 8, 20 and "64 and more" were seen), any number up to 128 on odd ones.
fn open_units(geometry: &Geometry, draw: &mut Draw) -> u64 {
    let few = draw.whole(1, 10);
    let many = draw.log_whole(8.0, 129.0).min(128);
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
    match geometry.age {
        Age::Old => draw.weighted(&[(0.6, 1), (0.4, few)]),
        Age::Middle => draw.weighted(&[(0.7, common), (0.2, few), (0.1, many)]),
        Age::Late => draw.weighted(&[(0.4, common), (0.2, few), (0.4, many)]),
        Age::Odd => draw.whole(1, 128),
    }
}

/// A block's data at the speed of copying, and an erase.
fn merge_us(geometry: &Geometry, draw: &mut Draw) -> f64 {
    let megabytes_per_s = match geometry.age {
        Age::Old => draw.log_between(2.0, 12.0),
        Age::Middle | Age::Odd => draw.log_between(5.0, 40.0),
        Age::Late => draw.log_between(20.0, 150.0),
    };
    (geometry.erase_block.as_f64() / megabytes_per_s + 3000.0).clamp(8000.0, 1_500_000.0)
}

fn random_log(geometry: &Geometry, draw: &mut Draw) -> Option<Bytes> {
    let share = draw.between(0.25, 1.5);
    let log = Bytes::new(whole(geometry.erase_block.as_f64() * share)).round_up(geometry.page);
    draw.chance(0.4).then_some(log)
}
