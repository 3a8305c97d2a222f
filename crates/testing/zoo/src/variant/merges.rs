//! The merges of a translation layer whose flash takes no time otherwise.

use std::time::Duration;

use flashscope_device::{ByteRange, DeviceExt, Op, Pattern};
use flashscope_sim::{Profile, VirtualStick};

use super::base;

/// The open blocks of a profile, and the time of their merges.
#[derive(Debug, Clone)]
pub(super) struct Merges {
    stick: VirtualStick,
    copy_page_s: f64,
}

impl Merges {
    pub(super) fn new(profile: &Profile, seed: u64) -> Self {
        let stick = VirtualStick::new(&base::without_merges(profile), seed);
        Self { stick, copy_page_s: base::copy_page_s(profile) }
    }

    /// The time of the merges that a write causes.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 pages")]
    pub(super) fn write(&mut self, range: ByteRange) -> Duration {
        let before = self.stick.statistics().pages_copied;
        // A refused write merges nothing.
        let _ = self.stick.run(Op::write(range, Pattern::new(0)));
        let copied = self.stick.statistics().pages_copied - before;
        Duration::from_secs_f64(copied as f64 * self.copy_page_s)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use flashscope_sim::profile::{Curve, Policy, Victim};

    use super::*;

    /// A stick with this number of open blocks and merges of 100 ms.
    pub(in crate::variant) fn with_open_blocks(units: u32) -> Profile {
        let mut profile = Profile::builtin("transcend-8g").unwrap();
        if let Policy::OpenBlocks(policy) = &mut profile.policy {
            (policy.open_units_linear, policy.open_units_random) = (units, units);
            (policy.victim, policy.merge_us) = (Victim::Lru, Curve::Constant(1e5));
        }
        profile.check().unwrap();
        profile
    }

    #[test]
    fn merge_time_is_that_of_the_pages_that_a_run_lacks() {
        let profile = with_open_blocks(1);
        let (block, page) = (profile.ftl.erase_block, profile.ftl.page);
        let mut merges = Merges::new(&profile, 1);
        assert_eq!(merges.write(ByteRange::new(block * 9, block / 2)), Duration::ZERO);
        let half = merges.write(ByteRange::new(block * 20, page));
        assert!((half.as_secs_f64() - 0.05).abs() < 1e-6, "{half:?}");
    }
}
