//! What is true of a profile, finding by finding, and what a host cannot see of it.

use flashscope_device::Bytes;
use flashscope_sim::profile::{Association, Policy, State};
use flashscope_sim::{Class, Profile};

use super::write_unit;
use crate::truth::{Fact, Truth};

pub(super) fn of(profile: &Profile) -> Truth {
    let stick = profile.truth();
    let mut truth = Truth::default();
    truth.bytes("erase_block_bytes", stick.erase_block);
    truth.bytes("page_bytes", stick.page);
    truth.bytes("fat_area_bytes", stick.fat_area);
    truth.set("open_units_linear", units(stick.open_units_linear));
    truth.set("open_units_random", units(stick.open_units_random));
    truth.set("ftl_class", Fact::OneOf(classes(profile)));
    let has_boundaries = !profile.read.boundary.is_empty();
    truth.set("read_boundary_signal", Fact::OneOf(if has_boundaries { &["yes"] } else { &["no"] }));
    if let Policy::OpenBlocks(policy) = &profile.policy {
        truth.set("merge_seconds", Fact::Number(policy.merge_us.last_us() * 1e-6));
    }
    if let Some((low, high)) = write_unit::range(profile) {
        truth.set("write_unit_bytes", Fact::Bytes { low, high });
    }
    hide(&mut truth, profile);
    truth
}

/// Without a limit every number is wrong.
fn units(count: Option<u32>) -> Fact {
    count.map_or(Fact::Absent, Fact::Count)
}

/// The class names that agree with the visible behaviour.
fn classes(profile: &Profile) -> &'static [&'static str] {
    let stick = profile.truth();
    match (stick.class, &profile.policy) {
        (Class::LinearOnly, _) => &["linear-only"],
        (Class::OpenBlock, _) => &["open-block"],
        // With a single open unit both evictions are the same: every request merges.
        (Class::LogStructured, _) if stick.open_units_linear == Some(1) => &["open-block", "log-structured"],
        // With units of one page no run needs completion, so there is no limit to the streams.
        (Class::LogStructured, _) if stick.open_units_linear.is_none() => &["log-structured", "page-mapped"],
        (Class::LogStructured, _) => &["log-structured"],
        // One log block each for a limited number of erase blocks behaves like open blocks.
        (_, Policy::HybridLog(policy)) if policy.association == Association::Block => {
            &["hybrid-log", "open-block"]
        }
        // Shared logs fill up and are merged gradually.
        (Class::HybridLog, _) => &["hybrid-log", "log-structured"],
        (Class::PageMapped, _) => &["page-mapped"],
    }
}

/// Findings that depend on visible merges.
const MERGE_FINDINGS: [&str; 5] =
    ["open_units_linear", "open_units_random", "ftl_class", "fat_area_bytes", "merge_seconds"];

fn hide(truth: &mut Truth, profile: &Profile) {
    let stick = profile.truth();
    let mut hide = |ids: &[&'static str], reason| ids.iter().for_each(|id| truth.hide(id, reason));
    let blocks = (profile.capacity.saturating_sub(stick.fat_area)) / stick.erase_block;
    if stick.open_units_linear.is_some_and(|units| blocks < u64::from(units) + 2) {
        hide(&MERGE_FINDINGS, "the stick has too few erase blocks to exceed its open units");
    }
    let is_block_mapped = matches!(profile.policy, Policy::OpenBlocks(_) | Policy::HybridLog(_));
    let has_cache = profile.slc_cache.is_some();
    if has_cache {
        hide(&MERGE_FINDINGS, "writes go into a cache first, and merges happen while it is folded");
    }
    if !reads_show(profile, stick.erase_block) && (has_cache || !is_block_mapped) {
        hide(&["erase_block_bytes"], "reads show no erase block, and no write merges one at once");
    }
    if !is_block_mapped {
        hide(&["fat_area_bytes"], "the whole stick is page-mapped");
    }
    if !is_block_mapped && stick.open_units_linear.is_none() && profile.state != State::Steady {
        hide(&["ftl_class"], "the open units are unlimited, and there is no garbage collection");
    }
    if !reads_show(profile, stick.page) && !writes_show_the_page(profile) {
        hide(&["page_bytes"], "reads show no page, and the link is slower than the flash");
    }
}

/// True if small reads show boundaries of this period.
fn reads_show(profile: &Profile, period: Bytes) -> bool {
    profile.read.boundary.iter().any(|boundary| boundary.period == period)
}

/// True if programming a page takes longer than its transfer, so that half a page takes as long as a whole
/// one.
fn writes_show_the_page(profile: &Profile) -> bool {
    let transfer_us = profile.ftl.page.as_f64() / profile.link.timing().megabytes_per_s;
    let slc_program_us = profile.slc_cache.as_ref().map(|cache| cache.page_program_us);
    slc_program_us.or(profile.write.page_program_us).is_some_and(|program_us| program_us > transfer_us)
}
