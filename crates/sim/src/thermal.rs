//! Thermal throttling: sustained work slows a stick down until it has cooled.

use flashscope_device::Bytes;

use crate::profile::{self, Profile};

/// Heat that grows with each byte and decays exponentially.
#[derive(Debug, Clone)]
pub(crate) struct Thermal {
    parameters: profile::Thermal,
    heat_bytes: f64,
    since_ns: u64,
    hot: bool,
    hot_commands: u64,
}

impl Thermal {
    pub(crate) fn new(profile: &Profile) -> Option<Self> {
        let parameters = profile.thermal.clone()?;
        Some(Self { parameters, heat_bytes: 0.0, since_ns: 0, hot: false, hot_commands: 0 })
    }

    /// The factor on the time of a read that arrives at `at_ns`.
    pub(crate) fn read(&mut self, at_ns: u64, bytes: u64) -> f64 {
        self.command(at_ns, bytes, self.parameters.read_share)
    }

    /// The factor on the time of a write that arrives at `at_ns`.
    pub(crate) fn write(&mut self, at_ns: u64, bytes: u64) -> f64 {
        self.command(at_ns, bytes, 1.0)
    }

    /// Commands served while throttled.
    pub(crate) const fn hot_commands(&self) -> u64 {
        self.hot_commands
    }

    fn command(&mut self, at_ns: u64, bytes: u64, share: f64) -> f64 {
        self.cool_until(at_ns);
        let factor = if self.hot { 1.0 / self.parameters.speed_factor } else { 1.0 };
        self.hot_commands += u64::from(self.hot);
        self.heat_bytes += Bytes::new(bytes).as_f64() * share;
        self.hot |= self.heat_bytes >= self.parameters.limit.as_f64();
        factor
    }

    fn cool_until(&mut self, at_ns: u64) {
        let seconds = Bytes::new(at_ns.saturating_sub(self.since_ns)).as_f64() / 1e9;
        self.heat_bytes *= (-seconds / self.parameters.time_constant_s).exp();
        self.since_ns = self.since_ns.max(at_ns);
        self.hot &= self.heat_bytes > self.parameters.resume.as_f64();
    }
}
