//! A phrase as a sequence of words.
//!
//! `(a|b)` is one of several words, `*` any one word, `#` a number, and `!(a|b)` at the end: no such word may
//! follow.

use serde::Deserialize;

use crate::tidy::words::Word;

/// A phrase to find.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Phrase {
    elements: Vec<Element>,
    not_before: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Element {
    OneOf(Vec<String>),
    Any,
    Number,
}

impl TryFrom<String> for Phrase {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (mut elements, mut not_before) = (Vec::new(), Vec::new());
        for part in text.split_whitespace() {
            match (part.strip_prefix('!'), part) {
                _ if !not_before.is_empty() => return Err(format!("'{text}': nothing may follow !(…)")),
                (Some(words), _) => not_before = alternatives(words),
                (None, "*") => elements.push(Element::Any),
                (None, "#") => elements.push(Element::Number),
                (None, words) => elements.push(Element::OneOf(alternatives(words))),
            }
        }
        match elements.first() {
            Some(Element::OneOf(_)) => Ok(Self { elements, not_before }),
            _ => Err(format!("'{text}' must begin with a word")),
        }
    }
}

fn alternatives(text: &str) -> Vec<String> {
    let inside = text.trim_start_matches('(').trim_end_matches(')');
    inside.split('|').map(str::to_lowercase).collect()
}

impl Phrase {
    /// The words that it may begin with.
    pub fn first_words(&self) -> impl Iterator<Item = &str> {
        let words = match self.elements.first() {
            Some(Element::OneOf(words)) => words.as_slice(),
            _ => &[],
        };
        words.iter().map(String::as_str)
    }

    /// How many of `words` it matches from index `at` on; `None` if it does not match there.
    pub fn match_at(&self, words: &[Word], at: usize) -> Option<usize> {
        let candidates = words.get(at..at + self.elements.len())?;
        let matches = self.elements.iter().zip(candidates).all(|(element, word)| element.matches(&word.text));
        let next = words.get(at + self.elements.len());
        let is_excluded = next.is_some_and(|next| self.not_before.contains(&next.text));
        (matches && !is_excluded).then_some(self.elements.len())
    }

    /// A text that it matches.
    #[cfg(test)]
    pub fn example(&self) -> String {
        let word = |element: &Element| match element {
            Element::OneOf(words) => words[0].clone(),
            Element::Any => "thing".to_owned(),
            Element::Number => "4".to_owned(),
        };
        self.elements.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

impl Element {
    fn matches(&self, word: &str) -> bool {
        match self {
            Self::OneOf(words) => words.iter().any(|known| known == word),
            Self::Any => !word.is_empty(),
            Self::Number => !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::words;

    fn matches(phrase: &str, text: &str) -> bool {
        let phrase = Phrase::try_from(phrase.to_owned()).unwrap();
        let words = words::of_prose(text);
        (0..words.len()).any(|at| phrase.match_at(&words, at).is_some())
    }

    #[test]
    fn elements_match_alternatives_any_word_and_numbers() {
        assert!(matches("holds * (near|by)", "he holds it by"));
        assert!(!matches("holds * (near|by)", "he holds it. By"));
        assert!(matches("apes of #", "2 apes of 4 KiB") && !matches("apes of #", "apes of all"));
        assert!(
            matches("in trees !(of|to)", "apes in trees") && !matches("in trees !(of|to)", "in trees to")
        );
    }

    #[test]
    fn a_phrase_must_begin_with_a_word() {
        assert!(Phrase::try_from("* x".to_owned()).is_err());
        assert!(Phrase::try_from(String::new()).is_err());
        assert!(Phrase::try_from("a !(b) c".to_owned()).is_err());
    }
}
