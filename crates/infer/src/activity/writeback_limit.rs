//! How much written data should wait in memory for a disk of a known speed.

use std::time::Duration;

use flashscope_device::Bytes;

/// The longest wait until a stick may be unplugged. Guess: who waits longer pulls it out. A shorter one stops
/// programs at every stall of the stick.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// The lowest limit: some requests of 1 MiB, so that the disk always has one. Guess.
const BYTES_MIN: Bytes = Bytes::mib(4);

/// The most data that should wait for a disk that writes `bytes_per_s`: what it writes in 5 s, in MiB.
#[must_use]
pub fn writeback_limit(bytes_per_s: f64) -> Bytes {
    let bytes = Bytes::new((bytes_per_s * WAIT_MAX.as_secs_f64()) as u64);
    bytes.round_down(Bytes::mib(1)).max(BYTES_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_what_the_disk_writes_in_five_seconds() {
        assert_eq!(writeback_limit(8e6), Bytes::mib(38));
        assert_eq!(writeback_limit(100e6), Bytes::mib(476));
        assert_eq!(writeback_limit(1e5), Bytes::mib(4));
        assert_eq!(writeback_limit(0.0), Bytes::mib(4));
    }
}
