//! A permission that no person gave, for tests.

use flashscope_device::Consent;

/// A permission that no person gave.
#[derive(Debug)]
pub struct Agreed {
    /// The target.
    pub target: String,
    /// Its medium.
    pub medium: Option<String>,
    /// Whether it includes a file that looks like no image of a stick.
    pub includes_other_files: bool,
}

impl Agreed {
    /// The permission to erase `target`.
    pub fn to_erase(target: impl Into<String>) -> Self {
        Self { target: target.into(), medium: None, includes_other_files: false }
    }

    /// The same, limited to this medium.
    pub fn of_medium(self, medium: impl Into<String>) -> Self {
        Self { medium: Some(medium.into()), ..self }
    }
}

impl Consent for Agreed {
    fn target(&self) -> &str {
        &self.target
    }

    fn medium(&self) -> Option<&str> {
        self.medium.as_deref()
    }

    fn includes_other_files(&self) -> bool {
        self.includes_other_files
    }
}
