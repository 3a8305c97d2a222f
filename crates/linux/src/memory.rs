//! How fast this machine copies memory: nothing is read or written faster.

use std::hint::black_box;

use flashscope_device::{Buffer, Bytes};

use crate::clock::Clock;

/// Small enough to be copied within the processor's caches, as the kernel copies a read that was just made.
const PIECE: Bytes = Bytes::kib(256);
/// The best of so many rounds counts; what disturbs makes a round slower only.
const ROUNDS: usize = 5;
/// So often in a round.
const COPIES: u64 = 64;

/// Bytes a second, the best of several rounds of a few milliseconds.
#[must_use]
pub fn copy_speed() -> Bytes {
    let (mut from, mut to) = (Buffer::zeroed(PIECE), Buffer::zeroed(PIECE));
    from.fill(7);
    let clock = Clock::start();
    let round = |_| {
        let began = clock.now();
        for _ in 0..COPIES {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
        (PIECE * COPIES).as_f64() / clock.now().since(began).as_secs_f64().max(1e-9)
    };
    Bytes::new((0..ROUNDS).map(round).fold(1.0, f64::max) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_faster_than_a_stick() {
        assert!(copy_speed() > Bytes::mib(100));
    }
}
