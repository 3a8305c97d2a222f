//! What stands between a write and its place: cells that hold one bit for a while, memory, and work that was put off.

use flashscope_device::Bytes;

use super::geometry::{Age, Geometry};
use super::size;
use crate::draw::Draw;

/// The tables of what this stick has of them.
pub(super) fn toml(geometry: &Geometry, page_program_us: f64, draw: &mut Draw) -> String {
    let (cache, buffer, stalls) = match geometry.age {
        Age::Old => (0.0, 0.03, 0.02),
        Age::Middle => (0.05, 0.1, 0.08),
        Age::Late | Age::Odd => (0.25, 0.15, 0.1),
    };
    let mut text = String::new();
    if draw.chance(cache) && geometry.capacity >= CAPACITY_MIN {
        text += &slc_cache(geometry, page_program_us, draw);
    }
    if draw.chance(buffer) {
        let held = Bytes::kib(1 << draw.whole(4, 12));
        text += &format!(
            "\n[write_buffer]\nbasis = \"assumed\"\nsize = {}\naccept_us = {:.0}\n",
            size(held),
            draw.between(5.0, 60.0)
        );
    }
    if draw.chance(stalls) {
        text += &stall(draw);
    }
    text
}

/// Smaller sticks have no cells to spare.
const CAPACITY_MIN: Bytes = Bytes::mib(256);

/// Hundreds of megabytes to many gigabytes, several times as fast as the cells behind it.
fn slc_cache(geometry: &Geometry, page_program_us: f64, draw: &mut Draw) -> String {
    let most = (geometry.capacity / 8).as_f64() / Bytes::mib(1).as_f64();
    let held = Bytes::mib(draw.log_whole(16.0, most.min(8192.0)));
    let fold_megabytes_per_s = geometry.page.as_f64() / page_program_us * draw.between(0.5, 1.0);
    let when_full = if draw.chance(0.5) { "direct" } else { "fold" };
    format!(
        "\n[slc_cache]\nbasis = \"assumed\"\nsize = {}\npage_program_us = {:.1}\nfold_megabytes_per_s = {fold_megabytes_per_s:.2}\n\
         when_full = \"{when_full}\"\n",
        size(held),
        page_program_us * draw.between(0.12, 0.5)
    )
}

/// Stalls of 0.1 to 4 s were seen.
fn stall(draw: &mut Draw) -> String {
    let duration_us = draw.log_between(5e4, 1e6);
    format!(
        "\n[background]\nbasis = \"assumed\"\nidle_after_us = {:.0}\n\n[background.stall]\nevery = {}\nduration_us = {duration_us:.0}\n\
         duration_max_us = {:.0}\n",
        draw.log_between(1e4, 1e6),
        size(Bytes::mib(draw.log_whole(8.0, 128.0))),
        duration_us * draw.between(1.0, 4.0)
    )
}
