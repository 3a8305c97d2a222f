//! Splits Rust source into code, comments and strings. It knows no syntax beyond that.

use std::ops::Range;

/// What a stretch of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Code,
    /// A comment, with its slashes.
    Comment,
    /// The contents of a string literal, without its quotes.
    Text,
}

/// A stretch of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub kind: Kind,
    /// In bytes of the source.
    pub range: Range<usize>,
}

/// The segments of `source`, in the order of the source.
pub fn segments(source: &str) -> Vec<Segment> {
    let mut lexer = Lexer { source, position: 0, code_start: 0, segments: Vec::new() };
    lexer.run();
    lexer.segments
}

/// `source` with every byte outside segments of `kind` replaced: whitespace stays, anything else becomes
/// `filler`.
pub fn only(source: &str, segments: &[Segment], kind: Kind, filler: char) -> String {
    let mut out = String::with_capacity(source.len());
    let mut end = 0;
    let blank = |text: &str, out: &mut String| {
        for character in text.chars() {
            let replacement = if character.is_whitespace() { character } else { filler };
            (0..character.len_utf8()).for_each(|_| out.push(replacement));
        }
    };
    for segment in segments.iter().filter(|segment| segment.kind == kind) {
        blank(&source[end..segment.range.start], &mut out);
        out.push_str(&source[segment.range.clone()]);
        end = segment.range.end;
    }
    blank(&source[end..], &mut out);
    out
}

/// The code of `source` without comments, strings, and the items behind `#[cfg(test)]`: each of their bytes
/// is a space.
pub fn product_code(source: &str, segments: &[Segment]) -> String {
    let mut code = only(source, segments, Kind::Code, ' ');
    let mut from = 0;
    while let Some(at) = code[from..].find("#[cfg(test)]").map(|at| from + at) {
        let end = item_end(&code, at);
        let blank: String =
            code[at..end].chars().map(|character| if character == '\n' { '\n' } else { ' ' }).collect();
        code.replace_range(at..end, &blank);
        from = at + blank.len();
    }
    code
}

/// The end of the item that begins at `start`: behind its `;`, or behind the brace that closes its first one.
pub fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code[start..].char_indices() {
        match character {
            ';' if depth == 0 => return start + at + 1,
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return start + at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// The line of a byte, counted from 1.
pub fn line_of(source: &str, position: usize) -> usize {
    source.as_bytes()[..position].iter().filter(|byte| **byte == b'\n').count() + 1
}

struct Lexer<'a> {
    source: &'a str,
    position: usize,
    code_start: usize,
    segments: Vec<Segment>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while self.position < self.source.len() {
            let rest = &self.source[self.position..];
            if rest.starts_with("//") {
                let end = rest.find('\n').unwrap_or(rest.len());
                self.push(Kind::Comment, 0..end, end);
            } else if rest.starts_with("/*") {
                let end = block_comment_length(rest);
                self.push(Kind::Comment, 0..end, end);
            } else if let Some((contents, end)) = self.string(rest) {
                self.push(Kind::Text, contents, end);
            } else if rest.starts_with('\'') {
                self.position += character_length(rest);
            } else {
                self.position += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        self.flush_code(self.position);
    }

    /// Adds a segment at `range` behind the current position, and moves on by `length`.
    fn push(&mut self, kind: Kind, range: Range<usize>, length: usize) {
        let (start, end) = (self.position + range.start, self.position + range.end);
        self.flush_code(start);
        self.segments.push(Segment { kind, range: start..end });
        self.code_start = end;
        self.position += length;
    }

    fn flush_code(&mut self, end: usize) {
        if self.code_start < end {
            self.segments.push(Segment { kind: Kind::Code, range: self.code_start..end });
        }
    }

    /// The contents and the length of the string literal that `rest` begins with.
    fn string(&self, rest: &str) -> Option<(Range<usize>, usize)> {
        if rest.starts_with('"') {
            let end = quoted_length(rest);
            return Some((1..end.max(2) - 1, end));
        }
        let is_inside_word =
            self.source[..self.position].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let raw = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix));
        let hashes = raw.filter(|_| !is_inside_word)?;
        let body = hashes.trim_start_matches('#');
        let contents = body.strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes.len() - body.len()));
        let start = rest.len() - contents.len();
        let end = contents.find(&close).unwrap_or(contents.len());
        Some((start..start + end, (start + end + close.len()).min(rest.len())))
    }
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a quoted string, both quotes included.
fn quoted_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; of a lifetime, its quote alone.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    let Some((_, first)) = characters.next() else { return 1 };
    let second = characters.next();
    if first == '\\' {
        let end = characters.find(|(_, character)| *character == '\'').map(|(at, _)| at + 1);
        return end.unwrap_or(rest.len());
    }
    second.filter(|(_, character)| *character == '\'').map_or(1, |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str, kind: Kind) -> Vec<&str> {
        let segments = segments(source);
        let wanted = segments.iter().filter(|segment| segment.kind == kind);
        wanted.map(|segment| &source[segment.range.clone()]).collect()
    }

    #[test]
    fn comments_and_strings_are_separated_from_code() {
        let source =
            "let a = \"x // y\"; // one \"two\"\n/* three /* four */ */ f('\"', 'a', '\\'', r#\"b\"c\"#);\n";
        assert_eq!(texts(source, Kind::Comment), ["// one \"two\"", "/* three /* four */ */"]);
        assert_eq!(texts(source, Kind::Text), ["x // y", "b\"c"]);
        assert!(texts(source, Kind::Code).concat().contains("f('\"', 'a', '\\'', r#\"\"#);"));
    }

    #[test]
    fn lifetimes_do_not_begin_a_literal() {
        let source = "fn f<'a>(x: &'a str) -> &'static str { \"y\" } // z";
        assert_eq!(texts(source, Kind::Text), ["y"]);
        assert_eq!(texts(source, Kind::Comment), ["// z"]);
    }

    #[test]
    fn test_items_are_not_product_code() {
        let source = "use a;\n#[cfg(test)]\nmod tests {\n    use b;\n}\nuse c;\n#[cfg(test)]\nuse d;\n";
        let code = product_code(source, &segments(source));
        assert!(code.contains("use a;") && code.contains("use c;"));
        assert!(!code.contains("use b;") && !code.contains("use d;"));
        assert_eq!(code.len(), source.len());
    }

    #[test]
    fn a_line_is_counted_from_one() {
        assert_eq!((line_of("a\nb", 0), line_of("a\nb", 2)), (1, 2));
    }
}
