//! From bytes to clean lines: character sets, terminal escapes, mail quoting and what web pages do to text.

use crate::parse::{entities, marks, quoted_printable};

/// One line of a log, cleaned. A line that mail software had broken is whole again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Its number in the file, counted from 1; of its first piece, if it was broken. Lines that a web page
    /// ran into one have the same.
    pub number: usize,
    /// Its text, without control characters and quote marks.
    pub text: String,
}

/// Twice encoded text and interrupts, and what they stood for.
const REPLACEMENTS: [(&str, &str); 3] = [("\u{c2}\u{a0}", " "), ("\u{3}", " ^C "), ("^C", " ^C ")];

/// The clean lines of a log in UTF-8, UTF-16, Latin-1 or a mixture, quoted-printable or not.
pub(super) fn lines(bytes: &[u8]) -> Vec<Line> {
    let transcoded = utf16(bytes);
    let bytes = transcoded.as_deref().map_or(bytes, str::as_bytes);
    let mut pieces = physical_lines(bytes);
    if quoted_printable::is_likely(bytes) {
        pieces = quoted_printable::decode(&pieces);
    }
    let shown = |(number, bytes): (usize, Vec<u8>)| {
        let texts = marks::lines(&without_escapes(&decode(&bytes)));
        texts.into_iter().map(move |text| Line { number, text: clean(&text) })
    };
    pieces.into_iter().flat_map(shown).collect()
}

/// UTF-16 by its byte order mark, or by the zeros beside its ASCII letters.
fn utf16(bytes: &[u8]) -> Option<String> {
    let zeros =
        |start: usize| bytes.iter().skip(start).step_by(2).take(64).filter(|&&byte| byte == 0).count();
    let half = bytes.len().min(128) / 4;
    let big = match bytes {
        [0xff, 0xfe, ..] => false,
        [0xfe, 0xff, ..] => true,
        _ if bytes.len() < 8 => return None,
        _ if zeros(1) > half && zeros(0) == 0 => false,
        _ if zeros(0) > half && zeros(1) == 0 => true,
        _ => return None,
    };
    let unit = |pair: &[u8]| {
        let pair = [pair[0], pair[1]];
        if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    };
    let units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
    Some(String::from_utf16_lossy(&units))
}

/// Lines as LF, CRLF or CR end them, with their numbers.
fn physical_lines(bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut lines = Vec::new();
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        lines.push((lines.len() + 1, rest[..end].to_vec()));
        let returns = rest[end..].iter().take_while(|&&byte| byte == b'\r').count();
        let feed = usize::from(rest.get(end + returns) == Some(&b'\n'));
        // Each carriage return without a line feed ends a line.
        let empty = if feed == 1 { 0 } else { returns - 1 };
        (0..empty).for_each(|_| lines.push((lines.len() + 1, Vec::new())));
        rest = &rest[end + returns + feed..];
    }
    if !rest.is_empty() {
        lines.push((lines.len() + 1, rest.to_vec()));
    }
    lines
}

/// UTF-8; every byte that is not UTF-8 is taken as Latin-1.
fn decode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|&byte| char::from(byte)));
    }
    text
}

fn clean(text: &str) -> String {
    let mut text = entities::decode(text);
    for (mark, meaning) in REPLACEMENTS {
        if text.contains(mark) {
            text = text.replace(mark, meaning);
        }
    }
    let text = with_plain_dashes(&text);
    let printable = |c: char| c.is_whitespace() || !(c.is_control() || is_invisible(c));
    let mut shown = String::with_capacity(text.len());
    for c in text.chars().filter(|&c| printable(c)) {
        match c {
            // Cells lie further apart than words.
            '\t' => shown.push_str("  "),
            c if c.is_whitespace() => shown.push(' '),
            c => shown.push(c),
        }
    }
    let text = shown;
    unquoted(&text).trim_end().to_owned()
}

const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Without the `> ` of answered mails.
fn unquoted(text: &str) -> &str {
    let mut text = text;
    while let Some(rest) = text.trim_start().strip_prefix('>') {
        text = rest.strip_prefix(' ').unwrap_or(rest);
    }
    text
}

/// Without terminal escapes: colours and cursor moves (ECMA-48 control sequences), titles (operating system
/// commands).
fn without_escapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => match characters.next() {
                Some('[') => while characters.next_if(|&c| !('@'..='~').contains(&c)).is_some() {},
                Some(']') => while characters.next_if(|&c| c != '\u{7}' && c != '\u{1b}').is_some() {},
                _ => continue,
            },
            _ => {
                clean.push(c);
                continue;
            }
        }
        characters.next();
    }
    clean
}

/// Typographers' dashes back to what was typed: two hyphens before a letter, a minus otherwise.
fn with_plain_dashes(text: &str) -> String {
    if !text.contains(['–', '—', '−', '‐', '‑']) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let before_letter = characters.peek().is_some_and(char::is_ascii_alphabetic);
        match c {
            '–' | '—' if before_letter => plain.push_str("--"),
            '–' | '—' | '−' | '‐' | '‑' => plain.push('-'),
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        lines(bytes).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn every_character_set_gives_the_same_line() {
        let row = "align 8192\tpre 785µs";
        let little: Vec<u8> = row.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = row.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let with_mark = [&[0xff, 0xfe][..], &little].concat();
        for bytes in [row.as_bytes(), b"align 8192\tpre 785\xb5s", &little, &big, &with_mark] {
            assert_eq!(texts(bytes), ["align 8192  pre 785µs"]);
        }
    }

    #[test]
    fn escapes_quotes_and_entities_go() {
        let bytes = b"> > \x1b[31malign\x1b[0m\xc2\xa08192\x1b]0;title\x07 pre 785&micro;s<br>\r\n15M/s^C";
        assert_eq!(texts(bytes), ["align 8192 pre 785µs", "15M/s ^C"]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let numbers: Vec<usize> = lines(b"a\r\nb\rc\n\nd").into_iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5]);
        let texts: Vec<(usize, String)> =
            lines(b"a\r\r\rb\r\r\nc").into_iter().map(|line| (line.number, line.text)).collect();
        let expected = [(1, "a"), (2, ""), (3, ""), (4, "b"), (5, "c")];
        assert_eq!(texts, expected.map(|(number, text)| (number, text.to_owned())));
    }

    #[test]
    fn dashes_of_web_pages_become_options_again() {
        assert_eq!(
            texts("flashbench –blocksize=1024 diff −3602ns".as_bytes()),
            ["flashbench --blocksize=1024 diff -3602ns"]
        );
    }
}
