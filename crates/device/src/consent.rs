//! Permission to write, as a value.

/// A person's permission to erase one target. Opening anything for writing asks for one.
///
/// Only the binary's confirm step makes it (`cargo xtask ci` refuses any other place that calls [`Consent::to_erase`]),
/// and it names the target it was given for, so that it cannot be used for another.
#[derive(Debug, PartialEq, Eq)]
pub struct Consent {
    target: String,
}

impl Consent {
    /// The permission to erase `target`, given as it was shown to the person.
    #[must_use]
    pub fn to_erase(target: impl Into<String>) -> Self {
        Self { target: target.into() }
    }

    /// The target this permission is for.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }
}
