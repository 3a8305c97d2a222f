//! Banned phrases: words that a storage engineer would not understand, each with the word to use. The list is
//! `banned.toml`.

mod passages;
mod phrase;

use std::collections::HashMap;

use anyhow::Context;
use serde::Deserialize;

use self::passages::Passage;
use self::phrase::Phrase;
use super::files::{File, Files};
use super::lexer::line_of;
use super::violation::Violation;
use super::words::Word;

/// Pages that name banned phrases on purpose.
const EXEMPT: [&str; 2] = ["docs/glossary.md", "xtask/src/tidy/banned.toml"];

/// Where a phrase is banned.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    /// In identifiers, comments, strings and pages.
    #[default]
    Everywhere,
    /// In comments, strings and pages.
    Prose,
    /// In comments alone.
    Comments,
    /// In identifiers alone.
    Identifiers,
}

/// An entry of the list.
#[derive(Debug, Deserialize)]
struct Entry {
    not: Phrase,
    say: String,
    #[serde(default, rename = "where")]
    scope: Scope,
}

#[derive(Debug, Deserialize)]
struct List {
    phrase: Vec<Entry>,
}

impl List {
    fn of_repository() -> anyhow::Result<Self> {
        toml::from_str(include_str!("../banned.toml")).context("xtask/src/tidy/banned.toml")
    }

    /// The entries by the first word that they match.
    fn by_first_word(&self) -> HashMap<&str, Vec<&Entry>> {
        let mut entries: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in &self.phrase {
            for word in entry.not.first_words() {
                entries.entry(word).or_default().push(entry);
            }
        }
        entries
    }
}

/// Every banned phrase in the repository's own text.
pub fn check(files: &Files) -> anyhow::Result<Vec<Violation>> {
    let list = List::of_repository()?;
    let ours = files.0.iter().filter(|file| file.is_ours() && !EXEMPT.contains(&file.path.as_str()));
    let index = list.by_first_word();
    Ok(ours.flat_map(|file| violations(file, &index)).collect())
}

fn violations(file: &File, index: &HashMap<&str, Vec<&Entry>>) -> Vec<Violation> {
    let passages = passages::of(file);
    passages.iter().flat_map(|passage| violations_of(file, passage, index)).collect()
}

/// At each word, the longest phrase that begins there.
fn violations_of(file: &File, passage: &Passage, index: &HashMap<&str, Vec<&Entry>>) -> Vec<Violation> {
    let longest = |at: usize| {
        let entries = index.get(passage.words[at].text.as_str())?;
        let banned = entries.iter().filter(|entry| passage.kind.is_in(entry.scope));
        banned
            .filter_map(|entry| Some((entry.not.match_at(&passage.words, at)?, *entry)))
            .max_by_key(|(length, _)| *length)
    };
    let found = (0..passage.words.len()).filter_map(|at| {
        let (length, entry) = longest(at)?;
        let words = &passage.words[at..at + length];
        let phrase = words.iter().map(|word: &Word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let line = line_of(&file.text, words[0].position);
        Some(Violation::new(&file.path, line, format!("'{phrase}': say {}", entry.say)))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Phrases of no language, so that this file does not break the rule.
    const LIST: &str = r#"
        [[phrase]]
        not = "(purple|violet) apes dance"
        say = "interleaved"
        [[phrase]]
        not = "green apes"
        say = "sequential"
        where = "comments"
        [[phrase]]
        not = "red apes"
        say = "random"
        where = "identifiers"
        [[phrase]]
        not = "blue apes !(swim)"
        say = "random"
    "#;

    fn found(path: &str, text: &str) -> Vec<String> {
        let list: List = toml::from_str(LIST).unwrap();
        let found = violations(&File::new(path, text), &list.by_first_word());
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_banned_phrase_is_found_across_lines_and_in_identifiers() {
        let source =
            "/// All violet\n    /// apes dance.\nfn purple_apes_dance() { PurpleApesDance::new(\"x\") }\n";
        let expected = [
            "a.rs:3: 'purple apes dance': say interleaved",
            "a.rs:3: 'purple apes dance': say interleaved",
            "a.rs:1: 'violet apes dance': say interleaved",
        ];
        assert_eq!(found("a.rs", source), expected);
    }

    #[test]
    fn a_phrase_is_banned_only_in_its_scope() {
        assert_eq!(found("a.rs", "// green apes\nlet green_apes = \"green apes\";").len(), 1);
        assert_eq!(found("a.rs", "// red apes\nlet red_apes = \"red apes\";").len(), 1);
        assert_eq!(found("a.md", "green apes, red apes").len(), 1);
    }

    #[test]
    fn clean_text_and_names_of_data_are_not_reported() {
        assert!(
            found("a.rs", "// apes dance, purple. Apes dance\nlet apes = \"purple_apes_dance\";").is_empty()
        );
        assert!(found("a.rs", "// blue apes swim\n").is_empty());
        assert!(found("a.md", "The field `purple_apes_dance` is new.").is_empty());
        assert!(found("a.toml", "purple_apes_dance = 3\n").is_empty());
        assert_eq!(found("a.toml", "x = 3 # purple apes dance\n").len(), 1);
    }

    #[test]
    fn every_listed_phrase_is_found_where_it_is_banned() {
        let list = List::of_repository().unwrap();
        let index = list.by_first_word();
        for entry in &list.phrase {
            let example = entry.not.example();
            let text = match entry.scope {
                Scope::Identifiers => format!("fn {}() {{}}", example.replace(' ', "_")),
                Scope::Everywhere | Scope::Prose | Scope::Comments => format!("// {example}\n"),
            };
            assert!(!violations(&File::new("a.rs", &text), &index).is_empty(), "{example}");
        }
    }

    #[test]
    fn plain_english_is_not_reported() {
        let list = List::of_repository().unwrap();
        let index = list.by_first_word();
        for text in [
            "in order of size, in order to read, reads in order of their numbers, an order of magnitude",
            "requests in flight, a request takes 3 ms, as long as it runs, so long as nothing fails",
            "a cache may hold up to 8 MiB, a random read of 4 KiB, a sequential write, the background thread, a ground truth",
            "the device handed the request to the kernel, and the kernel gave up after 30 s",
            "a second later 4 KiB were read; the number of blocks; how fast the stick is",
            "patience, a patently wrong value, the notebook, of course, aside from that, there and here",
        ] {
            assert_eq!(violations(&File::new("a.md", text), &index), [], "{text}");
        }
    }
}
