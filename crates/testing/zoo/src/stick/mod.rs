//! Random sticks inside the hypothesis space: a profile, drawn section by section, and what is true of it.
//!
//! The ranges follow published figures of real sticks (`docs/simulator.md`, `docs/statistics.md`) but are
//! wider: the aim is every possible stick, not the average one.

mod caches;
mod era;
mod fill;
mod geometry;
mod link;
mod policy;
mod timing;
mod truth;
mod write_unit;

use flashscope_device::DeviceError;
use flashscope_sim::profile::State;
use flashscope_sim::{Profile, ProfileError};

use crate::disturbance::Disturbance;
use crate::draw::Draw;
use crate::history::History;
use crate::truth::Truth;
use geometry::Geometry;
use timing::Timing;

/// A random stick.
#[derive(Debug, Clone)]
pub(crate) struct Stick {
    pub(crate) profile: Profile,
    pub(crate) truth: Truth,
}

impl Stick {
    /// Adds the truth about filling the stick, once its history and its disturbance are known.
    pub(crate) fn with_fill_truth(
        mut self,
        history: History,
        disturbance: &Disturbance,
        seed: u64,
    ) -> Result<Self, DeviceError> {
        fill::add_truth(&mut self.truth, &self.profile, history, disturbance.mean_factor(), seed)?;
        if self.profile.slc_cache.is_some() && history != History::Untouched {
            // The truth was measured with an empty cache. How much of it is left depends on the history.
            self.truth.remove("write_unit_bytes");
        }
        Ok(self)
    }

    /// Draws a stick. An error is a bug of this crate: every drawn profile must be possible.
    pub(crate) fn sample(draw: &mut Draw) -> Result<Self, ProfileError> {
        let profile = profile(draw)?;
        let truth = truth(&profile);
        Ok(Self { profile, truth })
    }
}

/// What is true of a stick with this profile.
pub(crate) fn truth(profile: &Profile) -> Truth {
    truth::of(profile)
}

/// Draws a profile.
pub(crate) fn profile(draw: &mut Draw) -> Result<Profile, ProfileError> {
    let mut geometry = Geometry::sample(draw);
    let link = link::sample(geometry.era, draw);
    let timing = Timing::sample(&geometry, draw);
    let policy = policy::sample(&mut geometry, timing.page_program_us, draw);
    let small_writes = timing.small_writes.filter(|_| policy::allows_small_write_path(&policy));
    let caches = caches::sample(&geometry, timing.page_program_us, draw);
    let profile = Profile {
        name: "zoo".to_owned(),
        description: format!("a random stick: {}", geometry.era.as_str()),
        capacity: geometry.capacity,
        fault: Vec::new(),
        source: Vec::new(),
        link,
        read: timing.read,
        write: timing.write,
        small_writes,
        ftl: geometry.ftl(),
        policy,
        state: state(draw),
        slc_cache: caches.slc_cache,
        write_buffer: caches.write_buffer,
        states: None,
        background: caches.background,
        region: Vec::new(),
        wear: None,
        thermal: None,
        noise: timing.noise,
    };
    profile.check()?;
    Ok(profile)
}

/// The preconditioning state; a write history may follow.
fn state(draw: &mut Draw) -> State {
    draw.weighted(&[(0.55, State::New), (0.25, State::Full), (0.12, State::Steady), (0.08, State::Trimmed)])
}
