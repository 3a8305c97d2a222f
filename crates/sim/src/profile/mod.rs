//! What a stick is made of: every number of the model, with where it came from.

mod builtin;
mod check;
mod groups;
mod quantity;
mod truth;

use flashscope_device::Bytes;
use serde::Deserialize;

pub use groups::{Basis, Boundary, Ftl, Link, Noise, ReadPath, SmallWrites, Source, Victim, WritePath};
pub use truth::{Class, Truth};

/// Everything that makes one model of stick, as its TOML file has it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name: small letters, digits and hyphens.
    pub name: String,
    /// What it is, in one line.
    pub description: String,
    /// How many bytes it claims to hold, and holds.
    #[serde(deserialize_with = "quantity::bytes")]
    pub capacity: Bytes,
    /// Where its numbers come from.
    #[serde(default)]
    pub source: Vec<Source>,
    /// The way from the host to the controller.
    pub link: Link,
    /// How reads take their time.
    pub read: ReadPath,
    /// How writes take their time when nothing has to be copied.
    pub write: WritePath,
    /// The separate path of small writes, where the controller has one.
    pub small_writes: Option<SmallWrites>,
    /// The flash translation layer.
    pub ftl: Ftl,
    /// What makes two equal requests differ.
    pub noise: Noise,
}

/// A profile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile has this name.
    #[error("there is no profile '{}'; the built-in ones are {known}; a path to a .toml file works too", name.escape_debug())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are, joined with commas.
        known: String,
    },
    /// The text is not TOML, or has a key missing, unknown or of the wrong type.
    #[error("the profile cannot be read: {0}")]
    Syntax(String),
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

impl Profile {
    /// Reads a profile's TOML and checks that a stick can be made of it.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`] with line and key, or [`ProfileError::Impossible`] with key, value and what is allowed.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self =
            toml::from_str(text).map_err(|error| ProfileError::Syntax(printable(&error.to_string())))?;
        profile.check()?;
        Ok(profile)
    }

    /// The built-in profile of this name.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] with the names there are.
    pub fn builtin(name: &str) -> Result<Self, ProfileError> {
        Self::parse(Self::text(name)?)
    }

    /// The TOML text of the built-in profile of this name, as `sim show` prints it.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] with the names there are.
    pub fn text(name: &str) -> Result<&'static str, ProfileError> {
        builtin::text(name).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            known: Self::builtin_names().collect::<Vec<_>>().join(", "),
        })
    }

    /// The names of the built-in profiles, in order.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        builtin::NAMES.iter().copied()
    }

    /// What is true of this stick, for tests of what was inferred.
    #[must_use]
    pub fn truth(&self) -> Truth {
        Truth::of(self)
    }
}

/// A message that quotes a file, without the control characters that may be in it.
fn printable(message: &str) -> String {
    let kept = |c: char| c == '\n' || !c.is_control();
    message.trim_end().chars().map(|c| if kept(c) { c } else { '\u{fffd}' }).collect()
}
