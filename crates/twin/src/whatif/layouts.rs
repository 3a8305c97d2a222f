//! The places where a partition may start.

use flashscope_device::{Bytes, SECTOR};

/// Where partitions of sticks and cards used to start: at the second track of a disk with 63 sectors a track.
pub const SECTOR_63: Bytes = Bytes::new(63 * SECTOR.get());
/// Where today's partitioning programs start.
const TODAY: Bytes = Bytes::mib(1);

/// The starts to compare: sector 63, 1 MiB, the first erase block at or above 1 MiB, and the present one.
/// In ascending order, each once.
#[must_use]
pub fn starts(erase_block: Bytes, present: Option<Bytes>) -> Vec<Bytes> {
    let all = [SECTOR_63, TODAY, TODAY.round_up(erase_block)];
    let mut starts: Vec<Bytes> = all.into_iter().chain(present).collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_in_order_and_each_once() {
        let four = starts(Bytes::mib(4), None);
        assert_eq!(four, [SECTOR_63, Bytes::mib(1), Bytes::mib(4)]);
        assert_eq!(starts(Bytes::kib(128), Some(Bytes::mib(1))), [SECTOR_63, Bytes::mib(1)]);
        assert_eq!(starts(Bytes::mib(3), Some(Bytes::mib(8))).last(), Some(&Bytes::mib(8)));
    }
}
