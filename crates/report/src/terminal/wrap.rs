//! Line wrapping.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::no_break::{NO_BREAK_SPACE, join_units};

/// `text` in lines of at most `width` columns, broken at spaces but not between a number and its unit. A word
/// longer than a line is split.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in join_units(text).split(' ').filter(|word| !word.is_empty()) {
        append(&mut lines, word, width.max(2));
    }
    lines.into_iter().map(|line| line.replace(NO_BREAK_SPACE, " ")).collect()
}

fn append(lines: &mut Vec<String>, word: &str, width: usize) {
    for piece in pieces(word, width) {
        let Some(line) = lines.last_mut() else { return };
        match line.width() {
            0 => line.push_str(&piece),
            used if used + 1 + piece.width() <= width => {
                line.push(' ');
                line.push_str(&piece);
            }
            _ => lines.push(piece),
        }
    }
}

/// `word` in pieces of at most `width` columns.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for character in word.chars() {
        let columns = character.width().unwrap_or(0);
        if used + columns > width {
            pieces.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_the_width_and_keep_all_text() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrapped("erases 8 MiB", 9), ["erases", "8 MiB"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
