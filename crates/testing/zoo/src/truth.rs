//! What is true of a specimen, finding by finding, and whether a measurement can show it.

use std::collections::BTreeMap;

use flashscope_device::Bytes;

/// One true value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fact {
    /// A size. Every size from `low` to `high` is right; both are equal if the definition is exact.
    Bytes {
        /// The smallest right answer.
        low: Bytes,
        /// The largest right answer.
        high: Bytes,
    },
    /// A number of erase blocks.
    Count(u32),
    /// One of two numbers of erase blocks, both right: the number depends on the requests.
    CountOf([u32; 2]),
    /// A class, or yes or no, as in JSON. Several if a host cannot distinguish them.
    OneOf(&'static [&'static str]),
    /// A rate or a time, in the unit of the finding.
    Number(f64),
    /// The property does not exist: every value is wrong.
    Absent,
}

/// What is true of a specimen, by the JSON id of the finding.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Truth {
    facts: BTreeMap<&'static str, Fact>,
    hidden: BTreeMap<&'static str, &'static str>,
}

impl Truth {
    /// The truth of a specimen without these properties.
    #[must_use]
    pub(crate) fn absent(ids: &[&'static str]) -> Self {
        Self { facts: ids.iter().map(|id| (*id, Fact::Absent)).collect(), hidden: BTreeMap::new() }
    }

    pub(crate) fn set(&mut self, id: &'static str, fact: Fact) {
        self.facts.insert(id, fact);
    }

    pub(crate) fn bytes(&mut self, id: &'static str, bytes: Bytes) {
        self.set(id, Fact::Bytes { low: bytes, high: bytes });
    }

    /// Removes a fact that is not known.
    pub(crate) fn remove(&mut self, id: &'static str) {
        self.facts.remove(id);
    }

    /// Marks a fact as hidden: no measurement from outside can show it, for this reason. Absent facts are
    /// never hidden.
    pub(crate) fn hide(&mut self, id: &'static str, reason: &'static str) {
        if self.fact(id).is_some_and(|fact| fact != Fact::Absent) {
            self.hidden.insert(id, reason);
        }
    }

    /// The true value of this finding; `None` if it is not judged.
    #[must_use]
    pub fn fact(&self, id: &str) -> Option<Fact> {
        self.facts.get(id).copied()
    }

    /// Why the fact is hidden, if it is. The right answer is then unknown; a correct guess is not an error.
    #[must_use]
    pub fn hidden(&self, id: &str) -> Option<&'static str> {
        self.hidden.get(id).copied()
    }

    /// Every fact, with the reason if it is hidden, sorted by id.
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
            Self::CountOf([one, other]) => format!("{one} or {other}"),
            Self::OneOf(words) => words.join(" or "),
            Self::Number(number) => format!("{number:.4e}"),
            Self::Absent => "absent".to_owned(),
        };
        formatter.pad(&text)
    }
}
