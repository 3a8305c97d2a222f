//! What is true of a profile, in the words of the findings.

use flashscope_device::Bytes;

use super::{OpenBlocks, Policy, Profile, Victim};

/// The class of a flash translation layer, as it shows from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Each write out of order costs a merge.
    LinearOnly,
    /// One open unit too many costs a constant merge per request.
    OpenBlock,
    /// The cost beyond the open units grows step by step.
    LogStructured,
}

/// What a perfect measurement of a stick would find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truth {
    /// The unit that is mapped, erased and merged.
    pub erase_block: Bytes,
    /// The effective page.
    pub page: Bytes,
    /// How many units may be written in turn, each from start to end.
    pub open_units_linear: u32,
    /// The same, in any order inside each; 0 if out of order always merges.
    pub open_units_random: u32,
    /// The page-mapped region at the start; 0 if there is none.
    pub fat_area: Bytes,
    /// The class.
    pub class: Class,
    /// The largest command that takes the separate path of small writes, if there is one.
    pub small_writes_up_to: Option<Bytes>,
    /// The most that the link lets reads and writes reach, per second.
    pub link_bytes_per_s: Bytes,
}

impl Truth {
    pub(super) fn of(profile: &Profile) -> Self {
        let Policy::OpenBlocks(policy) = &profile.policy;
        Self {
            erase_block: profile.ftl.erase_block,
            page: profile.ftl.page,
            open_units_linear: policy.open_units_linear,
            open_units_random: policy.open_units_random,
            fat_area: profile.ftl.fat_area,
            class: class_of(policy),
            small_writes_up_to: profile.small_writes.as_ref().map(|small| small.up_to),
            link_bytes_per_s: profile.link.timing().ceiling_per_s(),
        }
    }
}

const fn class_of(policy: &OpenBlocks) -> Class {
    match (policy.open_units_random, policy.victim) {
        (0, _) => Class::LinearOnly,
        (_, Victim::Lru) => Class::OpenBlock,
        (_, Victim::Random) => Class::LogStructured,
    }
}
