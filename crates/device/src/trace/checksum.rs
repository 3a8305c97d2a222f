//! A checksum over a trace: FNV-1a with 64 bits (G. Fowler, L. C. Noll, K.-P. Vo, RFC 9923).

/// The checksum of the bytes until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub const fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    }

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
        let sum = |text: &str| {
            let mut sum = Checksum::new();
            text.bytes().for_each(|byte| sum.add(byte));
            sum.get()
        };
        assert_eq!(
            (sum(""), sum("a"), sum("foobar")),
            (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8)
        );
    }
}
