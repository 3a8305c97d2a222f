//! The flash translation layer: where data goes, and what must be copied for it. One file or folder a policy.

mod audit;
mod hybrid_log;
mod inconsistency;
mod layer;
mod log_structured;
mod mapped;
mod open_blocks;
mod page_mapped;
mod registry;

pub(crate) use audit::audit_contents;
pub use inconsistency::Inconsistency;
pub(crate) use layer::{Placement, TranslationLayer};
pub(crate) use registry::translation_layer;
