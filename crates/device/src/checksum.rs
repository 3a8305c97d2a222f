//! A checksum over bytes: FNV-1a with 64 bits (G. Fowler, L. C. Noll, K.-P. Vo, RFC 9923).

/// The checksum of the bytes until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}

impl Checksum {
    /// Of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> u64 {
        let mut sum = Self::new();
        sum.add(bytes);
        sum.get()
    }

    /// Adds bytes, in any pieces.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0 =
            bytes.iter().fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    /// The checksum until now.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of the authors.
    #[test]
    fn known_sums() {
        let sum = |text: &str| Checksum::of(text.as_bytes());
        assert_eq!(
            (sum(""), sum("a"), sum("foobar")),
            (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8)
        );
    }
}
