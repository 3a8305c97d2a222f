//! The text of a file in which phrases are looked for.
//!
//! Names of data are left out: a string, or a piece of code in backticks, that is one word, and the keys of
//! TOML. They are JSON fields and run-file fields, which are contracts.

use super::Scope;
use crate::tidy::files::File;
use crate::tidy::lexer::{Kind as SegmentKind, Segment, only};
use crate::tidy::words::{self, Word};

/// What a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Identifiers,
    Comments,
    /// Strings of Rust.
    Strings,
    /// Markdown, TOML and snapshots.
    Page,
}

impl Kind {
    /// Whether a phrase of this scope is banned here.
    pub const fn is_in(self, scope: Scope) -> bool {
        match scope {
            Scope::Everywhere => true,
            Scope::Prose => !matches!(self, Self::Identifiers),
            Scope::Comments => matches!(self, Self::Comments | Self::Page),
            Scope::Identifiers => matches!(self, Self::Identifiers),
        }
    }
}

/// Words of one kind. Their positions are bytes of the file.
#[derive(Debug)]
pub struct Passage {
    pub kind: Kind,
    pub words: Vec<Word>,
}

/// The passages of a file; none if its extension is not checked.
pub fn of(file: &File) -> Vec<Passage> {
    let page = |text: &str| vec![Passage { kind: Kind::Page, words: words::of_prose(text) }];
    match file.path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs") => of_rust(file),
        Some("md") => page(&without_names(&file.text, '`')),
        Some("snap") => page(&without_names(&without_names(&file.text, '"'), '`')),
        Some("toml") => page(&without_names(&without_keys(&file.text), '"')),
        _ => Vec::new(),
    }
}

fn of_rust(file: &File) -> Vec<Passage> {
    let File { text, segments, .. } = file;
    let code = only(text, segments, SegmentKind::Code, ' ');
    let comments = without_names(&only(text, segments, SegmentKind::Comment, '|'), '`');
    let is_sentence = |segment: &&Segment| {
        segment.kind == SegmentKind::Text && text[segment.range.clone()].contains(char::is_whitespace)
    };
    let sentences: Vec<Segment> = segments.iter().filter(is_sentence).cloned().collect();
    let strings = only(text, &sentences, SegmentKind::Text, '|').replace("\\n", "| ");
    vec![
        Passage { kind: Kind::Identifiers, words: words::of_identifiers(&code) },
        Passage { kind: Kind::Comments, words: words::of_prose(&comments) },
        Passage { kind: Kind::Strings, words: words::of_prose(&without_names(&strings, '`')) },
    ]
}

/// `text` with each stretch between two `quote`s on one line that has no whitespace made punctuation.
fn without_names(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut parts = line.split(quote);
        out.push_str(parts.next().unwrap_or_default());
        let mut is_inside = true;
        for part in parts {
            out.push(quote);
            if is_inside && !part.contains(char::is_whitespace) {
                (0..part.len()).for_each(|_| out.push('|'));
            } else {
                out.push_str(part);
            }
            is_inside = !is_inside;
        }
    }
    out
}

/// TOML with its keys and table names made punctuation.
fn without_keys(text: &str) -> String {
    let blank =
        |part: &str| part.chars().map(|c| if c.is_whitespace() { c } else { '|' }).collect::<String>();
    let of_line = |line: &str| {
        let is_comment = line.trim_start().starts_with('#');
        let is_table = line.trim_start().starts_with('[') && line.trim_end().ends_with(']');
        let key = line.split_once('=').map(|(key, _)| key).filter(|key| is_key(key));
        match key {
            Some(key) if !is_comment => blank(key) + &line[key.len()..],
            _ if is_table && !line.contains(',') => blank(line),
            _ => line.to_owned(),
        }
    };
    text.split_inclusive('\n').map(of_line).collect()
}

fn is_key(text: &str) -> bool {
    let key = text.trim();
    !key.is_empty() && key.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character))
}
