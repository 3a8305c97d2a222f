//! A person's permission to erase a target, as a value.

/// A person's permission to erase one target. Opening a real device for writing requires one.
///
/// Only the binary's confirm step makes a consent; `cargo xtask tidy` reports any other call of
/// [`Consent::to_erase`]. A consent names its target, so that it cannot be used for another one.
#[derive(Debug, PartialEq, Eq)]
pub struct Consent {
    target: String,
    medium: Option<String>,
    includes_other_files: bool,
    puts_data_back: bool,
}

impl Consent {
    /// The permission to erase `target`, named as the person saw it.
    #[must_use]
    pub fn to_erase(target: impl Into<String>) -> Self {
        Self { target: target.into(), medium: None, includes_other_files: false, puts_data_back: false }
    }

    /// The same, limited to the medium that is in the drive while the person is asked.
    #[must_use]
    pub fn of_medium(self, medium: impl Into<String>) -> Self {
        Self { medium: Some(medium.into()), ..self }
    }

    /// The same, also for a file that looks like no image of a stick.
    #[must_use]
    pub fn including_other_files(self) -> Self {
        Self { includes_other_files: true, ..self }
    }

    /// Whether a file may be erased that looks like no image of a stick.
    #[must_use]
    pub const fn includes_other_files(&self) -> bool {
        self.includes_other_files
    }

    /// The same, where all data is put back at the end.
    #[must_use]
    pub fn and_put_data_back(self) -> Self {
        Self { puts_data_back: true, ..self }
    }

    /// Whether the data on the target is lost.
    #[must_use]
    pub const fn loses_data(&self) -> bool {
        !self.puts_data_back
    }

    /// The target this permission is for.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The identity of that medium. The device name alone does not identify it: another card can get the same
    /// name.
    #[must_use]
    pub fn medium(&self) -> Option<&str> {
        self.medium.as_deref()
    }
}
