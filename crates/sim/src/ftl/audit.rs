//! Checks of a translation layer's invariants.

use flashscope_device::{ByteRange, Bytes};

use super::inconsistency::Inconsistency;
use super::layer::TranslationLayer;
use crate::profile::Profile;

/// An error with this message, unless the invariant `holds`.
pub(crate) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), Inconsistency> {
    if holds { Ok(()) } else { Err(Inconsistency(message())) }
}

/// Checks that the layer holds every page that is not blank.
pub(crate) fn audit_contents(
    layer: &dyn TranslationLayer,
    profile: &Profile,
    is_blank: impl Fn(ByteRange) -> bool,
) -> Result<(), Inconsistency> {
    let (page, capacity) = (profile.ftl.page, profile.capacity);
    for offset in (0..capacity.get()).step_by(page.to_usize()) {
        if layer.holds(offset) == Some(false) {
            let start = Bytes::new(offset);
            let range = ByteRange::new(start, page.min(capacity - start));
            ensure(is_blank(range), || format!("{range} has contents, but the layer holds no data for it"))?;
        }
    }
    Ok(())
}
