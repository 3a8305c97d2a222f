//! The translation layers under test, on small sticks with unusual geometries in every state.

use flashscope_device::Bytes;
use flashscope_sim::profile::{
    Association, Basis, GcVictim, HybridLog, LogStructured, PageMapped, Policy, State,
};
use flashscope_sim::{Profile, ProfileError};

/// A translation layer under test.
#[derive(Debug)]
pub struct Layer {
    pub name: &'static str,
    /// The built-in profile, of which geometry and policy are replaced.
    base: &'static str,
    /// The policy for a page of this size; `None`: the profile's own.
    policy: Option<fn(Bytes) -> Policy>,
}

pub const ALL: [Layer; 9] = [
    Layer { name: "open-blocks", base: "transcend-8g", policy: None },
    Layer { name: "open-blocks-random", base: "patriot-xt-16g", policy: None },
    Layer { name: "linear-only", base: "generic-2g", policy: None },
    Layer { name: "hybrid-log-block", base: BASE, policy: Some(|_| hybrid_log(Association::Block)) },
    Layer { name: "hybrid-log-full", base: BASE, policy: Some(|_| hybrid_log(Association::Full)) },
    Layer { name: "log-structured", base: BASE, policy: Some(|page| log_structured(page, 4)) },
    Layer { name: "log-structured-coarse", base: BASE, policy: Some(|page| log_structured(page * 4, 2)) },
    Layer { name: "page-mapped-greedy", base: BASE, policy: Some(|_| page_mapped(GcVictim::Greedy, false)) },
    Layer {
        name: "page-mapped-cost-benefit",
        base: BASE,
        policy: Some(|_| page_mapped(GcVictim::CostBenefit, true)),
    },
];

const BASE: &str = "transcend-8g";

// Erase blocks and pages in KiB: one, two, three and five planes; each block a multiple of four pages.
const GEOMETRIES: [(u64, u64); 6] = [(256, 16), (384, 48), (192, 12), (768, 24), (640, 5), (1536, 32)];
const STATES: [State; 4] = [State::New, State::Full, State::Steady, State::Trimmed];

impl Layer {
    /// The stick of one shard, whose number selects geometry and state.
    pub fn profile(&self, shard: u64) -> Result<Profile, ProfileError> {
        let mut profile = Profile::builtin(self.base)?;
        let choose = |count: usize| usize::try_from(shard % count as u64).unwrap_or(0);
        let (block_kib, page_kib) = GEOMETRIES[choose(GEOMETRIES.len())];
        (profile.ftl.erase_block, profile.ftl.page) = (Bytes::kib(block_kib), Bytes::kib(page_kib));
        profile.capacity = profile.ftl.erase_block * 24 + Bytes::kib(37);
        profile.state = STATES[choose(STATES.len())];
        profile.ftl.fat_area =
            if self.base == BASE && self.policy.is_none() { profile.ftl.erase_block } else { Bytes::ZERO };
        (profile.noise.jitter, profile.noise.outliers_per_million) = (0.0, 0.0);
        match (&mut profile.policy, self.policy) {
            (policy, Some(of_page)) => *policy = of_page(profile.ftl.page),
            (Policy::OpenBlocks(policy), None) => policy.random_log = None,
            _ => {}
        }
        profile.check()?;
        Ok(profile)
    }
}

const fn hybrid_log(association: Association) -> Policy {
    let basis = Basis::Assumed;
    Policy::HybridLog(HybridLog { basis, association, log_blocks: 4, copy_page_us: 900.0, erase_us: 4e3 })
}

const fn log_structured(unit: Bytes, streams: u32) -> Policy {
    Policy::LogStructured(LogStructured {
        basis: Basis::Assumed,
        streams,
        unit: Some(unit),
        over_provisioning: 0.1,
        background_share: 0.0,
        copy_page_us: 900.0,
        erase_us: 4e3,
    })
}

const fn page_mapped(victim: GcVictim, hot_cold: bool) -> Policy {
    Policy::PageMapped(PageMapped {
        basis: Basis::Assumed,
        over_provisioning: 0.1,
        victim,
        hot_cold,
        background_share: 0.0,
        copy_page_us: 900.0,
        erase_us: 4e3,
    })
}
