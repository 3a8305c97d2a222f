//! Text as words, so that one phrase matches in prose, in `snake_case` and in `CamelCase`.

/// A word, or a break between two words that belong to different sentences or names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lower case; empty for a break.
    pub text: String,
    /// In bytes from the start of the text.
    pub position: usize,
}

/// The words of prose. Punctuation is a break; a hyphen, an underscore or an apostrophe inside a word is not.
pub fn of_prose(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (position, name) in names(text) {
        if name.is_empty() {
            push_break(&mut words, position);
        } else {
            push_parts(&mut words, position, name);
        }
    }
    words
}

/// The words of the identifiers in code, with a break after each identifier.
pub fn of_identifiers(code: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (position, name) in names(code) {
        push_parts(&mut words, position, name);
        push_break(&mut words, position);
    }
    words
}

/// Runs of letters, digits and joining characters; an empty name for punctuation.
fn names(text: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        if is_in_name(text, at, character) {
            start.get_or_insert(at);
            continue;
        }
        if let Some(start) = start.take() {
            names.push((start, &text[start..at]));
        }
        if !character.is_whitespace() && character != '/' {
            names.push((at, ""));
        }
    }
    if let Some(start) = start {
        names.push((start, &text[start..]));
    }
    names
}

fn is_in_name(text: &str, at: usize, character: char) -> bool {
    let is_joining = matches!(character, '-' | '\'');
    let is_between = || {
        let before = text[..at].ends_with(char::is_alphanumeric);
        before && text[at + 1..].starts_with(char::is_alphanumeric)
    };
    character.is_alphanumeric() || character == '_' || (is_joining && is_between())
}

/// Splits a name at underscores, hyphens, apostrophes, and where an upper-case letter begins a word.
fn push_parts(words: &mut Vec<Word>, position: usize, name: &str) {
    let mut start = 0;
    let mut previous = '_';
    let mut characters = name.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let begins = character.is_uppercase()
            && (previous.is_lowercase() || (previous.is_uppercase() && next.is_some_and(char::is_lowercase)));
        if !character.is_alphanumeric() {
            push_word(words, position + start, &name[start..at]);
            start = at + character.len_utf8();
        } else if begins {
            push_word(words, position + start, &name[start..at]);
            start = at;
        }
        previous = character;
    }
    push_word(words, position + start, &name[start..]);
}

fn push_word(words: &mut Vec<Word>, position: usize, text: &str) {
    if !text.is_empty() {
        words.push(Word { text: text.to_lowercase(), position });
    }
}

fn push_break(words: &mut Vec<Word>, position: usize) {
    if words.last().is_some_and(|last| !last.text.is_empty()) {
        words.push(Word { text: String::new(), position });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.text.as_str()).collect()
    }

    #[test]
    fn prose_breaks_at_punctuation_and_not_at_line_ends() {
        let words = of_prose("It's here and\n    /// there. A read-only_flag");
        assert_eq!(texts(&words), ["it", "s", "here", "and", "there", "", "a", "read", "only", "flag"]);
    }

    #[test]
    fn identifiers_are_split_into_words_and_separated() {
        let words = of_identifiers("OpenUnitsPosterior::here_and_there(UASDriver)");
        let expected = ["open", "units", "posterior", "", "here", "and", "there", "", "uas", "driver", ""];
        assert_eq!(texts(&words), expected);
    }
}
