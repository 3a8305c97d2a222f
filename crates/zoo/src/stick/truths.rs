//! What is true of a profile, in the words of the findings, and what of it cannot be seen from outside.

use flashscope_device::Bytes;
use flashscope_sim::{Class, Profile};

use super::write_unit;
use crate::truth::{Fact, Truth};

pub(super) fn of(profile: &Profile) -> Truth {
    let stick = profile.truth();
    let mut truth = Truth::default();
    truth.bytes("erase_block_bytes", stick.erase_block);
    truth.bytes("page_bytes", stick.page);
    truth.bytes("fat_area_bytes", stick.fat_area);
    truth.set("open_units_linear", Fact::Count(stick.open_units_linear));
    truth.set("open_units_random", Fact::Count(stick.open_units_random));
    truth.set("ftl_class", Fact::Word(class(stick.class, stick.open_units_linear)));
    let (low, high) = write_unit::of(profile);
    truth.set("write_unit_bytes", Fact::Bytes { low, high });
    hide(&mut truth, profile);
    truth
}

/// With a single open unit there is no choice which one must go: every class but linear-only merges alike.
const fn class(class: Class, open_units_linear: u32) -> &'static str {
    match class {
        Class::LinearOnly => "linear-only",
        Class::OpenBlock => "open-block",
        Class::LogStructured if open_units_linear == 1 => "open-block",
        Class::LogStructured => "log-structured",
    }
}

fn hide(truth: &mut Truth, profile: &Profile) {
    let stick = profile.truth();
    let blocks = (profile.capacity.saturating_sub(stick.fat_area)) / stick.erase_block;
    if blocks < u64::from(stick.open_units_linear) + 2 {
        for id in ["open_units_linear", "open_units_random", "ftl_class", "fat_area_bytes"] {
            truth.hide(id, "the stick has too few erase blocks to open one too many");
        }
    }
    if !reads_show(profile, stick.page) && !writes_show_the_page(profile) {
        truth.hide("page_bytes", "reads show no page, and the link is slower than the flash");
    }
}

/// Whether small reads feel boundaries of this size.
fn reads_show(profile: &Profile, period: Bytes) -> bool {
    profile.read.boundary.iter().any(|boundary| boundary.period == period)
}

/// Whether programming a page takes longer than bringing its data, so that half of it takes as long as the whole.
fn writes_show_the_page(profile: &Profile) -> bool {
    let transfer_us = profile.ftl.page.as_f64() / profile.link.megabytes_per_s;
    profile.write.page_program_us > transfer_us
}
