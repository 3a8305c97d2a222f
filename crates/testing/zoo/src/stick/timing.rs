//! Times: reads with their boundaries, writes, noise.

use std::fmt::Write as _;

use flashscope_device::{Bytes, SECTOR};

use super::geometry::{Age, Geometry};
use super::size;
use crate::draw::Draw;

/// The times of a stick, us unless named otherwise.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    access: f64,
    read_ahead_saves: f64,
    never_written_factor: f64,
    boundaries: Vec<Boundary>,
    write_overhead: f64,
    pub(super) page_program: f64,
    partial_page: f64,
    small_writes: Option<SmallWrites>,
    jitter: f64,
    outliers_per_million: f64,
    outlier: f64,
}

#[derive(Debug, Clone, Copy)]
struct Boundary {
    period: Bytes,
    phase: Bytes,
    across: f64,
    before: f64,
}

#[derive(Debug, Clone, Copy)]
struct SmallWrites {
    up_to: Bytes,
    write: f64,
    per_kib: f64,
}

impl Timing {
    pub(super) fn draw(geometry: &Geometry, draw: &mut Draw) -> Self {
        let access = draw.log_between(120.0, 1000.0);
        let page_program = geometry.page.as_f64() / program_megabytes_per_s(geometry.age, draw);
        let quiet = draw.chance(0.95);
        Self {
            access,
            read_ahead_saves: access * draw.between(0.0, 0.8),
            never_written_factor: if draw.chance(0.5) { 1.0 } else { draw.log_between(0.4, 1.3) },
            boundaries: boundaries(geometry, access, draw),
            write_overhead: draw.log_between(80.0, 800.0),
            page_program,
            partial_page: page_program * draw.between(1.0, 1.4),
            small_writes: small_writes(geometry, page_program, draw),
            jitter: if quiet { draw.log_between(0.002, 0.05) } else { draw.between(0.1, 0.4) },
            outliers_per_million: if quiet { draw.log_between(1.0, 5000.0) } else { draw.between(2e4, 2e5) },
            outlier: draw.log_between(2e3, 2e5),
        }
    }

    /// The same where all writes are mapped alike.
    pub(super) fn without_small_writes(self) -> Self {
        Self { small_writes: None, ..self }
    }

    pub(super) fn toml(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "\n[read]\nbasis = \"assumed\"\naccess_us = {:.1}", self.access);
        let _ = writeln!(text, "read_ahead_saves_us = {:.1}", self.read_ahead_saves.floor());
        let _ = writeln!(text, "never_written_factor = {:.3}", self.never_written_factor);
        self.boundaries.iter().for_each(|boundary| text += &boundary.toml());
        let _ = writeln!(text, "\n[write]\nbasis = \"assumed\"\noverhead_us = {:.1}", self.write_overhead);
        let _ = writeln!(text, "page_program_us = {:.1}", self.page_program);
        let _ = writeln!(text, "partial_page_us = {:.1}", self.partial_page);
        if let Some(small) = self.small_writes {
            text += &small.toml();
        }
        let _ = writeln!(text, "\n[noise]\nbasis = \"assumed\"\njitter = {:.4}", self.jitter);
        let _ = writeln!(text, "outliers_per_million = {:.1}", self.outliers_per_million);
        let _ = writeln!(text, "outlier_us = {:.0}", self.outlier);
        text
    }
}

impl Boundary {
    fn toml(&self) -> String {
        format!(
            "\n[[read.boundary]]\nperiod = {}\nphase = {}\nacross_us = {:.1}\nbefore_us = {:.1}\n",
            size(self.period),
            size(self.phase),
            self.across,
            self.before
        )
    }
}

impl SmallWrites {
    fn toml(&self) -> String {
        format!(
            "\n[small_writes]\nbasis = \"assumed\"\nup_to = {}\nwrite_us = {:.0}\nper_kib_us = {:.1}\n",
            size(self.up_to),
            self.write,
            self.per_kib
        )
    }
}

fn program_megabytes_per_s(age: Age, draw: &mut Draw) -> f64 {
    match age {
        Age::Old => draw.log_between(1.5, 8.0),
        Age::Middle => draw.log_between(4.0, 20.0),
        Age::Late => draw.log_between(8.0, 60.0),
        Age::Odd => draw.log_between(2.0, 60.0),
    }
}

/// Both kinds on most sticks, one of them or none on the rest. At the erase block 200 to 700 us were seen, less at the page;
/// drawn from a tenth to two thirds of a read.
fn boundaries(geometry: &Geometry, access: f64, draw: &mut Draw) -> Vec<Boundary> {
    let across = access * draw.log_between(0.1, 0.66);
    let before = if draw.chance(0.5) { 0.0 } else { -access * draw.between(0.02, 0.3) };
    let block = Boundary { period: geometry.erase_block, phase: Bytes::ZERO, across, before };
    let page = page_boundary(geometry, across, draw);
    let (has_block, has_page) = draw.weighted(&[
        (0.6, (true, true)),
        (0.25, (true, false)),
        (0.08, (false, true)),
        (0.07, (false, false)),
    ]);
    [has_block.then_some(block), has_page.then_some(page)].into_iter().flatten().collect()
}

/// At the page; or at half of it where one plane's page shows, or in the middle of the page, as on the Patriot.
fn page_boundary(geometry: &Geometry, across: f64, draw: &mut Draw) -> Boundary {
    let half = geometry.page / 2;
    let (period, phase) = draw.weighted(&[
        (0.8, (geometry.page, Bytes::ZERO)),
        (0.15, (half, Bytes::ZERO)),
        (0.05, (geometry.page, half)),
    ]);
    Boundary { period, phase, across: across * draw.between(0.2, 0.7), before: 0.0 }
}

/// Dearer than their share of a page, as on the Patriot; up to half or a quarter of it.
fn small_writes(geometry: &Geometry, page_program: f64, draw: &mut Draw) -> Option<SmallWrites> {
    let up_to = (geometry.page / draw.weighted(&[(0.6, 2), (0.4, 4)])).round_down(SECTOR);
    let small = SmallWrites {
        up_to,
        write: page_program * draw.between(0.6, 1.8) + 500.0,
        per_kib: draw.between(5.0, 50.0),
    };
    draw.chance(0.2).then_some(small)
}
