//! A card register, with bits numbered from the last one, as in the specifications.

/// A register, from its hexadecimal text in sysfs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    bytes: Vec<u8>,
}

impl Register {
    /// Parses `length_bits` bits, a multiple of eight. `None` for any other length, and for text that is
    /// not hexadecimal.
    pub fn parse(text: &str, length_bits: usize) -> Option<Self> {
        if text.len() * 4 != length_bits || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
        Some(Self { bytes: bytes? })
    }

    /// Bits `high` down to `low`, at most 64; missing bits are zero.
    pub fn bits(&self, high: usize, low: usize) -> u64 {
        (low..=high).rev().fold(0, |value, bit| value << 1 | u64::from(self.bit(bit)))
    }

    fn bit(&self, bit: usize) -> bool {
        let byte = self.bytes.len().checked_sub(1 + bit / 8).and_then(|index| self.bytes.get(index));
        byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Whether all bits are equal, as a broken reader returns them.
    pub fn is_blank(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == 0) || self.bytes.iter().all(|byte| *byte == 0xff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbered_from_the_end() {
        let register = Register::parse("80000000000000a5", 64).unwrap();
        assert_eq!((register.bits(63, 63), register.bits(7, 4), register.bits(3, 0)), (1, 0xa, 5));
        assert_eq!((register.bits(63, 0), register.bits(70, 64)), (0x8000_0000_0000_00a5, 0));
        assert!(!register.is_blank() && Register::parse("ffff", 16).unwrap().is_blank());
    }

    #[test]
    fn malformed_registers_are_rejected() {
        for text in ["", "80", "8000000000000g00", "80000000000000a5ff", "ää000000"] {
            assert_eq!(Register::parse(text, 64), None, "{text}");
        }
    }
}
