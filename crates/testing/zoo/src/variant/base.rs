//! The sticks that variants start from: sticks of the zoo without caches.

use flashscope_sim::profile::{Curve, OpenBlocks, Policy, State};
use flashscope_sim::{Profile, ProfileError};

use crate::draw::Draw;
use crate::stick;
use crate::truth::Truth;

/// A stick with open blocks that fits `is_suitable`.
pub(super) fn open_blocks(
    draw: &mut Draw,
    is_suitable: impl Fn(&Profile, &OpenBlocks) -> bool,
) -> Result<Profile, ProfileError> {
    profile(draw, |profile| match &profile.policy {
        Policy::OpenBlocks(policy) => is_suitable(profile, policy),
        _ => false,
    })
}

/// A page-mapped stick that does not collect garbage from the first write on.
pub(super) fn page_mapped(draw: &mut Draw) -> Result<Profile, ProfileError> {
    profile(draw, |profile| matches!(profile.policy, Policy::PageMapped(_)) && profile.state != State::Steady)
}

/// Draws until a stick without caches fits.
fn profile(draw: &mut Draw, is_suitable: impl Fn(&Profile) -> bool) -> Result<Profile, ProfileError> {
    loop {
        let profile = stick::profile(draw)?;
        let has_cache = profile.slc_cache.is_some() || profile.write_buffer.is_some();
        if !has_cache && is_suitable(&profile) {
            return Ok(profile);
        }
    }
}

/// What is true of a stick without the law.
pub(super) fn truth(profile: &Profile) -> Truth {
    stick::truth(profile)
}

/// The parameters of its open blocks; `None` for another policy.
pub(super) fn policy_mut(profile: &mut Profile) -> Option<&mut OpenBlocks> {
    match &mut profile.policy {
        Policy::OpenBlocks(policy) => Some(policy),
        _ => None,
    }
}

/// The same stick with merges that take no time.
pub(super) fn without_merges(profile: &Profile) -> Profile {
    let mut free = profile.clone();
    if let Some(policy) = policy_mut(&mut free) {
        policy.merge_us = Curve::Constant(0.0);
        policy.random_merge_us = None;
    }
    free
}

/// The time of a merge of a whole erase block; 0 without open blocks.
pub(super) fn merge_s(profile: &Profile) -> f64 {
    match &profile.policy {
        Policy::OpenBlocks(policy) => policy.merge_us.last_us() * 1e-6,
        _ => 0.0,
    }
}

/// The time to copy one page in a merge.
pub(super) fn copy_page_s(profile: &Profile) -> f64 {
    merge_s(profile) * profile.ftl.page.as_f64() / profile.ftl.erase_block.as_f64()
}
