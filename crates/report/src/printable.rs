//! Text from devices and files, made safe to print: a device may put terminal escapes into its name.

/// `text` on one line, without control characters and without characters that reorder text.
///
/// Line breaks and tabs become spaces. Every other control character, and Unicode's invisible direction and
/// separator marks (UAX #9), become `U+FFFD`, which shows that a character was replaced.
#[must_use]
pub fn printable(text: &str) -> String {
    text.trim().chars().map(printable_character).collect()
}

fn printable_character(character: char) -> char {
    match character {
        '\n' | '\r' | '\t' => ' ',
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
            '\u{fffd}'
        }
        other if other.is_control() => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_replaced() {
        assert_eq!(printable("a\u{1b}[31mb\u{9b}2J\u{202e}c\td\n"), "a\u{fffd}[31mb\u{fffd}2J\u{fffd}c d");
    }
}
