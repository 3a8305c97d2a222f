//! Random sticks inside the space of hypotheses: a profile as TOML, drawn group by group, and what is true of it.
//!
//! The figures follow what was published of real sticks (`docs/simulator.md`, `docs/statistics.md`), drawn wider than that:
//! the aim is every stick that could be, not the average one.

mod caches;
mod fill;
mod geometry;
mod link;
mod policy;
mod timing;
mod truths;
mod write_unit;

use std::fmt::Write as _;

use flashscope_device::{Bytes, DeviceError};
use flashscope_sim::{Profile, ProfileError};

use crate::draw::Draw;
use crate::history::History;
use crate::mishap::Mishap;
use crate::truth::Truth;
use geometry::Geometry;
use policy::Policy;
use timing::Timing;

/// A random stick.
#[derive(Debug, Clone)]
pub(crate) struct Stick {
    pub(crate) profile: Profile,
    pub(crate) toml: String,
    pub(crate) truth: Truth,
}

impl Stick {
    /// The same, with what is true of it after it was filled, once all that it has been through and that befalls it is known.
    pub(crate) fn filled(
        mut self,
        history: History,
        mishap: &Mishap,
        seed: u64,
    ) -> Result<Self, DeviceError> {
        fill::tell(&mut self.truth, &self.profile, history, mishap.mean_factor(), seed)?;
        if self.profile.slc_cache.is_some() && history != History::Untouched {
            // It was measured with an empty cache, and what is left of that the history says.
            self.truth.leave_open("write_unit_bytes");
        }
        Ok(self)
    }

    /// Draws one. An error would be a mistake in this crate: every drawn profile is meant to be possible.
    pub(crate) fn draw(draw: &mut Draw) -> Result<Self, ProfileError> {
        let mut geometry = Geometry::draw(draw);
        let link = link::toml(geometry.age, draw);
        let timing = Timing::draw(&geometry, draw);
        let policy = Policy::draw(&mut geometry, timing.page_program, draw);
        let timing = if policy.maps_small_writes_alike() { timing.without_small_writes() } else { timing };
        let caches = caches::toml(&geometry, timing.page_program, draw);
        let head = head(&geometry, state(draw));
        let toml = [head, link, timing.toml(), caches, geometry.toml(), policy.toml()].concat();
        let profile = Profile::parse(&toml)?;
        let truth = truths::of(&profile);
        Ok(Self { profile, toml, truth })
    }
}

/// What the stick holds when it is made; a part of it may be written on top.
fn state(draw: &mut Draw) -> &'static str {
    draw.weighted(&[(0.55, "new"), (0.25, "full"), (0.12, "steady"), (0.08, "trimmed")])
}

fn head(geometry: &Geometry, state: &str) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "name = \"zoo\"");
    let _ = writeln!(text, "description = \"a random stick: {}\"", geometry.age.words());
    let _ = writeln!(text, "capacity = {}", size(geometry.capacity));
    let _ = writeln!(text, "state = \"{state}\"");
    text
}

/// A size as TOML has it: with a unit where that is exact, so that people can read it.
fn size(bytes: Bytes) -> String {
    let text = bytes.to_string();
    if text.parse() == Ok(bytes) { format!("\"{}\"", text.replace(' ', "")) } else { bytes.get().to_string() }
}
