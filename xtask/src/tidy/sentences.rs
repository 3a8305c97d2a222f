//! A sentence of Markdown has at most 40 words, so that it is understood at the first reading.

use super::files::{File, Files};
use super::violation::Violation;

const WORDS_MAX: usize = 40;

/// A full stop behind these ends no sentence.
const ABBREVIATIONS: [&str; 9] = ["e.g.", "i.e.", "vs.", "cf.", "etc.", "al.", "Fig.", "No.", "pp."];

/// Every sentence that is too long, outside code, tables and the generated pages of docs/reference.
pub fn check(files: &Files) -> Vec<Violation> {
    let pages = files.0.iter().filter(|file| file.has_extension("md") && file.is_ours());
    pages.filter(|page| !page.path.starts_with("docs/reference/")).flat_map(violations).collect()
}

fn violations(page: &File) -> Vec<Violation> {
    let blocks = blocks(page);
    let sentences = blocks.iter().flat_map(|block| sentences(block));
    let long = sentences.filter(|(_, words)| words.len() > WORDS_MAX);
    let message = |words: &[&str]| format!("{} words: {} …", words.len(), words[..6].join(" "));
    long.map(|(line, words)| Violation::new(&page.path, line, message(&words))).collect()
}

/// A paragraph or a list item: each line of it with its number.
type Block<'a> = Vec<(usize, &'a str)>;

fn blocks(page: &File) -> Vec<Block<'_>> {
    let (mut blocks, mut block) = (Vec::new(), Block::new());
    let (mut is_code, mut is_after_blank) = (false, true);
    for (number, line) in page.lines() {
        let text = line.trim_start();
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        is_code ^= is_fence;
        let is_indented_code = line.starts_with("    ") && is_after_blank && !is_item(text);
        let is_outside =
            is_fence || is_code || is_indented_code || text.starts_with('|') || text.starts_with('#');
        if text.is_empty() || is_outside || is_item(text) {
            blocks.push(std::mem::take(&mut block));
        }
        if !is_outside && !text.is_empty() {
            block.push((number, text));
        }
        is_after_blank = text.is_empty() || (is_after_blank && is_indented_code);
    }
    blocks.push(block);
    blocks
}

fn is_item(text: &str) -> bool {
    let numbered = text.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    numbered || ["- ", "* ", "+ "].iter().any(|mark| text.starts_with(mark))
}

/// The sentences of a block: the line on which each begins, and its words. Code in backticks is one word.
fn sentences<'a>(block: &[(usize, &'a str)]) -> Vec<(usize, Vec<&'a str>)> {
    let mut sentences = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    let (mut first_line, mut is_code) = (0, false);
    for (number, word) in block.iter().flat_map(|(number, line)| line.split(' ').map(|word| (*number, word)))
    {
        let was_code = is_code;
        is_code ^= word.matches('`').count() % 2 == 1;
        if !word.contains(char::is_alphanumeric) || (was_code && is_code) {
            continue;
        }
        if words.is_empty() {
            first_line = number;
        }
        if !was_code {
            words.push(word);
        }
        if ends_sentence(word) && !is_code {
            sentences.push((first_line, std::mem::take(&mut words)));
        }
    }
    sentences.push((first_line, words));
    sentences
}

fn ends_sentence(word: &str) -> bool {
    let word = word.trim_end_matches(['*', '_', ')', '"', '`', '”']);
    let is_stop = word.ends_with(['.', '!', '?']) || word.ends_with(".]");
    is_stop && !ABBREVIATIONS.iter().any(|known| word.trim_start_matches('(') == *known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check(&Files::of([("a.md", text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_sentence_is_reported_on_its_first_line() {
        let long = "word\n".repeat(41);
        assert_eq!(
            found(&format!("A short one.\n{long}")),
            ["a.md:2: 41 words: word word word word word word …"]
        );
        assert_eq!(found(&format!("- {}e.g. x", "word ".repeat(39))).len(), 1);
    }

    #[test]
    fn short_sentences_code_tables_and_separate_items_are_not_reported() {
        let half = "word ".repeat(30);
        assert!(found(&format!("{half}end. {half}")).is_empty());
        assert!(found(&format!("- {half}\n- {half}\n")).is_empty());
        let long = "word ".repeat(50);
        assert!(found(&format!("```\n{long}\n```\n\n    {long}\n\n| {long} |\n")).is_empty());
        assert!(found(&format!("Run `{long}` now.\n")).is_empty());
    }

    #[test]
    fn generated_pages_are_not_checked() {
        let long = "word ".repeat(50);
        assert!(check(&Files::of([("docs/reference/a.md", long.as_str())])).is_empty());
    }
}
