//! The document of `sim show`.

use flashscope_sim::Profile;
use flashscope_sim::profile::Basis;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// A profile of a virtual stick, and what an ideal measurement of it would find.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SimShowDocument {
    /// Its name.
    pub name: String,
    /// What it describes.
    pub description: String,
    /// The true values.
    pub truth: TruthDocument,
    /// Where the numbers of each group come from.
    pub basis: Vec<BasisDocument>,
    /// The profile as TOML.
    pub profile: String,
}

/// The true values of a virtual stick.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TruthDocument {
    /// The erase block.
    pub erase_block_bytes: u64,
    /// The effective page.
    pub page_bytes: u64,
    /// How many erase blocks can be open under sequential writes; null without a limit.
    pub open_units_linear: Option<u32>,
    /// How many erase blocks can be open under random writes; 0 if each random write causes a merge, null
    /// without a limit.
    pub open_units_random: Option<u32>,
    /// The page-mapped FAT area at the start; 0 without one.
    pub fat_area_bytes: u64,
}

/// Where the numbers of a group come from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BasisDocument {
    /// The group of numbers in the profile.
    pub group: &'static str,
    /// `measured`, `fitted` or `assumed`.
    pub basis: &'static str,
}

impl Body for SimShowDocument {
    const NAME: &'static str = "sim-show";
    const COMMANDS: &'static str = "sim show";
}

impl SimShowDocument {
    /// The document of a profile and its text.
    pub fn new(profile: &Profile, toml: String) -> Self {
        let truth = profile.truth();
        let basis = |(group, basis): (&'static str, Basis)| BasisDocument { group, basis: basis.as_str() };
        Self {
            name: profile.name.clone(),
            description: profile.description.clone(),
            truth: TruthDocument {
                erase_block_bytes: truth.erase_block.get(),
                page_bytes: truth.page.get(),
                open_units_linear: truth.open_units_linear,
                open_units_random: truth.open_units_random,
                fat_area_bytes: truth.fat_area.get(),
            },
            basis: profile.bases().into_iter().map(basis).collect(),
            profile: toml,
        }
    }
}
