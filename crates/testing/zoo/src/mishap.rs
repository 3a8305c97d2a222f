//! What goes wrong while a device is measured: its times drift or stand still, requests fail, it vanishes.

use std::time::Duration;

use flashscope_device::layer::fault::{CutSpec, DyingSpec, ErrorSpec, FaultSpec, Faulty, Survivors, Trigger};
use flashscope_device::{Bytes, Device};

use crate::draw::Draw;
use crate::error::ZooError;
use crate::outside::Kind;
use crate::specimen::Habitat;
use crate::warped::{Warp, Warped};

/// This share of the sticks is measured on a machine, or at a temperature, that makes times drift.
const DRIFTING_SHARE: f64 = 0.15;

/// What goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mishap {
    warp: Option<Warp>,
    fault: Option<FaultSpec>,
}

impl Mishap {
    pub(crate) fn draw(habitat: Habitat, draw: &mut Draw) -> Self {
        Self { warp: warp(habitat, draw), fault: fault(habitat, draw) }
    }

    /// The device with it.
    pub(crate) fn befall(
        &self,
        mut device: Box<dyn Device + Send>,
        seed: u64,
    ) -> Result<Box<dyn Device + Send>, ZooError> {
        if let Some(warp) = self.warp {
            device = Box::new(Warped::new(device, warp));
        }
        if let Some(fault) = &self.fault {
            device = Box::new(Faulty::new(device, std::slice::from_ref(fault), seed)?);
        }
        Ok(device)
    }

    /// How much longer a long row of requests takes on the average.
    pub(crate) fn mean_factor(&self) -> f64 {
        match self.warp {
            // The mean speed over a wave is the mean of 1 / (1 + share (1 - cos) / 2).
            Some(Warp::Waves { share, .. }) => (1.0 + share).sqrt(),
            _ => 1.0,
        }
    }

    /// In words, a line each.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let warp = self.warp.map(|warp| format!("times are bent: {}", warp.words()));
        warp.into_iter().chain(self.fault.as_ref().map(|fault| format!("fault {fault}")))
    }
}

fn warp(habitat: Habitat, draw: &mut Draw) -> Option<Warp> {
    match habitat {
        Habitat::Inside if draw.chance(DRIFTING_SHARE) => {
            let share = draw.between(0.03, 0.3);
            Some(Warp::Waves { share, period_s: draw.log_between(0.5, 60.0) })
        }
        Habitat::Outside(Kind::Slowing) => Some(Warp::Slowing { per_request: draw.log_between(1e-3, 3e-2) }),
        Habitat::Outside(Kind::StoppedClock) => Some(Warp::Stopped),
        _ => None,
    }
}

fn fault(habitat: Habitat, draw: &mut Draw) -> Option<FaultSpec> {
    match habitat {
        Habitat::Outside(Kind::Erring) => {
            let spec = ErrorSpec { share: draw.log_between(0.01, 0.9), range: None };
            let of_reads = draw.chance(0.5);
            Some(if of_reads { FaultSpec::ReadErrors(spec) } else { FaultSpec::WriteErrors(spec) })
        }
        Habitat::Outside(Kind::Vanishing) => {
            let requests = Trigger::Requests(draw.log_whole(20.0, 4000.0));
            Some(FaultSpec::Unplug(CutSpec {
                trigger: requests,
                cache: Bytes::ZERO,
                survivors: Survivors::None,
            }))
        }
        Habitat::Outside(Kind::Dying) => Some(FaultSpec::Dying(DyingSpec {
            after: Bytes::mib(draw.log_whole(1.0, 32.0)),
            over: Bytes::mib(draw.log_whole(8.0, 256.0)),
            errors: draw.between(0.0, 0.5),
            delay: Duration::from_secs_f64(draw.log_between(1e-3, 0.3)),
        })),
        _ => None,
    }
}
