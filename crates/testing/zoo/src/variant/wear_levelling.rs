//! Static wear levelling in the background: after a number of erases an old block is moved. In a pause it is
//! free; without one a write waits for it.

use std::time::Duration;

use flashscope_sim::ProfileError;

use super::base;
use super::delayed::{Delay, Request};
use super::stick::Variant;
use crate::draw::Draw;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let profile = base::open_blocks(draw, |_, _| true)?;
    let truth = base::truth(&profile);
    // A move is a copy of a block; half of it was perhaps done before the write came.
    let move_s = base::merge_s(&profile) * draw.uniform(0.5, 1.0);
    let delay = WearLevelling {
        erases_per_move: draw.log_uniform_integer(4.0, 129.0),
        move_s,
        erases: 0,
        pending_s: 0.0,
    };
    Ok(Variant::with_delay(profile, truth, delay))
}

/// Erases since the last move, and the moves that are due.
#[derive(Debug, Clone)]
struct WearLevelling {
    erases_per_move: u64,
    move_s: f64,
    erases: u64,
    pending_s: f64,
}

impl Delay for WearLevelling {
    fn delay(&mut self, request: &Request) -> Duration {
        let pending_s = self.pending_s;
        self.erases += request.erases;
        if self.erases >= self.erases_per_move {
            self.erases -= self.erases_per_move;
            self.pending_s += self.move_s;
        }
        self.pending_s = (self.pending_s - request.pause.as_secs_f64()).max(0.0);
        if request.written().is_none() {
            return Duration::ZERO;
        }
        // The write after the one that made the move due waits.
        self.pending_s -= pending_s;
        Duration::from_secs_f64(pending_s)
    }

    fn describe(&self) -> String {
        format!("every {} erases a block is moved, in {:.3} s", self.erases_per_move, self.move_s)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, Bytes, OpKind};

    use super::*;

    #[test]
    fn wear_levelling_delays_the_write_after_enough_erases_unless_idle() {
        let mut wear = WearLevelling { erases_per_move: 2, move_s: 0.01, erases: 0, pending_s: 0.0 };
        let mut delay_ms = |kind, pause_ms, erases| {
            let range = (kind == OpKind::Write).then(|| ByteRange::new(Bytes::ZERO, Bytes::kib(4)));
            let pause = Duration::from_millis(pause_ms);
            wear.delay(&Request { range, pause, erases, ..Request::of(kind) }).as_millis()
        };
        assert_eq!([1, 1, 0, 0].map(|erases| delay_ms(OpKind::Write, 0, erases)), [0, 0, 10, 0]);
        assert_eq!(delay_ms(OpKind::Write, 0, 2), 0);
        assert_eq!(delay_ms(OpKind::Pause, 50, 0), 0);
        assert_eq!(delay_ms(OpKind::Write, 0, 0), 0, "the move was made in the pause");
    }
}
