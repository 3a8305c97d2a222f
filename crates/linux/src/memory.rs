//! Measures how fast this machine copies memory: an upper bound for every read and write.

use std::hint::black_box;

use flashscope_device::{Buffer, Bytes};

use crate::clock::Clock;

/// The size of each copy. It fits in the processor's caches, as a fresh read does when the kernel copies
/// it.
const CHUNK: Bytes = Bytes::kib(256);
/// The rounds, of which the fastest counts: disturbances only slow a round down.
const ROUNDS: usize = 5;
/// Copies in a round, so that a round takes some milliseconds.
const COPIES: u64 = 64;

/// Bytes per second, the fastest of five rounds.
#[must_use]
pub fn copy_speed() -> Bytes {
    let (mut from, mut to) = (Buffer::zeroed(CHUNK), Buffer::zeroed(CHUNK));
    from.fill(7);
    let clock = Clock::start();
    let round = |_| {
        let started = clock.now();
        for _ in 0..COPIES {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
        (CHUNK * COPIES).as_f64() / clock.now().since(started).as_secs_f64().max(1e-9)
    };
    Bytes::new((0..ROUNDS).map(round).fold(1.0, f64::max) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_copy_is_faster_than_a_stick() {
        assert!(copy_speed() > Bytes::mib(100));
    }
}
