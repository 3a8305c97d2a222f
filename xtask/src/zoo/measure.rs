//! The surveys of one specimen: reading only, in full, and filling it; and what they cost.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Device;
use flashscope_device::layer::{Budget, Cost, Meter, ReadOnly};
use flashscope_infer::{Method, infer_by};
use flashscope_measure::survey::Survey;
use flashscope_measure::{Event, Observer};
use flashscope_record::attachment::Attachment;
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::Observations;
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_zoo::{Specimen, ZooError};

use super::judge::{Verdict, interval_holds};

/// What one survey found and cost.
#[derive(Debug)]
pub struct Surveyed {
    /// Every finding.
    pub findings: Vec<Finding>,
    /// What was asked of the device.
    pub cost: Cost,
    /// What each experiment asked for.
    pub asked: BTreeMap<String, Asked>,
}

/// What an experiment asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Requests.
    pub requests: u64,
    /// How many of them were writes.
    pub writes: u64,
}

/// What only filling a stick tells.
const OF_FILLING: [FindingId; 3] =
    [FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS, FindingId::WriteBufferBytes];

/// All surveys of a specimen.
#[derive(Debug)]
pub struct Measured {
    /// The specimen.
    pub specimen: Specimen,
    /// Reading only.
    pub read_only: Surveyed,
    /// With permission to write.
    pub full: Surveyed,
    /// Filling it, apart from the rest.
    pub fill: Surveyed,
}

impl Measured {
    /// Surveys a specimen three times, each time on a fresh device.
    pub fn of(specimen: Specimen, method: Method) -> Result<Self, ZooError> {
        let survey = |writes| Survey { writes, seed: specimen.survey_seed, method };
        let read_only = &mut ReadOnly::new(specimen.device()?);
        let mut read_only =
            surveyed(read_only, method, |device, observer| survey(false).run(device, observer));
        let full = &mut *specimen.device()?;
        let mut full = surveyed(full, method, |device, observer| survey(true).run(device, observer));
        let fill = &mut *specimen.device()?;
        let mut fill = surveyed(fill, method, |device, observer| survey(true).fill(device, observer));
        for each in [&mut read_only, &mut full] {
            each.findings.retain(|finding| !OF_FILLING.contains(&finding.id));
        }
        fill.findings.retain(|finding| OF_FILLING.contains(&finding.id));
        Ok(Self { specimen, read_only, full, fill })
    }
}

impl Measured {
    /// Every judged finding of the surveys that write.
    pub fn writing(&self) -> impl Iterator<Item = (&Finding, Verdict)> {
        self.full.judged(&self.specimen).chain(self.fill.judged(&self.specimen))
    }

    /// Of each interval that any survey gives, whether it holds the truth.
    pub fn intervals(&self) -> impl Iterator<Item = bool> {
        let surveys = [&self.read_only, &self.full, &self.fill];
        let findings = surveys.into_iter().flat_map(|survey| &survey.findings);
        findings.filter_map(|finding| interval_holds(finding, &self.specimen.truth))
    }

    /// Every judged finding of the survey that only reads.
    pub fn reading(&self) -> impl Iterator<Item = (&Finding, Verdict)> {
        self.read_only.judged(&self.specimen)
    }
}

impl Surveyed {
    /// Every finding with what it turned out to be.
    pub fn judged<'a>(&'a self, specimen: &'a Specimen) -> impl Iterator<Item = (&'a Finding, Verdict)> {
        self.findings.iter().filter_map(|finding| Some((finding, Verdict::of(finding, &specimen.truth)?)))
    }
}

/// Every observation of the survey in full.
pub fn run_file(specimen: &Specimen, method: Method) -> Result<RunFile, ZooError> {
    let device = &mut *specimen.device()?;
    let mut device = Meter::new(device, Budget::UNLIMITED);
    let survey = Survey { writes: true, seed: specimen.survey_seed, method };
    let observations = survey.run(&mut device, &mut Counter::default());
    Ok(RunFile {
        format: FORMAT,
        flashscope: env!("CARGO_PKG_VERSION").to_owned(),
        target: format!("zoo:{}", specimen.index),
        device_name: String::new(),
        attachment: Attachment::default(),
        measured_at: String::new(),
        observations,
        cost: device.cost(),
        failed_requests: 0,
        remarks: Vec::new(),
    })
}

fn surveyed(
    device: &mut dyn Device,
    method: Method,
    survey: impl FnOnce(&mut dyn Device, &mut dyn Observer) -> Vec<Observations>,
) -> Surveyed {
    let mut device = Meter::new(device, Budget::UNLIMITED);
    let mut counter = Counter::default();
    let seen = survey(&mut device, &mut counter);
    Surveyed { findings: infer_by(&seen, method), cost: device.cost(), asked: counter.asked }
}

/// Counts the requests of each experiment.
#[derive(Debug, Default)]
struct Counter {
    experiment: String,
    asked: BTreeMap<String, Asked>,
}

impl Observer for Counter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { name, .. } => name.clone_into(&mut self.experiment),
            Event::Progress { requests, writes, .. } => {
                self.asked.insert(self.experiment.clone(), Asked { requests, writes });
            }
            Event::Remark { .. } | Event::End => {}
        }
    }
}

/// A cost's device time in seconds.
pub fn device_seconds(cost: &Cost) -> f64 {
    Duration::as_secs_f64(&cost.device_time)
}
