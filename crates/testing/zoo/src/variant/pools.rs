//! Two pools of open blocks by request size: small requests do not evict the blocks of large ones.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_sim::ProfileError;

use super::base;
use super::delayed::{Delay, Request};
use super::merges::Merges;
use super::stick::Variant;
use crate::draw::Draw;
use crate::truth::Fact;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    // The path of small writes would leave little to the pool of small requests.
    let large = base::open_blocks(draw, |profile, _| profile.small_writes.is_none())?;
    let mut small = large.clone();
    let mut truth = base::truth(&large);
    let drawn = u32::try_from(draw.log_uniform_integer(1.0, 33.0)).unwrap_or(1);
    if let Some(policy) = base::policy_mut(&mut small) {
        let (linear, random) = (policy.open_units_linear, policy.open_units_random);
        // Another number than in the large pool, so that the pools differ.
        policy.open_units_linear = if drawn == linear { drawn + 1 } else { drawn };
        policy.open_units_random = random.min(1) * policy.open_units_linear;
        // The number depends on the size of the requests: both are right.
        truth.set("open_units_linear", Fact::CountOf([linear, policy.open_units_linear]));
        truth.set("open_units_random", Fact::CountOf([random, policy.open_units_random]));
    }
    let threshold = Bytes::kib(8 << draw.uniform_integer(0, 4));
    let delay =
        Pools { threshold, small: Merges::new(&small, draw.seed()), large: Merges::new(&large, draw.seed()) };
    Ok(Variant::with_delayed_merges(large, truth, delay))
}

/// The pools, and the size from which on a request belongs to the large one.
#[derive(Debug, Clone)]
struct Pools {
    threshold: Bytes,
    small: Merges,
    large: Merges,
}

impl Delay for Pools {
    fn delay(&mut self, request: &Request) -> Duration {
        let Some(range) = request.written() else { return Duration::ZERO };
        if range.length < self.threshold { self.small.write(range) } else { self.large.write(range) }
    }

    fn describe(&self) -> String {
        format!("requests below {} have a pool of their own", self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, OpKind};

    use super::*;
    use crate::variant::merges::tests::with_open_blocks;

    /// Three blocks round-robin: the pool of two merges, that of four does not.
    #[test]
    fn pools_by_request_size_hold_different_numbers_of_blocks() {
        let (profile, small) = (with_open_blocks(4), with_open_blocks(2));
        let block = profile.ftl.erase_block;
        let mut pools = Pools {
            threshold: Bytes::kib(64),
            small: Merges::new(&small, 1),
            large: Merges::new(&profile, 1),
        };
        let mut merge_time = |length: Bytes| -> Duration {
            let offset = |nth: u64| block * (8 + nth % 3) + length * (nth / 3);
            (0..9)
                .map(|nth| Some(ByteRange::new(offset(nth), length)))
                .map(|range| Request { range, ..Request::of(OpKind::Write) })
                .map(|request| pools.delay(&request))
                .sum()
        };
        assert!(merge_time(Bytes::kib(32)) > Duration::from_millis(500), "seven merges of 100 ms");
        assert_eq!(merge_time(Bytes::kib(64)), Duration::ZERO);
    }
}
