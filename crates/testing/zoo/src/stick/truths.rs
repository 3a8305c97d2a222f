//! What is true of a profile, in the words of the findings, and what of it cannot be seen from outside.

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
    if let Some((low, high)) = write_unit::of(profile) {
        truth.set("write_unit_bytes", Fact::Bytes { low, high });
    }
    hide(&mut truth, profile);
    truth
}

/// Where no number is too many, whichever is named is wrong.
fn units(count: Option<u32>) -> Fact {
    count.map_or(Fact::Nothing, Fact::Count)
}

/// The names that fit what shows from outside.
fn classes(profile: &Profile) -> &'static [&'static str] {
    let stick = profile.truth();
    match (stick.class, &profile.policy) {
        (Class::LinearOnly, _) => &["linear-only"],
        (Class::OpenBlock, _) => &["open-block"],
        // With a single open unit there is no choice which one must go: every request merges.
        (Class::LogStructured, _) if stick.open_units_linear == Some(1) => &["open-block", "log-structured"],
        // Where single pages are mapped a run has nothing to complete when it ends, however many there are.
        (Class::LogStructured, _) if stick.open_units_linear.is_none() => &["log-structured", "page-mapped"],
        (Class::LogStructured, _) => &["log-structured"],
        // A log block for each of a few erase blocks is what open-block means.
        (_, Policy::HybridLog(policy)) if policy.association == Association::Block => {
            &["hybrid-log", "open-block"]
        }
        // Logs that all blocks share fill and are emptied step by step.
        (Class::HybridLog, _) => &["hybrid-log", "log-structured"],
        (Class::PageMapped, _) => &["page-mapped"],
    }
}

/// What rests on merges.
const MERGES: [&str; 5] =
    ["open_units_linear", "open_units_random", "ftl_class", "fat_area_bytes", "merge_seconds"];

fn hide(truth: &mut Truth, profile: &Profile) {
    let stick = profile.truth();
    let mut hide = |ids: &[&'static str], reason| ids.iter().for_each(|id| truth.hide(id, reason));
    let blocks = (profile.capacity.saturating_sub(stick.fat_area)) / stick.erase_block;
    if stick.open_units_linear.is_some_and(|units| blocks < u64::from(units) + 2) {
        hide(&MERGES, "the stick has too few erase blocks to open one too many");
    }
    let maps_blocks = matches!(profile.policy, Policy::OpenBlocks(_) | Policy::HybridLog(_));
    let has_cache = profile.slc_cache.is_some();
    if has_cache {
        hide(&MERGES, "writes go into a cache first, and merges are paid for as it is emptied");
    }
    if !reads_show(profile, stick.erase_block) && (has_cache || !maps_blocks) {
        hide(&["erase_block_bytes"], "reads show no erase block, and no write has to merge one at once");
    }
    if !maps_blocks {
        hide(&["fat_area_bytes"], "all is mapped as finely as a FAT area");
    }
    if !maps_blocks && stick.open_units_linear.is_none() && profile.state != State::Steady {
        hide(&["ftl_class"], "no number of units is too many, and nothing has to be collected");
    }
    if !reads_show(profile, stick.page) && !writes_show_the_page(profile) {
        hide(&["page_bytes"], "reads show no page, and the link is slower than the flash");
    }
}

/// Whether small reads feel boundaries of this size.
fn reads_show(profile: &Profile, period: Bytes) -> bool {
    profile.read.boundary.iter().any(|boundary| boundary.period == period)
}

/// Whether programming a page takes longer than bringing its data, so that half of it takes as long as the whole.
fn writes_show_the_page(profile: &Profile) -> bool {
    let transfer_us = profile.ftl.page.as_f64() / profile.link.timing().megabytes_per_s;
    let in_cache = profile.slc_cache.as_ref().map(|cache| cache.page_program_us);
    in_cache.or(profile.write.page_program_us).is_some_and(|program_us| program_us > transfer_us)
}
