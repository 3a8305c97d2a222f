//! An SLC region in each erase block: its first part is fast, or one place inside it is slow.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_sim::{Profile, ProfileError};

use super::base;
use super::delayed::{Delay, Request};
use super::parts::parts;
use super::stick::Variant;
use crate::draw::Draw;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let profile = base::open_blocks(draw, |_, _| true)?;
    let mut truth = base::truth(&profile);
    truth.remove("write_unit_bytes");
    let delay = SlcRegion::sample(&profile, draw);
    Ok(Variant::with_delay(profile, truth, delay))
}

/// The offset inside each erase block where it gets slower.
#[derive(Debug, Clone)]
struct SlcRegion {
    erase_block: Bytes,
    page: Bytes,
    edge: Bytes,
    cost: Cost,
}

/// What the end of the fast part costs.
#[derive(Debug, Clone, Copy)]
enum Cost {
    /// Each page beyond it takes longer.
    Pages(Duration),
    /// The write that crosses it takes longer.
    Crossing(Duration),
}

impl SlcRegion {
    /// The fast part is an eighth to a half. Dense pages take 1.5 to 4 times as long (TLC compared with SLC);
    /// crossing takes 2 to 20 ms, the time of a few erases.
    fn sample(profile: &Profile, draw: &mut Draw) -> Self {
        let (erase_block, page) = (profile.ftl.erase_block, profile.ftl.page);
        let eighths = draw.uniform_integer(1, 4);
        let page_s = profile.write.page_program_us.unwrap_or(0.0) * 1e-6;
        let cost = if draw.bernoulli(0.5) {
            Cost::Pages(Duration::from_secs_f64(page_s * draw.uniform(0.5, 3.0)))
        } else {
            Cost::Crossing(Duration::from_secs_f64(draw.log_uniform(2e-3, 20e-3)))
        };
        Self { erase_block, page, edge: (erase_block * eighths / 8).round_up(page), cost }
    }

    /// The delay of a write into one erase block, by its offsets there.
    fn in_block(&self, from: Bytes, to: Bytes) -> Duration {
        match self.cost {
            Cost::Crossing(delay) if from < self.edge && to > self.edge => delay,
            Cost::Pages(delay) if to > self.edge => {
                let slow = to.round_up(self.page) - from.max(self.edge).round_down(self.page);
                delay.mul_f64(slow.as_f64() / self.page.as_f64())
            }
            Cost::Crossing(_) | Cost::Pages(_) => Duration::ZERO,
        }
    }
}

impl Delay for SlcRegion {
    fn delay(&mut self, request: &Request) -> Duration {
        let Some(range) = request.written() else { return Duration::ZERO };
        parts(range, self.erase_block)
            .map(|(block, from, to)| {
                let start = self.erase_block * block;
                self.in_block(from - start, to - start)
            })
            .sum()
    }

    fn describe(&self) -> String {
        format!("each erase block is fast up to {}; then {:?}", self.edge, self.cost)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, OpKind};

    use super::*;

    fn delay_ms(cost: Cost, from_kib: u64, kib: u64) -> u128 {
        let edge = Bytes::kib(64);
        let mut region = SlcRegion { erase_block: Bytes::kib(256), page: Bytes::kib(16), edge, cost };
        let range = Some(ByteRange::new(Bytes::kib(from_kib), Bytes::kib(kib)));
        region.delay(&Request { range, ..Request::of(OpKind::Write) }).as_millis()
    }

    #[test]
    fn slc_region_is_fast_in_the_first_part_of_each_erase_block() {
        let pages = Cost::Pages(Duration::from_millis(1));
        assert_eq!([0, 32, 48, 256, 288].map(|kib| delay_ms(pages, kib, 16)), [0; 5]);
        assert_eq!(delay_ms(pages, 48, 32), 1, "one page beyond the edge");
        assert_eq!(delay_ms(pages, 320, 64), 4, "four pages of the second block");
        assert_eq!(delay_ms(pages, 240, 32), 1, "the end of the first block, the start of the second");
    }

    #[test]
    fn slc_region_edge_delays_only_the_write_that_crosses_it() {
        let crossing = Cost::Crossing(Duration::from_millis(7));
        let delays =
            [(0, 64), (48, 32), (64, 64), (304, 32)].map(|(from, kib)| delay_ms(crossing, from, kib));
        assert_eq!(delays, [0, 7, 0, 7]);
    }
}
