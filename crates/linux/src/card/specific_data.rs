//! The card-specific data register (CSD, 128 bits) of an SD card: capacity and write protection.
//!
//! SD Physical Layer Simplified Specification, section 5.3.

use flashscope_device::Bytes;

use super::register::Register;

/// The card-specific data of an SD card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecificData {
    /// The capacity that the card reports.
    pub capacity: Option<Bytes>,
    /// Whether the card is permanently or temporarily write-protected.
    pub write_protected: bool,
}

impl SpecificData {
    /// Parses the file `csd`. `None` if it is malformed or blank.
    pub fn parse(text: &str) -> Option<Self> {
        let register = Register::parse(text, 128).filter(|register| !register.is_blank())?;
        Some(Self { capacity: capacity(&register), write_protected: register.bits(13, 12) != 0 })
    }
}

/// The capacity: section 5.3.2 (up to 2 GiB), 5.3.3 (SDHC and SDXC) and 5.3.4 (SDUC).
fn capacity(register: &Register) -> Option<Bytes> {
    let half_mebibytes = |count: u64| Bytes::kib(512 * (count + 1));
    match register.bits(127, 126) {
        0 => {
            let (size, multiplier, block) =
                (register.bits(73, 62), register.bits(49, 47), register.bits(83, 80));
            (9..=11).contains(&block).then(|| Bytes::new((size + 1) << (multiplier + 2 + block)))
        }
        1 => Some(half_mebibytes(register.bits(69, 48))),
        2 => Some(half_mebibytes(register.bits(75, 48))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_parsed_in_each_structure() {
        let capacity = |text: &str| SpecificData::parse(text).unwrap().capacity;
        // SDHC: C_SIZE 0x3b37 at bits 69 to 48.
        assert_eq!(capacity("400e00325b5900003b377f800a4040b9"), Some(Bytes::kib(512 * 0x3b38)));
        // Standard capacity: C_SIZE 0xf03, C_SIZE_MULT 7, READ_BL_LEN 10: 1 922 MiB.
        assert_eq!(capacity("002600325f5a83c0ffffffff80404001"), Some(Bytes::new(0xf04 << 19)));
        // SDUC: C_SIZE 0x1403b37 at bits 75 to 48, more than the 22 bits of an SDHC card.
        assert_eq!(capacity("800e00325b5901403b377f800a4040b9"), Some(Bytes::kib(512 * 0x140_3b38)));
        assert_eq!(capacity("c00e00325b5900003b377f800a404001"), None);
    }

    #[test]
    fn write_protection_is_parsed_and_malformed_registers_rejected() {
        assert!(SpecificData::parse("400e00325b5900003b377f800a4050b9").unwrap().write_protected);
        assert!(!SpecificData::parse("400e00325b5900003b377f800a4040b9").unwrap().write_protected);
        assert_eq!((SpecificData::parse(""), SpecificData::parse(&"f".repeat(32))), (None, None));
    }
}
