//! The survey of one specimen, reading only and in full, and what it cost.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Device;
use flashscope_device::layer::{Budget, Cost, Meter, ReadOnly};
use flashscope_probe::inference::infer_by;
use flashscope_probe::survey::Survey;
use flashscope_probe::{Event, Finding, Method, Observer};
use flashscope_zoo::{Specimen, ZooError};

use super::judge::Verdict;

/// What one survey found and cost.
#[derive(Debug)]
pub struct Surveyed {
    /// Every finding.
    pub findings: Vec<Finding>,
    /// What was asked of the device.
    pub cost: Cost,
    /// Requests by experiment.
    pub requests: BTreeMap<String, u64>,
}

/// Both surveys of a specimen.
#[derive(Debug)]
pub struct Measured {
    /// The specimen.
    pub specimen: Specimen,
    /// Reading only.
    pub read_only: Surveyed,
    /// With permission to write.
    pub full: Surveyed,
}

impl Measured {
    /// Surveys a specimen twice, each time on a fresh device.
    pub fn of(specimen: Specimen, method: Method) -> Result<Self, ZooError> {
        let read_only = survey(&specimen, &mut ReadOnly::new(specimen.device()?), false, method);
        let full = survey(&specimen, &mut specimen.device()?, true, method);
        Ok(Self { specimen, read_only, full })
    }
}

impl Surveyed {
    /// Every finding with what it turned out to be.
    pub fn judged<'a>(&'a self, specimen: &'a Specimen) -> impl Iterator<Item = (&'a Finding, Verdict)> {
        self.findings.iter().filter_map(|finding| Some((finding, Verdict::of(finding, &specimen.truth)?)))
    }
}

fn survey(specimen: &Specimen, device: &mut dyn Device, writes: bool, method: Method) -> Surveyed {
    let mut device = Meter::new(device, Budget::UNLIMITED);
    let mut counter = Counter::default();
    let seen = Survey { writes, seed: specimen.survey_seed, method }.run(&mut device, &mut counter);
    Surveyed { findings: infer_by(&seen, method), cost: device.cost(), requests: counter.requests }
}

/// Counts the requests of each experiment.
#[derive(Debug, Default)]
struct Counter {
    experiment: String,
    requests: BTreeMap<String, u64>,
}

impl Observer for Counter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { name, .. } => name.clone_into(&mut self.experiment),
            Event::Progress { requests, .. } => {
                self.requests.insert(self.experiment.clone(), requests);
            }
            Event::Remark { .. } | Event::End => {}
        }
    }
}

/// A cost's device time in seconds.
pub fn device_seconds(cost: &Cost) -> f64 {
    Duration::as_secs_f64(&cost.device_time)
}
