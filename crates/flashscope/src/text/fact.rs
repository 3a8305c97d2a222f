//! A named fact.

/// A sentence with a name.
pub struct Fact {
    /// One or two words.
    pub name: String,
    /// The sentence.
    pub text: String,
}

impl Fact {
    /// A fact.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}
