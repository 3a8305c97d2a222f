//! Disturbances of a measurement: distorted times, failing requests, a device that vanishes.

use std::time::Duration;

use flashscope_device::layer::fault::{CutSpec, DyingSpec, ErrorSpec, FaultSpec, Faulty, Survivors, Trigger};
use flashscope_device::{Bytes, Device};

use crate::distorted_clock::{DistortedClock, Distortion};
use crate::draw::Draw;
use crate::error::ZooError;
use crate::outside::OutsideKind;
use crate::scope::Scope;

/// The share of sticks with drifting times: a busy host, or changing temperature. A guess.
const DRIFTING_SHARE: f64 = 0.15;

/// A disturbance of a device.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Disturbance {
    distortion: Option<Distortion>,
    fault: Option<FaultSpec>,
}

impl Disturbance {
    /// No disturbance.
    pub(crate) const NONE: Self = Self { distortion: None, fault: None };

    pub(crate) fn sample(scope: Scope, draw: &mut Draw) -> Self {
        Self { distortion: distortion(scope, draw), fault: fault(scope, draw) }
    }

    /// The device with this disturbance.
    pub(crate) fn inject(
        &self,
        mut device: Box<dyn Device + Send>,
        seed: u64,
    ) -> Result<Box<dyn Device + Send>, ZooError> {
        if let Some(distortion) = self.distortion {
            device = Box::new(DistortedClock::new(device, distortion));
        }
        if let Some(fault) = &self.fault {
            device = Box::new(Faulty::new(device, std::slice::from_ref(fault), seed)?);
        }
        Ok(device)
    }

    /// The mean factor on the duration of a long sequence of requests.
    pub(crate) fn mean_factor(&self) -> f64 {
        match self.distortion {
            // The mean speed over a period is the mean of 1 / (1 + share (1 - cos) / 2).
            Some(Distortion::Periodic { share, .. }) => (1.0 + share).sqrt(),
            _ => 1.0,
        }
    }

    /// A description of one line for each part.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let distortion = self.distortion.map(|distortion| format!("distorted times: {distortion}"));
        distortion.into_iter().chain(self.fault.as_ref().map(|fault| format!("fault {fault}")))
    }
}

fn distortion(scope: Scope, draw: &mut Draw) -> Option<Distortion> {
    match scope {
        Scope::Inside if draw.bernoulli(DRIFTING_SHARE) => {
            let share = draw.uniform(0.03, 0.3);
            Some(Distortion::Periodic { share, period_s: draw.log_uniform(0.5, 60.0) })
        }
        Scope::Outside(OutsideKind::Slowing) => {
            Some(Distortion::Slowing { per_request: draw.log_uniform(1e-3, 3e-2) })
        }
        Scope::Outside(OutsideKind::StoppedClock) => Some(Distortion::Stopped),
        _ => None,
    }
}

fn fault(scope: Scope, draw: &mut Draw) -> Option<FaultSpec> {
    match scope {
        Scope::Outside(OutsideKind::Erring) => {
            let spec = ErrorSpec { share: draw.log_uniform(0.01, 0.9), range: None };
            let is_of_reads = draw.bernoulli(0.5);
            Some(if is_of_reads { FaultSpec::ReadErrors(spec) } else { FaultSpec::WriteErrors(spec) })
        }
        Scope::Outside(OutsideKind::Vanishing) => {
            let trigger = Trigger::Requests(draw.log_uniform_integer(20.0, 4000.0));
            Some(FaultSpec::Unplug(CutSpec { trigger, cache: Bytes::ZERO, survivors: Survivors::None }))
        }
        Scope::Outside(OutsideKind::Dying) => Some(FaultSpec::Dying(DyingSpec {
            after: Bytes::mib(draw.log_uniform_integer(1.0, 32.0)),
            over: Bytes::mib(draw.log_uniform_integer(8.0, 256.0)),
            errors: draw.uniform(0.0, 0.5),
            delay: Duration::from_secs_f64(draw.log_uniform(1e-3, 0.3)),
        })),
        _ => None,
    }
}
