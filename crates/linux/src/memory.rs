//! Measures how fast this machine copies memory: an upper bound for every read and write.

use std::hint::black_box;
use std::time::Duration;

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
        clock.now().since(started)
    };
    speed_of_fastest((0..ROUNDS).map(round))
}

/// Bytes per second of the shortest round; at least one.
fn speed_of_fastest(rounds: impl Iterator<Item = Duration>) -> Bytes {
    let speed = |took: Duration| (CHUNK * COPIES).as_f64() / took.as_secs_f64().max(1e-9);
    Bytes::new(rounds.map(speed).fold(1.0, f64::max) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fastest_round_counts() {
        let speed = |milliseconds: &[u64]| {
            speed_of_fastest(milliseconds.iter().map(|each| Duration::from_millis(*each)))
        };
        assert_eq!(speed(&[4, 2, 8]), Bytes::mib(16) * 500);
        assert_eq!(speed(&[]), Bytes::new(1));
        let standing = speed(&[0]).as_f64() / Bytes::mib(16).as_f64();
        assert!((standing / 1e9 - 1.0).abs() < 1e-6, "a standing clock: {standing}");
    }
}
