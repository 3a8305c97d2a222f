//! Permission to write, as a value.

/// A person's permission to erase one target. Opening anything for writing asks for one.
///
/// Only the binary's confirm step makes it (`cargo xtask ci` refuses any other place that calls [`Consent::to_erase`]),
/// and it names the target it was given for, so that it cannot be used for another.
#[derive(Debug, PartialEq, Eq)]
pub struct Consent {
    target: String,
    medium: Option<String>,
}

impl Consent {
    /// The permission to erase `target`, given as it was shown to the person.
    #[must_use]
    pub fn to_erase(target: impl Into<String>) -> Self {
        Self { target: target.into(), medium: None }
    }

    /// The same, for the medium alone that is in there while the person is asked.
    #[must_use]
    pub fn of_medium(self, medium: impl Into<String>) -> Self {
        Self { medium: Some(medium.into()), ..self }
    }

    /// The target this permission is for.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// What tells that medium from another one, if there can be another: sticks and cards come and go, and their names stay.
    #[must_use]
    pub fn medium(&self) -> Option<&str> {
        self.medium.as_deref()
    }
}
