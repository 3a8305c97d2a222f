//! What is true of a specimen, finding by finding, and whether anything shows it.

use std::collections::BTreeMap;

use flashscope_device::Bytes;

/// One thing that is true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fact {
    /// A size; where the definition leaves room, every size from `low` to `high` is right.
    Bytes {
        /// The smallest right answer.
        low: Bytes,
        /// The largest right answer.
        high: Bytes,
    },
    /// A number of erase blocks.
    Count(u32),
    /// A class or a yes or no, as it stands in JSON; several where nothing tells them apart from outside.
    OneOf(&'static [&'static str]),
    /// A rate or a time, in the finding's unit.
    Number(f64),
    /// There is no such thing: whatever is named is wrong.
    Nothing,
}

/// What is true of a specimen, by the finding's id in JSON.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Truth {
    facts: BTreeMap<&'static str, Fact>,
    hidden: BTreeMap<&'static str, &'static str>,
}

impl Truth {
    /// Nothing is true of it that a finding could name.
    #[must_use]
    pub(crate) fn nothing(ids: &[&'static str]) -> Self {
        Self { facts: ids.iter().map(|id| (*id, Fact::Nothing)).collect(), hidden: BTreeMap::new() }
    }

    pub(crate) fn set(&mut self, id: &'static str, fact: Fact) {
        self.facts.insert(id, fact);
    }

    pub(crate) fn bytes(&mut self, id: &'static str, bytes: Bytes) {
        self.set(id, Fact::Bytes { low: bytes, high: bytes });
    }

    /// Nobody knows what is true of it.
    pub(crate) fn leave_open(&mut self, id: &'static str) {
        self.facts.remove(id);
    }

    /// True as it is, nothing that the device does from outside shows it, for this reason. Where nothing is true, nothing is
    /// hidden.
    pub(crate) fn hide(&mut self, id: &'static str, reason: &'static str) {
        if self.fact(id).is_some_and(|fact| fact != Fact::Nothing) {
            self.hidden.insert(id, reason);
        }
    }

    /// What is true of this finding; `None` if it is not judged.
    #[must_use]
    pub fn fact(&self, id: &str) -> Option<Fact> {
        self.facts.get(id).copied()
    }

    /// Why nothing shows it, if so: unknown is then the only honest answer, though not a wrong one if it is guessed.
    #[must_use]
    pub fn hidden(&self, id: &str) -> Option<&'static str> {
        self.hidden.get(id).copied()
    }

    /// Every fact, with the reason if it is hidden, in the order of the ids.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, Fact, Option<&'static str>)> {
        self.facts.iter().map(|(id, fact)| (*id, *fact, self.hidden(id)))
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self {
            Self::Bytes { low, high } if low == high => low.to_string(),
            Self::Bytes { low, high } => format!("{low} to {high}"),
            Self::Count(count) => count.to_string(),
            Self::OneOf(words) => words.join(" or "),
            Self::Number(number) => format!("{number:.4e}"),
            Self::Nothing => "nothing".to_owned(),
        };
        formatter.pad(&text)
    }
}
