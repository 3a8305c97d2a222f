//! Reads that become slower with age: charge leaks, and old data needs further attempts (read retry: Y. Cai
//! et al., HPCA 2015). Each erase block has the age of its last write.

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::{Bytes, OpKind};
use flashscope_sim::ProfileError;
use flashscope_sim::profile::State;

use super::base;
use super::delayed::{Delay, Request};
use super::parts::parts;
use super::stick::Variant;
use crate::draw::Draw;
use crate::truth::Fact;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let mut profile = base::open_blocks(draw, |_, _| true)?;
    profile.state = State::Full;
    let mut truth = base::truth(&profile);
    if truth.fact("read_boundary_signal") == Some(Fact::OneOf(&["no"])) {
        // Two blocks of different age differ at their boundary.
        truth.remove("read_boundary_signal");
    }
    let delay = AgeingReads {
        erase_block: profile.ftl.erase_block,
        oldest: Duration::from_secs_f64(profile.read.access_us * 1e-6 * draw.log_uniform(0.05, 1.5)),
        seed: draw.seed(),
        rewritten: BTreeSet::new(),
    };
    Ok(Variant::with_delay(profile, truth, delay))
}

/// The age of every erase block. A rewritten one is new.
#[derive(Debug, Clone)]
struct AgeingReads {
    erase_block: Bytes,
    /// The delay of a read of the oldest data.
    oldest: Duration,
    seed: u64,
    rewritten: BTreeSet<u64>,
}

impl AgeingReads {
    /// The age of a block as a share of the oldest age.
    fn age(&self, block: u64) -> f64 {
        if self.rewritten.contains(&block) { 0.0 } else { Draw::new(self.seed, block).unit() }
    }
}

impl Delay for AgeingReads {
    fn delay(&mut self, request: &Request) -> Duration {
        let Some(range) = request.range.filter(|range| !range.length.is_zero()) else {
            return Duration::ZERO;
        };
        let blocks = parts(range, self.erase_block).map(|(block, ..)| block);
        if request.kind == OpKind::Read {
            // The attempts of several blocks overlap: the oldest decides.
            return self.oldest.mul_f64(blocks.map(|block| self.age(block)).fold(0.0, f64::max));
        }
        self.rewritten.extend(blocks);
        Duration::ZERO
    }

    fn describe(&self) -> String {
        format!("reads of the oldest data take {:?} longer", self.oldest)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::ByteRange;

    use super::*;

    #[test]
    fn ageing_reads_are_slow_until_their_block_is_rewritten() {
        let oldest = Duration::from_millis(10);
        let erase_block = Bytes::kib(64);
        let mut ages = AgeingReads { erase_block, oldest, seed: 1, rewritten: BTreeSet::new() };
        let request = |kind, block: u64| {
            let range = Some(ByteRange::new(erase_block * block, Bytes::kib(4)));
            Request { range, ..Request::of(kind) }
        };
        let delays: Vec<Duration> = (0..20).map(|block| ages.delay(&request(OpKind::Read, block))).collect();
        assert!(delays.iter().any(|delay| *delay > oldest * 3 / 4), "{delays:?}");
        assert!(delays.iter().any(|delay| *delay < oldest / 4), "{delays:?}");
        assert_eq!(ages.delay(&request(OpKind::Write, 3)), Duration::ZERO);
        assert_eq!(ages.delay(&request(OpKind::Read, 3)), Duration::ZERO);
        assert_eq!(ages.delay(&request(OpKind::Read, 4)), delays[4]);
    }
}
