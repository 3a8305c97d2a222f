//! Merges in slices: a merge is not paid at once, but by the next writes, each up to a limit.

use std::time::Duration;

use flashscope_sim::ProfileError;

use super::base;
use super::delayed::{Delay, Request};
use super::stick::Variant;
use crate::draw::Draw;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let profile = base::open_blocks(draw, |_, _| true)?;
    let mut truth = base::truth(&profile);
    // A merge has no time of its own.
    truth.remove("merge_seconds");
    truth.remove("write_unit_bytes");
    let slices = draw.log_uniform(3.0, 64.0);
    let delay = SlicedMerges {
        copy_page_s: base::copy_page_s(&profile),
        slice_s: base::merge_s(&profile) / slices,
        pending_s: 0.0,
    };
    Ok(Variant::with_delayed_merges(profile, truth, delay))
}

/// Copies that later writes will make.
#[derive(Debug, Clone)]
struct SlicedMerges {
    copy_page_s: f64,
    /// The most that one write pays.
    slice_s: f64,
    pending_s: f64,
}

impl Delay for SlicedMerges {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 pages")]
    fn delay(&mut self, request: &Request) -> Duration {
        self.pending_s += request.pages_copied as f64 * self.copy_page_s;
        self.pending_s = (self.pending_s - request.pause.as_secs_f64()).max(0.0);
        let paid_s = if request.written().is_some() { self.pending_s.min(self.slice_s) } else { 0.0 };
        self.pending_s -= paid_s;
        Duration::from_secs_f64(paid_s)
    }

    fn describe(&self) -> String {
        format!("each write pays at most {:.3} s of merges", self.slice_s)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, Bytes, OpKind};

    use super::*;

    #[test]
    fn sliced_merge_is_paid_by_the_next_writes() {
        let mut sliced = SlicedMerges { copy_page_s: 0.001, slice_s: 0.004, pending_s: 0.0 };
        let mut delay_ms = |kind, pages_copied| {
            let range = Some(ByteRange::new(Bytes::ZERO, Bytes::kib(4)));
            sliced.delay(&Request { range, pages_copied, ..Request::of(kind) }).as_millis()
        };
        assert_eq!(delay_ms(OpKind::Write, 10), 4);
        assert_eq!(delay_ms(OpKind::Read, 0), 0);
        assert_eq!([0, 0, 0].map(|copied| delay_ms(OpKind::Write, copied)), [4, 2, 0]);
    }
}
