//! Why a profile cannot be used.

/// A profile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile has this name.
    #[error(
        "there is no profile '{}'{}; the built-in ones are {known}; a path to a .toml file works too",
        name.escape_debug(), meant(*similar)
    )]
    Unknown {
        /// The name that was given.
        name: String,
        /// The built-in profile with the most similar name, if one is similar.
        similar: Option<&'static str>,
        /// The names of the built-in profiles, joined with commas.
        known: String,
    },
    /// The text is not TOML, or has a key missing, unknown or of the wrong type.
    #[error("the profile cannot be read: {0}")]
    Syntax(String),
    /// A profile that TOML cannot express.
    #[error("the profile cannot be written as TOML: {0}")]
    Unwritable(String),
    /// A value that no stick can have, or that this model cannot simulate.
    #[error("{key} = {value} is impossible: {allowed}")]
    Impossible {
        /// The key, as a path.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
}

fn meant(similar: Option<&str>) -> String {
    similar.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}
