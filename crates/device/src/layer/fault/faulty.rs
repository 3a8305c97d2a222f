//! A device with a list of faults.

use super::counterfeit::Counterfeit;
use super::dying::Dying;
use super::error::FaultError;
use super::errors::Errors;
use super::log::FaultLog;
use super::power_cut::PowerCut;
use super::spec::FaultSpec;
use super::wrong_reads::WrongReads;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, Tag};
use crate::time::Instant;

/// A device with the faults of a list of [`FaultSpec`]s.
///
/// The layers have a fixed order. Closest to the device is a counterfeit, then power cuts and unplugging,
/// then errors and wrong reads, then wear-out. Faults of one kind keep the order of the list. A request that
/// one layer refuses does not reach the layers below it.
pub struct Faulty<'device> {
    device: Box<dyn Device + Send + 'device>,
    log: FaultLog,
}

impl std::fmt::Debug for Faulty<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Faulty").field("log", &self.log).finish_non_exhaustive()
    }
}

impl<'device> Faulty<'device> {
    /// `device` with these faults; `seed` determines every random draw.
    ///
    /// # Errors
    /// [`FaultError::Misfit`] if a counterfeit does not fit this device.
    pub fn new(
        device: impl Device + Send + 'device,
        faults: &[FaultSpec],
        seed: u64,
    ) -> Result<Self, FaultError> {
        let log = FaultLog::default();
        let mut ordered: Vec<(usize, &FaultSpec)> = faults.iter().enumerate().collect();
        ordered.sort_by_key(|(_, fault)| depth(fault));
        let mut device: Box<dyn Device + Send + 'device> = Box::new(device);
        for (index, fault) in ordered {
            device = wrapped(device, fault, seed.wrapping_add((index as u64).wrapping_mul(STREAM)), &log)?;
        }
        Ok(Self { device, log })
    }

    /// The log of this device. It can be kept while the device is lent out, and still receives events.
    #[must_use]
    pub fn log(&self) -> FaultLog {
        self.log.clone()
    }
}

/// The difference between the seeds of two faults: fractional digits of the golden ratio.
const STREAM: u64 = 0x9e37_79b9_7f4a_7c15;

const fn depth(fault: &FaultSpec) -> u8 {
    match fault {
        FaultSpec::Counterfeit(_) => 0,
        FaultSpec::PowerCut(_) | FaultSpec::Unplug(_) => 1,
        FaultSpec::ReadErrors(_) | FaultSpec::WriteErrors(_) | FaultSpec::WrongReads(_) => 2,
        FaultSpec::Dying(_) => 3,
    }
}

fn wrapped<'device>(
    device: Box<dyn Device + Send + 'device>,
    fault: &FaultSpec,
    seed: u64,
    log: &FaultLog,
) -> Result<Box<dyn Device + Send + 'device>, FaultError> {
    use crate::request::OpKind::{Read, Write};
    Ok(match *fault {
        FaultSpec::Counterfeit(spec) => Box::new(Counterfeit::new(device, &spec, seed)?),
        FaultSpec::ReadErrors(spec) => Box::new(Errors::new(device, Read, spec, seed)),
        FaultSpec::WriteErrors(spec) => Box::new(Errors::new(device, Write, spec, seed)),
        FaultSpec::WrongReads(spec) => Box::new(WrongReads::new(device, spec, seed)),
        FaultSpec::Unplug(spec) => Box::new(PowerCut::new(device, spec, false, log.clone(), seed)),
        FaultSpec::PowerCut(spec) => Box::new(PowerCut::new(device, spec, true, log.clone(), seed)),
        FaultSpec::Dying(spec) => Box::new(Dying::new(device, spec, seed)),
    })
}

impl Device for Faulty<'_> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.device.wait()
    }
}
