//! The SD configuration register (SCR, 64 bits): the version of the specification, and the bus width.
//!
//! SD Physical Layer Simplified Specification, section 5.6.

use super::register::Register;

/// The configuration of an SD card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configuration {
    /// The version of the specification, e.g. `3.0`, if it is a known one.
    pub version: Option<&'static str>,
    /// Whether the card supports four data lines.
    pub four_lines: bool,
}

impl Configuration {
    /// Parses the file `scr`. `None` if it is malformed or blank.
    pub fn parse(text: &str) -> Option<Self> {
        let register = Register::parse(text, 64).filter(|register| !register.is_blank())?;
        Some(Self { version: version(&register), four_lines: register.bits(50, 50) == 1 })
    }
}

/// The version from `SD_SPEC`, `SD_SPEC3`, `SD_SPEC4` and `SD_SPECX` (table 5-19).
fn version(register: &Register) -> Option<&'static str> {
    match (register.bits(59, 56), register.bits(47, 47), register.bits(42, 42), register.bits(41, 38)) {
        (0, 0, 0, 0) => Some("1.0"),
        (1, 0, 0, 0) => Some("1.10"),
        (2, 0, 0, 0) => Some("2.0"),
        (2, 1, 0, 0) => Some("3.0"),
        (2, 1, 1, 0) => Some("4"),
        (2, 1, _, 1) => Some("5"),
        (2, 1, _, 2) => Some("6"),
        (2, 1, _, 3) => Some("7"),
        (2, 1, _, 4) => Some("8"),
        (2, 1, _, 5) => Some("9"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_bus_width_are_parsed() {
        let read = |text: &str| Configuration::parse(text).map(|scr| (scr.version, scr.four_lines));
        assert_eq!(read("0235800000000000"), Some((Some("3.0"), true)));
        assert_eq!(read("0205848700000000"), Some((Some("6"), true)));
        assert_eq!(read("02b5800000000000"), Some((Some("3.0"), true)));
        assert_eq!(read("00a5000000000000"), Some((Some("1.0"), true)));
        assert_eq!(read("0fa1000000000000"), Some((None, false)));
        assert_eq!((read("0235"), read("0000000000000000")), (None, None));
    }
}
