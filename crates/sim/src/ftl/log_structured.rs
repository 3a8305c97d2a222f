//! The log-structured policy: a mapped layer with several append points, and units of one or more pages.

use super::mapped::{Layout, Mapped};
use crate::arithmetic::nanoseconds;
use crate::profile::{LogStructured, Profile};
use crate::rng::StreamRng;

pub(super) fn log_structured(profile: &Profile, policy: &LogStructured, rng: StreamRng) -> Mapped {
    let unit = policy.unit.unwrap_or(profile.ftl.page);
    let layout = Layout {
        separates_copies: true,
        copy_page_ns: nanoseconds(policy.copy_page_us),
        erase_ns: nanoseconds(policy.erase_us),
        ..Layout::new(profile, unit, policy.streams as usize)
    };
    Mapped::new(layout.with_spare(policy.over_provisioning, policy.background_share), profile.state, rng)
}
