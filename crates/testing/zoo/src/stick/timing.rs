//! Times: reads with their boundaries, writes, noise.

use flashscope_device::{Bytes, SECTOR};
use flashscope_sim::profile::{Basis, Boundary, Noise, ReadPath, SmallWrites, WritePath};

use super::era::Era;
use super::geometry::Geometry;
use crate::draw::Draw;
use crate::rounding::rounded;

/// The sections of a profile with the times of a stick.
#[derive(Debug)]
pub(super) struct Timing {
    pub(super) read: ReadPath,
    pub(super) write: WritePath,
    pub(super) small_writes: Option<SmallWrites>,
    pub(super) noise: Noise,
    /// The time to program a page, not rounded.
    pub(super) page_program_us: f64,
}

impl Timing {
    pub(super) fn sample(geometry: &Geometry, draw: &mut Draw) -> Self {
        let access_us = draw.log_uniform(120.0, 1000.0);
        let page_program_us = geometry.page.as_f64() / program_megabytes_per_s(geometry.era, draw);
        let is_quiet = draw.bernoulli(0.95);
        Self {
            read: read(geometry, access_us, draw),
            write: WritePath {
                basis: Basis::Assumed,
                overhead_us: Some(rounded(draw.log_uniform(80.0, 800.0), 1)),
                page_program_us: Some(rounded(page_program_us, 1)),
                partial_page_us: Some(rounded(page_program_us * draw.uniform(1.0, 1.4), 1)),
                curve: None,
            },
            small_writes: small_writes(geometry, page_program_us, draw),
            noise: noise(is_quiet, draw),
            page_program_us,
        }
    }
}

fn read(geometry: &Geometry, access_us: f64, draw: &mut Draw) -> ReadPath {
    ReadPath {
        basis: Basis::Assumed,
        access_us: rounded(access_us, 1),
        read_ahead_saves_us: (access_us * draw.uniform(0.0, 0.8)).floor(),
        never_written_factor: rounded(if draw.bernoulli(0.5) { 1.0 } else { draw.log_uniform(0.4, 1.3) }, 3),
        channels: 1,
        boundary: boundaries(geometry, access_us, draw),
        cache: Vec::new(),
    }
}

/// One stick in 20 is noisy.
fn noise(is_quiet: bool, draw: &mut Draw) -> Noise {
    let jitter = if is_quiet { draw.log_uniform(0.002, 0.05) } else { draw.uniform(0.1, 0.4) };
    let outliers_per_million = if is_quiet { draw.log_uniform(1.0, 5000.0) } else { draw.uniform(2e4, 2e5) };
    Noise {
        basis: Basis::Assumed,
        jitter: rounded(jitter, 4),
        outliers_per_million: rounded(outliers_per_million, 1),
        outlier_us: rounded(draw.log_uniform(2e3, 2e5), 0),
    }
}

fn program_megabytes_per_s(era: Era, draw: &mut Draw) -> f64 {
    match era {
        Era::Early => draw.log_uniform(1.5, 8.0),
        Era::Middle => draw.log_uniform(4.0, 20.0),
        Era::Late => draw.log_uniform(8.0, 60.0),
        Era::Unusual => draw.log_uniform(2.0, 60.0),
    }
}

/// Both kinds of boundary on most sticks, one or none on the rest. Reported: 200 to 700 us at the erase
/// block, less at the page. Drawn from a tenth to two thirds of a read.
fn boundaries(geometry: &Geometry, access_us: f64, draw: &mut Draw) -> Vec<Boundary> {
    let across_us = access_us * draw.log_uniform(0.1, 0.66);
    let before_us = if draw.bernoulli(0.5) { 0.0 } else { -access_us * draw.uniform(0.02, 0.3) };
    let block = boundary(geometry.erase_block, Bytes::ZERO, across_us, before_us);
    let page = page_boundary(geometry, across_us, draw);
    let (has_block, has_page) = draw.weighted(&[
        (0.6, (true, true)),
        (0.25, (true, false)),
        (0.08, (false, true)),
        (0.07, (false, false)),
    ]);
    [has_block.then_some(block), has_page.then_some(page)].into_iter().flatten().collect()
}

fn boundary(period: Bytes, phase: Bytes, across_us: f64, before_us: f64) -> Boundary {
    let (across_us, before_us) = (rounded(across_us, 1), rounded(before_us, 1));
    Boundary { period, phase, across_us, before_us, after_us: None }
}

/// At the page, at half of it (the page of one plane), or in the middle of the page as on the Patriot.
fn page_boundary(geometry: &Geometry, block_across_us: f64, draw: &mut Draw) -> Boundary {
    let half = geometry.page / 2;
    let (period, phase) = draw.weighted(&[
        (0.8, (geometry.page, Bytes::ZERO)),
        (0.15, (half, Bytes::ZERO)),
        (0.05, (geometry.page, half)),
    ]);
    boundary(period, phase, block_across_us * draw.uniform(0.2, 0.7), 0.0)
}

/// A slow path for writes up to half or a quarter of a page, as on the Patriot; on a fifth of the sticks.
fn small_writes(geometry: &Geometry, page_program_us: f64, draw: &mut Draw) -> Option<SmallWrites> {
    let up_to = (geometry.page / draw.weighted(&[(0.6, 2), (0.4, 4)])).round_down(SECTOR);
    let small = SmallWrites {
        basis: Basis::Assumed,
        up_to,
        write_us: rounded(page_program_us * draw.uniform(0.6, 1.8) + 500.0, 0),
        per_kib_us: rounded(draw.uniform(5.0, 50.0), 1),
    };
    draw.bernoulli(0.2).then_some(small)
}
