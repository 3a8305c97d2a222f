//! The SD status register (SSR, 512 bits): allocation units and speed classes. SD Physical Layer Simplified
//! Specification, section 4.10.2.

use flashscope_device::Bytes;

use super::register::Register;

/// The allocation units and speed classes that an SD card reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SdStatus {
    /// The allocation unit: the unit of the speed classes, and usually the erase block.
    pub allocation_unit: Option<Bytes>,
    /// The allocation unit for UHS speed grades.
    pub uhs_allocation_unit: Option<Bytes>,
    /// The allocation unit for video speed classes.
    pub video_allocation_unit: Option<Bytes>,
    /// The speed class: sequential write, MB/s: 2, 4, 6 or 10; zero for none.
    pub speed_class: Option<u8>,
    /// The UHS speed grade: 1 for 10 MB/s, 3 for 30 MB/s; zero for none.
    pub uhs_grade: u8,
    /// The video speed class, MB/s, 6 to 90; zero for none.
    pub video_class: u8,
    /// The application performance class: 1 or 2; zero for none.
    pub application_class: u8,
    /// Whether the card supports discard.
    pub discards: bool,
}

/// `AU_SIZE` for values of 1 and above (table 4-47, `sd_au_size` in Linux), KiB.
const ALLOCATION_UNITS_KIB: [u64; 15] =
    [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384, 24576, 32768, 65536];

/// `SPEED_CLASS`: classes 0, 2, 4, 6 and 10.
const SPEED_CLASSES: [u8; 5] = [0, 2, 4, 6, 10];

impl SdStatus {
    /// Parses the file `ssr`. `None` if it is malformed or blank.
    pub fn parse(text: &str) -> Option<Self> {
        let register = Register::parse(text, 512).filter(|register| !register.is_blank())?;
        let number = |high, low| u8::try_from(register.bits(high, low)).unwrap_or(0);
        Some(Self {
            allocation_unit: allocation_unit(register.bits(431, 428)),
            uhs_allocation_unit: allocation_unit(register.bits(395, 392)),
            video_allocation_unit: Some(Bytes::mib(register.bits(377, 368))).filter(|unit| !unit.is_zero()),
            speed_class: SPEED_CLASSES.get(usize::from(number(447, 440))).copied(),
            uhs_grade: number(399, 396),
            video_class: number(391, 384),
            application_class: number(339, 336),
            discards: register.bits(313, 313) == 1,
        })
    }

    /// The classes as printed on cards: `class 10, U3, V30, A2`.
    #[must_use]
    pub fn classes(&self) -> Option<String> {
        let speed = self.speed_class.filter(|class| *class > 0).map(|class| format!("class {class}"));
        let mark = |letter: char, class: u8| (class > 0).then(|| format!("{letter}{class}"));
        let marks =
            [mark('U', self.uhs_grade), mark('V', self.video_class), mark('A', self.application_class)];
        let classes: Vec<String> = speed.into_iter().chain(marks.into_iter().flatten()).collect();
        Some(classes.join(", ")).filter(|classes| !classes.is_empty())
    }
}

fn allocation_unit(code: u64) -> Option<Bytes> {
    let index = usize::try_from(code).ok()?.checked_sub(1)?;
    ALLOCATION_UNITS_KIB.get(index).copied().map(Bytes::kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A status register with these bytes, as index and value.
    fn status(fields: &[(usize, u8)]) -> Option<SdStatus> {
        let mut bytes = [0_u8; 64];
        fields.iter().for_each(|(at, value)| bytes[*at] = *value);
        let text: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        SdStatus::parse(&text.concat())
    }

    #[test]
    fn status_fields_are_parsed() {
        let status =
            status(&[(0, 0x80), (8, 4), (10, 0x90), (14, 0x3a), (15, 30), (17, 32), (21, 2), (24, 2)])
                .unwrap();
        assert_eq!(
            (status.allocation_unit, status.uhs_allocation_unit),
            (Some(Bytes::mib(4)), Some(Bytes::mib(8)))
        );
        assert_eq!((status.video_allocation_unit, status.discards), (Some(Bytes::mib(32)), true));
        assert_eq!(status.classes().as_deref(), Some("class 10, U3, V30, A2"));
    }

    #[test]
    fn units_other_than_powers_of_two_and_undefined_codes_are_handled() {
        assert_eq!(status(&[(10, 0xb0)]).unwrap().allocation_unit, Some(Bytes::mib(12)));
        assert_eq!(status(&[(8, 9)]).unwrap().speed_class, None);
        assert_eq!(status(&[(0, 0x80)]).unwrap().classes(), None);
        assert_eq!((status(&[]), SdStatus::parse("00")), (None, None));
    }
}
