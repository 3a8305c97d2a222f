//! What is true of a profile, in the words of the findings.

use flashscope_device::Bytes;

use super::{Association, OpenBlocks, Policy, Profile, Victim};

/// The class of a flash translation layer, as it shows from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Each write out of order costs a merge.
    LinearOnly,
    /// One open unit too many costs a constant merge per request.
    OpenBlock,
    /// The cost beyond the open units grows step by step.
    LogStructured,
    /// Log blocks take all writes; data blocks are merged with them.
    HybridLog,
    /// Pages are mapped one by one: order and place do not matter, only how full the stick is.
    PageMapped,
}

/// What a perfect measurement of a stick would find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truth {
    /// The unit that is mapped, erased and merged.
    pub erase_block: Bytes,
    /// The effective page.
    pub page: Bytes,
    /// How many units may be written in turn, each from start to end; `None` if no number is too many.
    pub open_units_linear: Option<u32>,
    /// The same, in any order inside each; 0 if out of order always merges; `None` if there is no such number.
    pub open_units_random: Option<u32>,
    /// The page-mapped region at the start; 0 if there is none.
    pub fat_area: Bytes,
    /// The class.
    pub class: Class,
    /// The largest command that takes the separate path of small writes, if there is one.
    pub small_writes_up_to: Option<Bytes>,
    /// What goes to the SLC cache at its speed, from an empty stick on without a pause; `None` without one.
    pub slc_cache: Option<Bytes>,
    /// The write buffer; `None` without one. (The sustained rate is [`Profile::sustained_write_per_s`].)
    pub write_buffer: Option<Bytes>,
    /// The most that the link lets reads and writes reach, per second.
    pub link_bytes_per_s: Bytes,
}

impl Truth {
    pub(super) fn of(profile: &Profile) -> Self {
        let (open_units_linear, open_units_random) = open_units(profile);
        Self {
            erase_block: profile.ftl.erase_block,
            page: profile.ftl.page,
            open_units_linear,
            open_units_random,
            fat_area: profile.ftl.fat_area,
            class: class_of(&profile.policy),
            small_writes_up_to: profile.small_writes.as_ref().map(|small| small.up_to),
            slc_cache: profile.slc_cache.as_ref().map(|cache| cache.from_empty(profile.capacity)),
            write_buffer: profile.write_buffer.as_ref().map(|buffer| buffer.size),
            link_bytes_per_s: profile.link.timing().ceiling_per_s(),
        }
    }
}

/// Open units for writes in order and in any order.
fn open_units(profile: &Profile) -> (Option<u32>, Option<u32>) {
    match &profile.policy {
        Policy::OpenBlocks(policy) => (Some(policy.open_units_linear), Some(policy.open_units_random)),
        Policy::HybridLog(policy) => match policy.association {
            Association::Block => (Some(policy.log_blocks), Some(policy.log_blocks)),
            // One run in order; any order goes to the shared logs, whose merges come in proportion to what is written.
            Association::Full => (Some(1), None),
        },
        // Beyond the streams a run leaves mapping units unfinished; a page that is mapped on its own is never unfinished.
        Policy::LogStructured(policy) => {
            let coarse = policy.unit.is_some_and(|unit| unit > profile.ftl.page);
            (coarse.then_some(policy.streams), None)
        }
        Policy::PageMapped(_) => (None, None),
    }
}

const fn class_of(policy: &Policy) -> Class {
    match policy {
        Policy::OpenBlocks(OpenBlocks { open_units_random: 0, .. }) => Class::LinearOnly,
        Policy::OpenBlocks(OpenBlocks { victim: Victim::Lru, .. }) => Class::OpenBlock,
        Policy::OpenBlocks(_) | Policy::LogStructured(_) => Class::LogStructured,
        Policy::HybridLog(_) => Class::HybridLog,
        Policy::PageMapped(_) => Class::PageMapped,
    }
}
