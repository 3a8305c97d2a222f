//! A checksum over bytes: FNV-1a with 64 bits (G. Fowler, L. C. Noll, K.-P. Vo, RFC 9923).

/// The checksum of bytes, fed in any pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checksum(u64);

impl Checksum {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0 =
            bytes.iter().fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    pub(super) const fn get(self) -> u64 {
        self.0
    }
}
