//! The words of lines, as rows are made of them.

use std::collections::VecDeque;

use crate::parse::text::Line;

/// A word and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    /// Index of its line.
    pub line: usize,
    /// Whether it is its line's first.
    pub first: bool,
}

/// The words of these lines, in order.
pub(super) fn words(lines: &[Line]) -> VecDeque<Word<'_>> {
    lines.iter().enumerate().flat_map(|(line, text)| words_of(line, &text.text)).collect()
}

fn words_of(line: usize, text: &str) -> impl Iterator<Item = Word<'_>> {
    let pieces = between_separators(text).flat_map(unglued);
    pieces.enumerate().map(move |(at, text)| Word { text, line, first: at == 0 })
}

/// The parts between blanks and what separates columns: bars, semicolons, and commas, but for those inside a
/// number.
fn between_separators(text: &str) -> impl Iterator<Item = &str> {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_in_number =
        move |at: usize| at > 0 && digit(text.as_bytes().get(at - 1)) && digit(text.as_bytes().get(at + 1));
    let mut at = 0;
    let separates = move |c: char| {
        let here = at;
        at += c.len_utf8();
        c.is_whitespace() || matches!(c, '|' | ';') || c == ',' && !is_in_number(here)
    };
    text.split(separates).filter(|part| !part.is_empty())
}

/// Two words that lost the blank between them: `219µsalign`, `8.86M/s2MiB`.
fn unglued(word: &str) -> impl Iterator<Item = &str> {
    let align = word.strip_suffix("align").map(str::len);
    let speed =
        word.find("/s").map(|at| at + 2).filter(|&at| word[at..].starts_with(|c: char| c.is_ascii_digit()));
    let at = align.or(speed).unwrap_or(word.len());
    let (head, tail) = word.split_at(at);
    [head, tail].into_iter().filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_separators_split_words() {
        let parts = |text| between_separators(text).collect::<Vec<_>>();
        for text in ["|| 4MiB || 1.5M/s ||", "|4MiB|1.5M/s|", "4MiB;1.5M/s", "4MiB,1.5M/s", "4MiB, 1.5M/s"] {
            assert_eq!(parts(text), ["4MiB", "1.5M/s"], "{text}");
        }
        assert_eq!(
            parts("align 1,073,741,824 pre 1,77ms, µ,5"),
            ["align", "1,073,741,824", "pre", "1,77ms", "µ", "5"]
        );
    }

    #[test]
    fn joined_words_are_split() {
        let pieces = |word| unglued(word).collect::<Vec<_>>();
        assert_eq!(pieces("219µsalign"), ["219µs", "align"]);
        assert_eq!(pieces("8.86M/s2MiB"), ["8.86M/s", "2MiB"]);
        assert_eq!(pieces("8.86M/s"), ["8.86M/s"]);
        assert_eq!(pieces("align"), ["align"]);
    }
}
