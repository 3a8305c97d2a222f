//! All translation layers: a new one is a file beside this one, its section of the profile, and one line
//! here.

use super::hybrid_log::HybridLog;
use super::layer::TranslationLayer;
use super::log_structured::log_structured;
use super::open_blocks::OpenBlocks;
use super::page_mapped::page_mapped;
use crate::profile::{Policy, Profile};
use crate::rng::StreamRng;

/// The translation layer of a profile.
pub(crate) fn translation_layer(profile: &Profile, rng: StreamRng) -> Box<dyn TranslationLayer> {
    match &profile.policy {
        Policy::OpenBlocks(policy) => Box::new(OpenBlocks::new(&profile.ftl, policy, rng)),
        Policy::HybridLog(policy) => Box::new(HybridLog::new(profile, policy, rng)),
        Policy::LogStructured(policy) => Box::new(log_structured(profile, policy, rng)),
        Policy::PageMapped(policy) => Box::new(page_mapped(profile, policy, rng)),
    }
}
