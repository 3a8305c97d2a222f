//! Makes text that came from a device or a path safe for a terminal.

/// The most characters that are kept.
const LIMIT: usize = 128;

/// `text` without anything that could steer a terminal or reorder the output, at most 128 characters.
///
/// Control characters and invisible bidirectional marks become U+FFFD. Runs of white space become one
/// space. A cut end becomes an ellipsis. A disk's name is whatever its maker, or a forger, wrote there.
#[must_use]
pub fn printable(text: &str) -> String {
    let words = text.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    let mut characters = words.flat_map(str::chars).map(shown);
    let mut kept: String = characters.by_ref().take(LIMIT).collect();
    if characters.next().is_some() {
        kept.pop();
        kept.push('…');
    }
    kept
}

fn shown(character: char) -> char {
    if character.is_control() || is_invisible(character) { char::REPLACEMENT_CHARACTER } else { character }
}

/// Zero-width and direction marks, soft hyphen, byte order mark, tags (Unicode 16, general category Cf).
const fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_marks_are_replaced() {
        assert_eq!(printable("\u{1b}[31mRED\u{7}\u{202e}evil"), "\u{fffd}[31mRED\u{fffd}\u{fffd}evil");
        assert_eq!(printable("  SanDisk \t Ultra\n"), "SanDisk Ultra");
        assert_eq!(printable(""), "");
    }

    #[test]
    fn a_long_name_is_cut() {
        let shown = printable(&"ä".repeat(64 << 10));
        assert_eq!(shown.chars().count(), LIMIT);
        assert!(shown.ends_with('…'));
        assert_eq!(printable(&"x".repeat(LIMIT)), "x".repeat(LIMIT));
    }
}
