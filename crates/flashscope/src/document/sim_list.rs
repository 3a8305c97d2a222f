//! The document of `sim list`.

use flashscope_sim::Profile;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// The built-in profiles of virtual sticks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SimListDocument {
    /// The profiles.
    pub profiles: Vec<ProfileDocument>,
}

/// A profile.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileDocument {
    /// Its name, as in `sim:NAME`.
    pub name: String,
    /// What it describes.
    pub description: String,
    /// The capacity of the stick.
    pub capacity_bytes: u64,
}

impl Body for SimListDocument {
    const NAME: &'static str = "sim-list";
    const COMMANDS: &'static str = "sim list";
}

impl From<&[Profile]> for SimListDocument {
    fn from(profiles: &[Profile]) -> Self {
        Self { profiles: profiles.iter().map(ProfileDocument::from).collect() }
    }
}

impl From<&Profile> for ProfileDocument {
    fn from(profile: &Profile) -> Self {
        Self {
            name: profile.name.clone(),
            description: profile.description.clone(),
            capacity_bytes: profile.capacity.get(),
        }
    }
}
