//! Zones with their own open blocks: blocks evict only blocks of the same zone.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes};
use flashscope_sim::ProfileError;

use super::base;
use super::delayed::{Delay, Request};
use super::merges::Merges;
use super::parts::parts;
use super::stick::Variant;
use crate::draw::Draw;
use crate::truth::{Fact, Truth};

/// Guess: a zone has at least this many times its open blocks, or it would be full of them.
const BLOCKS_PER_OPEN_BLOCK_MIN: u64 = 4;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let zones = draw.uniform_integer(2, 8);
    let profile = base::open_blocks(draw, |profile, policy| {
        let blocks = profile.capacity / profile.ftl.erase_block / zones;
        blocks >= BLOCKS_PER_OPEN_BLOCK_MIN * u64::from(policy.open_units_linear)
    })?;
    let mut truth = base::truth(&profile);
    count_zones(&mut truth, u32::try_from(zones).unwrap_or(1));
    let (capacity, block) = (profile.capacity, profile.ftl.erase_block);
    let delay = Zones {
        zone: Bytes::new(capacity.get().div_ceil(zones)).round_up(block),
        zones: (0..zones).map(|_| Merges::new(&profile, draw.seed())).collect(),
    };
    Ok(Variant::with_delayed_merges(profile, truth, delay))
}

/// Blocks in one zone, or spread evenly over all: both counts are right.
fn count_zones(truth: &mut Truth, zones: u32) {
    for id in ["open_units_linear", "open_units_random"] {
        if let Some(Fact::Count(units)) = truth.fact(id) {
            truth.set(id, Fact::CountOf([units, units * zones]));
        }
    }
}

/// The open blocks of each zone.
#[derive(Debug, Clone)]
struct Zones {
    zone: Bytes,
    zones: Vec<Merges>,
}

impl Delay for Zones {
    fn delay(&mut self, request: &Request) -> Duration {
        let Some(range) = request.written() else { return Duration::ZERO };
        parts(range, self.zone)
            .map(|(zone, from, to)| {
                let merges = self.zones.get_mut(Bytes::new(zone).to_usize());
                merges.map_or(Duration::ZERO, |merges| merges.write(ByteRange::new(from, to - from)))
            })
            .sum()
    }

    fn describe(&self) -> String {
        format!("{} zones of {}", self.zones.len(), self.zone)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::OpKind;

    use super::*;
    use crate::variant::merges::tests::with_open_blocks;

    /// Four blocks round-robin: two in each zone stay open, four in one zone do not.
    #[test]
    fn zones_evict_only_blocks_of_the_same_zone() {
        let profile = with_open_blocks(2);
        let block = profile.ftl.erase_block;
        let page = profile.ftl.page;
        let merge_time = |blocks: [u64; 4]| -> Duration {
            let zones = vec![Merges::new(&profile, 1), Merges::new(&profile, 2)];
            let mut zones = Zones { zone: block * 100, zones };
            let offset = |nth: u64| block * blocks[usize::try_from(nth % 4).unwrap()] + page * (nth / 4);
            (0..12)
                .map(|nth| Some(ByteRange::new(offset(nth), page)))
                .map(|range| zones.delay(&Request { range, ..Request::of(OpKind::Write) }))
                .sum()
        };
        assert_eq!(merge_time([10, 110, 11, 111]), Duration::ZERO);
        assert!(merge_time([10, 11, 12, 13]) > Duration::from_millis(500), "ten merges of 100 ms");
    }
}
