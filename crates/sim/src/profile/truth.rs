//! The facts about a profile that inference should find, in the terms of the findings.

use flashscope_device::Bytes;

use super::class::Class;
use super::document::Profile;
use super::policy::OpenUnits;

/// What a perfect measurement of a stick would find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truth {
    /// The erase block: the unit that is mapped, erased and merged.
    pub erase_block: Bytes,
    /// The effective page.
    pub page: Bytes,
    /// The number of erase blocks that sequential writes can interleave; `None`: any number.
    pub open_units_linear: Option<u32>,
    /// The same for random writes inside each; 0 if random writes always merge; `None`: no such limit.
    pub open_units_random: Option<u32>,
    /// The page-mapped region at the start; 0 if there is none.
    pub fat_area: Bytes,
    /// The class of the translation layer.
    pub class: Class,
    /// The largest command that takes the separate path of small writes, if there is one.
    pub small_writes_up_to: Option<Bytes>,
    /// The bytes that an empty stick takes at SLC speed without a pause; `None` without an SLC cache.
    pub slc_cache: Option<Bytes>,
    /// The write buffer; `None` without one. (The sustained rate is [`Profile::sustained_write_per_s`].)
    pub write_buffer: Option<Bytes>,
    /// The most that the link lets reads and writes reach, bytes per second.
    pub link_bytes_per_s: Bytes,
}

impl Profile {
    /// The facts that inference about this stick should find, for tests.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let section = self.policy.section();
        let OpenUnits { linear, random } = section.open_units(&self.ftl);
        Truth {
            erase_block: self.ftl.erase_block,
            page: self.ftl.page,
            open_units_linear: linear,
            open_units_random: random,
            fat_area: self.ftl.fat_area,
            class: section.class(),
            small_writes_up_to: self.small_writes.as_ref().map(|small| small.up_to),
            slc_cache: self.slc_cache.as_ref().map(|cache| cache.from_empty(self.capacity)),
            write_buffer: self.write_buffer.as_ref().map(|buffer| buffer.size),
            link_bytes_per_s: self.link.timing().ceiling_per_s(),
        }
    }
}
