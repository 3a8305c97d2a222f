//! A sentence that is safe to print.

use std::fmt;

use serde::Serialize;

use crate::printable::printable;

/// A sentence without control characters, with a capital first letter and a final full stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Sentence(String);

impl Sentence {
    /// The sentence with this text.
    #[must_use]
    pub fn new(text: impl AsRef<str>) -> Self {
        let text = printable(text.as_ref());
        let mut characters = text.chars();
        let mut sentence: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
        sentence.push_str(characters.as_str());
        if !sentence.ends_with(['.', '!', '?']) {
            sentence.push('.');
        }
        Self(sentence)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}
