//! The translation layer of a case: one of the four policies.

use flashscope_device::Bytes;
use flashscope_sim::profile::{
    Association, Basis, Curve, GcVictim, HybridLog, LogStructured, OpenBlocks, PageMapped, Policy, Victim,
};

use crate::copy_costs::CopyCosts;
use crate::draw::Draw;
use crate::rounding::rounded;

/// The parameters of a translation layer. The mapping unit of a log is given in pages, as the page may still
/// change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    policy: Policy,
    unit_pages: u64,
}

impl Layer {
    /// A layer with enough open units for all streams of an everyday copy.
    pub(super) fn baseline(page_program_us: f64, draw: &mut Draw) -> Self {
        let CopyCosts { copy_page_us, erase_us } = CopyCosts::sample(page_program_us, draw);
        let over_provisioning = rounded(draw.uniform(0.04, 0.12), 3);
        match draw.uniform_integer(0, 99) {
            0..55 => Self::open_blocks(draw.uniform_integer(6, 24), draw),
            55..70 => Self::of(Policy::HybridLog(HybridLog {
                basis: Basis::Assumed,
                association: Association::Block,
                log_blocks: count(draw.uniform_integer(8, 24)),
                copy_page_us,
                erase_us,
            })),
            70..85 => {
                let unit_pages = draw.weighted(&[(0.5, 1), (0.25, 2), (0.25, 4)]);
                let policy = Policy::LogStructured(LogStructured {
                    basis: Basis::Assumed,
                    streams: count(draw.uniform_integer(6, 16)),
                    unit: None,
                    over_provisioning,
                    background_share: 0.0,
                    copy_page_us,
                    erase_us,
                });
                Self { policy, unit_pages }
            }
            _ => Self::of(Policy::PageMapped(PageMapped {
                basis: Basis::Assumed,
                over_provisioning,
                victim: GcVictim::Greedy,
                hot_cold: false,
                background_share: 0.0,
                copy_page_us,
                erase_us,
            })),
        }
    }

    const fn of(policy: Policy) -> Self {
        Self { policy, unit_pages: 1 }
    }

    fn open_blocks(units: u64, draw: &mut Draw) -> Self {
        let is_linear_only = draw.bernoulli(0.2);
        Self::of(Policy::OpenBlocks(OpenBlocks {
            basis: Basis::Assumed,
            open_units_linear: count(units),
            open_units_random: if is_linear_only { 0 } else { count(units) },
            victim: if draw.bernoulli(0.8) { Victim::Lru } else { Victim::Random },
            merge_us: Curve::Constant(rounded(draw.log_uniform(4e4, 6e5), 0)),
            random_merge_us: None,
            open_us: 0.0,
            opening: Vec::new(),
            random_merge_copies: 1.0,
            completes_broken_runs: true,
            fills_gaps: false,
            random_log: None,
        }))
    }

    /// With fewer open units than the copy has streams. Mapped layers have no such limit and become open
    /// blocks.
    pub(super) fn with_few_units(mut self, draw: &mut Draw) -> Self {
        let few = draw.uniform_integer(1, 4);
        match &mut self.policy {
            Policy::OpenBlocks(policy) => {
                policy.open_units_linear = count(few);
                policy.open_units_random = policy.open_units_random.min(count(few));
            }
            Policy::HybridLog(policy) => policy.log_blocks = count(few),
            Policy::LogStructured(_) | Policy::PageMapped(_) => return Self::open_blocks(few, draw),
        }
        self
    }

    /// The policy for a stick with this page.
    pub(super) fn policy(&self, page: Bytes) -> Policy {
        let mut policy = self.policy.clone();
        if let Policy::LogStructured(policy) = &mut policy {
            policy.unit = Some(page * self.unit_pages);
        }
        policy
    }
}

/// A drawn count, at most 24.
fn count(drawn: u64) -> u32 {
    u32::try_from(drawn).unwrap_or(u32::MAX)
}
