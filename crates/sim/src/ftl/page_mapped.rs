//! The page-mapped policy: a mapped layer with units of one page and one append point.

use super::mapped::{Layout, Mapped};
use crate::arithmetic::nanoseconds;
use crate::profile::{PageMapped, Profile};
use crate::rng::StreamRng;

pub(super) fn page_mapped(profile: &Profile, policy: &PageMapped, rng: StreamRng) -> Mapped {
    let layout = Layout {
        separates_copies: policy.hot_cold,
        victim: policy.victim,
        copy_page_ns: nanoseconds(policy.copy_page_us),
        erase_ns: nanoseconds(policy.erase_us),
        ..Layout::new(profile, profile.ftl.page, 1)
    };
    Mapped::new(layout.with_spare(policy.over_provisioning, policy.background_share), profile.state, rng)
}
