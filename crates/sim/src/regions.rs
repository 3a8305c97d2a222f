//! Ranges of the stick that are slower than the rest, or fail.

use flashscope_device::ByteRange;

use crate::profile::{FailingOp, Region};

/// The regions of a profile, in the profile's order.
#[derive(Debug, Clone)]
pub(crate) struct Regions(Vec<Region>);

impl Regions {
    pub(crate) fn new(regions: &[Region]) -> Self {
        Self(regions.to_vec())
    }

    /// The factor on a read that starts here.
    pub(crate) fn read_factor(&self, start: u64) -> f64 {
        self.at(start).map_or(1.0, |region| region.read_factor)
    }

    /// The factor on a write that starts here.
    pub(crate) fn write_factor(&self, start: u64) -> f64 {
        self.at(start).map_or(1.0, |region| region.write_factor)
    }

    /// True if a request overlaps a region in which it fails.
    pub(crate) fn fails(&self, range: ByteRange, is_write: bool) -> bool {
        let fails = |region: &Region| match region.fails {
            None => false,
            Some(FailingOp::Read) => !is_write,
            Some(FailingOp::Write) => is_write,
            Some(FailingOp::Both) => true,
        };
        let overlaps = |region: &Region| ByteRange::new(region.start, region.length).overlaps(range);
        self.0.iter().any(|region| fails(region) && overlaps(region))
    }

    fn at(&self, start: u64) -> Option<&Region> {
        self.0.iter().find(|region| start.wrapping_sub(region.start.get()) < region.length.get())
    }
}
