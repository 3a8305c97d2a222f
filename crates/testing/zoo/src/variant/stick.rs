//! One variant: its stick, its law, and what is true of it.

use flashscope_device::Device;
use flashscope_sim::{Profile, VirtualStick};

use super::base;
use super::delayed::{Delay, Delayed};
use crate::truth::Truth;

/// A stick with a law that the inference does not contain.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    /// What is true of it.
    pub(crate) truth: Truth,
    /// The stick without the law's delays. With `merges_delayed` its merges are part of the delay.
    profile: Profile,
    merges_delayed: bool,
    delay: Option<Box<dyn Delay>>,
}

impl Variant {
    /// A stick whose law is part of its profile.
    pub(super) const fn of_profile(profile: Profile, truth: Truth) -> Self {
        Self { truth, profile, merges_delayed: false, delay: None }
    }

    /// A stick with its own merges, and a delay.
    pub(super) fn with_delay(profile: Profile, truth: Truth, delay: impl Delay) -> Self {
        Self { truth, profile, merges_delayed: false, delay: Some(Box::new(delay)) }
    }

    /// A stick whose merges take time only as a delay.
    pub(super) fn with_delayed_merges(profile: Profile, truth: Truth, delay: impl Delay) -> Self {
        Self { truth, profile, merges_delayed: true, delay: Some(Box::new(delay)) }
    }

    /// A new device.
    pub(crate) fn device(&self, seed: u64) -> Box<dyn Device + Send> {
        let profile =
            if self.merges_delayed { base::without_merges(&self.profile) } else { self.profile.clone() };
        let stick = VirtualStick::new(&profile, seed);
        match &self.delay {
            Some(delay) => Box::new(Delayed::new(stick, delay.clone())),
            None => Box::new(stick),
        }
    }

    /// The profile of its stick, and the law's parameters.
    pub(crate) fn parts(&self) -> (&Profile, String) {
        (&self.profile, self.delay.as_ref().map_or_else(String::new, |delay| delay.describe()))
    }
}
