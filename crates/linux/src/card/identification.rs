//! The card identification register (CID, 128 bits): manufacturer, date and product name.
//!
//! SD Physical Layer Simplified Specification, section 5.2; for MMC, JESD84-B51, section 7.2.

use super::CardKind;
use super::register::Register;
use crate::printable::printable;

/// The identification of a card. All texts are printable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identification {
    /// The manufacturer's number.
    pub manufacturer_id: u8,
    /// The OEM: two characters.
    pub oem: String,
    /// The product name: five characters (SD) or six (MMC).
    pub product: String,
    /// The product revision, e.g. `8.0`.
    pub revision: String,
    /// The serial number.
    pub serial: u32,
    /// Year and month of manufacture, if they are valid.
    pub made: Option<(u16, u8)>,
}

impl Identification {
    /// Parses the file `cid` of a card of this kind. `None` if it is malformed or blank.
    pub fn parse(text: &str, kind: CardKind) -> Option<Self> {
        let register = Register::parse(text, 128).filter(|register| !register.is_blank())?;
        let number = |high, low| u32::try_from(register.bits(high, low)).unwrap_or(0);
        let (name_low, revision_low) = if kind == CardKind::Sd { (64, 56) } else { (56, 48) };
        let serial_low = revision_low - 32;
        Some(Self {
            manufacturer_id: u8::try_from(number(127, 120)).unwrap_or(0),
            oem: characters(&register, 119, 104),
            product: characters(&register, 103, name_low),
            revision: format!(
                "{}.{}",
                number(revision_low + 7, revision_low + 4),
                number(revision_low + 3, revision_low)
            ),
            serial: number(serial_low + 31, serial_low),
            made: if kind == CardKind::Sd { made(number(19, 12), number(11, 8)) } else { None },
        })
    }
}

fn characters(register: &Register, high: usize, low: usize) -> String {
    let bytes = (low..high).step_by(8).rev().map(|low| register.bits(low + 7, low));
    printable(
        &bytes
            .filter_map(|byte| u8::try_from(byte).ok())
            .filter(|byte| *byte != 0)
            .map(char::from)
            .collect::<String>(),
    )
}

/// The date of an SD card, which counts years from 2000.
fn made(years: u32, month: u32) -> Option<(u16, u8)> {
    let month = u8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    Some((2000 + u16::try_from(years).ok()?, month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cid_fields_are_parsed() {
        // 03, "SD", "SU08G", 8.0, serial 1d2f3a4b, October 2012.
        let card = Identification::parse(
            "035344535530384780 1d2f3a4b00ca01".replace(' ', "").as_str(),
            CardKind::Sd,
        )
        .unwrap();
        assert_eq!((card.manufacturer_id, card.oem.as_str(), card.product.as_str()), (3, "SD", "SU08G"));
        assert_eq!((card.revision.as_str(), card.serial, card.made), ("8.0", 0x1d2f_3a4b, Some((2012, 10))));
        // 15, "\x01\x00", "8GTF4R", 0.7, serial 0a0b0c0d.
        let chip = Identification::parse("150100384754463452070a0b0c0d6401", CardKind::Mmc).unwrap();
        assert_eq!(
            (chip.product.as_str(), chip.revision.as_str(), chip.serial),
            ("8GTF4R", "0.7", 0x0a0b_0c0d)
        );
    }

    #[test]
    fn hostile_names_are_made_printable_and_blank_registers_rejected() {
        let card = Identification::parse(
            "035344 1b5b33316d 80 1d2f3a4b 00ff 01".replace(' ', "").as_str(),
            CardKind::Sd,
        )
        .unwrap();
        assert!(!card.product.contains('\u{1b}'), "{card:?}");
        assert_eq!(card.made, None);
        assert_eq!(Identification::parse(&"0".repeat(32), CardKind::Sd), None);
        assert_eq!(Identification::parse("035344", CardKind::Sd), None);
    }
}
