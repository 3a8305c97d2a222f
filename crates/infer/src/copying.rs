//! The shortest times of flash: what takes less is no read of a page, or no merge.

use flashscope_device::Bytes;

/// No NAND erases a block in less, seconds: data sheets give 1.5 to 5 ms.
pub const ERASE_SECONDS: f64 = 1.5e-3;
/// No flash reads a page in less, seconds: the fastest of the table of docs/simulator.md, and of ONFI 1.0
/// parts.
pub const PAGE_READ_SECONDS: f64 = 25e-6;
/// No merge copies faster, bytes per second. The fastest published one copies 91 MB/s (the profile
/// `samsung-fit-plus`). Guess: twice that, rounded up.
pub const COPY_BYTES_PER_S_MAX: f64 = 200e6;

/// A delay that looks like a merge.
#[derive(Debug, Clone, Copy)]
pub struct Delay {
    /// How much longer a write takes, seconds.
    pub seconds: f64,
    /// A write without it, seconds.
    pub write_s: f64,
}

impl Delay {
    /// Whether the delay is too short to merge a block of this size: to erase one and copy the rest. On a
    /// stick that may be blank there is little to copy: at least what one write wrote.
    #[must_use]
    pub fn is_too_short(self, erase_block: Bytes, holds_data: bool) -> bool {
        let whole_s = erase_block.as_f64() / COPY_BYTES_PER_S_MAX;
        let copy_s = if holds_data { whole_s } else { whole_s.min(self.write_s) };
        self.seconds < ERASE_SECONDS + copy_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_too_short(milliseconds: f64, erase_block: Bytes) -> [bool; 2] {
        let delay = Delay { seconds: milliseconds * 1e-3, write_s: 2e-3 };
        [true, false].map(|holds_data| delay.is_too_short(erase_block, holds_data))
    }

    #[test]
    fn no_erase_block_is_copied_in_the_time_of_a_map_access() {
        assert_eq!(is_too_short(3.0, Bytes::mib(4)), [true, true], "1.4 GB/s, and shorter than a write");
        assert_eq!(is_too_short(1.0, Bytes::kib(64)), [true, true], "shorter than an erase");
        assert_eq!(is_too_short(6.0, Bytes::mib(4)), [true, false], "a blank block is hardly copied");
        assert_eq!(is_too_short(92.0, Bytes::mib(8)), [false, false], "samsung-fit-plus");
        assert_eq!(is_too_short(8.0, Bytes::kib(128)), [false, false]);
    }
}
