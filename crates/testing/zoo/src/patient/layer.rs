//! The translation layer of a patient: every class that virtual sticks have.

use flashscope_device::Bytes;

use crate::draw::Draw;
use crate::work::Work;

/// The numbers of a translation layer; times in us.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Layer {
    /// So many open erase blocks; none of them takes writes out of order where it is `linear_only`.
    OpenBlocks { units: u64, linear_only: bool, picks_lru: bool, merge: f64 },
    /// So many log blocks, each for one erase block.
    HybridLog { logs: u64, work: Work },
    /// A log of units of so many pages.
    LogStructured { streams: u64, unit_pages: u64, spare: f64, work: Work },
    /// A log of pages.
    PageMapped { spare: f64, work: Work },
}

impl Layer {
    /// One that has room for all places of an everyday copy.
    pub(super) fn sound(page_program: f64, draw: &mut Draw) -> Self {
        let work = Work::draw(page_program, draw);
        let spare = draw.between(0.04, 0.12);
        match draw.whole(0, 99) {
            0..55 => Self::open_blocks(draw.whole(6, 24), draw),
            55..70 => Self::HybridLog { logs: draw.whole(8, 24), work },
            70..85 => {
                let unit_pages = draw.weighted(&[(0.5, 1), (0.25, 2), (0.25, 4)]);
                Self::LogStructured { streams: draw.whole(6, 16), unit_pages, spare, work }
            }
            _ => Self::PageMapped { spare, work },
        }
    }

    fn open_blocks(units: u64, draw: &mut Draw) -> Self {
        Self::OpenBlocks {
            units,
            linear_only: draw.chance(0.2),
            picks_lru: draw.chance(0.8),
            merge: draw.log_between(4e4, 6e5),
        }
    }

    /// With room for fewer places than the copy has. A log through the whole flash has room for all.
    pub(super) fn with_few_units(self, draw: &mut Draw) -> Self {
        let few = draw.whole(1, 4);
        match self {
            Self::OpenBlocks { linear_only, picks_lru, merge, .. } => {
                Self::OpenBlocks { units: few, linear_only, picks_lru, merge }
            }
            Self::HybridLog { work, .. } => Self::HybridLog { logs: few, work },
            Self::LogStructured { .. } | Self::PageMapped { .. } => Self::open_blocks(few, draw),
        }
    }

    pub(super) fn toml(&self, page: Bytes) -> String {
        match self {
            Self::OpenBlocks { units, linear_only, picks_lru, merge } => format!(
                "[policy.open_blocks]\nbasis = \"assumed\"\nopen_units_linear = {units}\nopen_units_random = {}\nvictim = \"{}\"\n\
                 merge_us = {merge:.0}\n",
                if *linear_only { 0 } else { *units },
                if *picks_lru { "lru" } else { "random" }
            ),
            Self::HybridLog { logs, work } => format!(
                "[policy.hybrid_log]\nbasis = \"assumed\"\nassociation = \"block\"\nlog_blocks = {logs}\n{}",
                work.toml()
            ),
            Self::LogStructured { streams, unit_pages, spare, work } => format!(
                "[policy.log_structured]\nbasis = \"assumed\"\nstreams = {streams}\nunit = {}\nover_provisioning = {spare:.3}\n{}",
                (page * *unit_pages).get(),
                work.toml()
            ),
            Self::PageMapped { spare, work } => format!(
                "[policy.page_mapped]\nbasis = \"assumed\"\nvictim = \"greedy\"\nover_provisioning = {spare:.3}\n{}",
                work.toml()
            ),
        }
    }
}
