//! FIFO eviction: the block opened first is merged, even if it was written last.

use flashscope_sim::ProfileError;
use flashscope_sim::profile::Victim;

use super::base;
use super::stick::Variant;
use crate::draw::Draw;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let mut profile = base::open_blocks(draw, |_, _| true)?;
    if let Some(policy) = base::policy_mut(&mut profile) {
        policy.victim = Victim::Fifo;
    }
    let truth = base::truth(&profile);
    Ok(Variant::of_profile(profile, truth))
}
