//! The words of lines, as rows are made of them.

use std::collections::VecDeque;

use super::text::Line;

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
    let pieces = text.split_whitespace().flat_map(unglued).filter(|text| *text != "|");
    pieces.enumerate().map(move |(at, text)| Word { text, line, first: at == 0 })
}

/// Two words that lost the blank between them: `219µsalign`, `8.86M/s2MiB`.
fn unglued(word: &str) -> impl Iterator<Item = &str> {
    let align = word.strip_suffix("align").map(str::len).filter(|&at| at > 0);
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
    fn glued_words_come_apart() {
        let pieces = |word| unglued(word).collect::<Vec<_>>();
        assert_eq!(pieces("219µsalign"), ["219µs", "align"]);
        assert_eq!(pieces("8.86M/s2MiB"), ["8.86M/s", "2MiB"]);
        assert_eq!(pieces("8.86M/s"), ["8.86M/s"]);
        assert_eq!(pieces("align"), ["align"]);
    }
}
