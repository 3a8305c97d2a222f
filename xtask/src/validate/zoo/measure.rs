//! The surveys of one specimen (read-only, with writes, filled), and their cost.

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

/// The findings and the cost of one survey.
#[derive(Debug)]
pub struct Surveyed {
    /// Every finding.
    pub findings: Vec<Finding>,
    /// Requests, bytes and time.
    pub cost: Cost,
    /// The requests of each experiment.
    pub requests: BTreeMap<String, Requests>,
}

/// The number of requests of an experiment.
#[derive(Debug, Clone, Copy)]
pub struct Requests {
    /// All requests.
    pub all: u64,
    /// Writes among them.
    pub writes: u64,
}

/// The findings that need a filled stick.
const FILL_FINDINGS: [FindingId; 3] =
    [FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS, FindingId::WriteBufferBytes];

/// All surveys of a specimen.
#[derive(Debug)]
pub struct Measured {
    /// The specimen.
    pub specimen: Specimen,
    /// The survey that only reads.
    pub read_only: Surveyed,
    /// The survey with writes.
    pub full: Surveyed,
    /// The survey that fills the stick.
    pub fill: Surveyed,
}

impl Measured {
    /// Surveys a specimen three times, each time on a new device.
    pub fn of(specimen: Specimen, method: Method) -> Result<Self, ZooError> {
        let survey = |writes| Survey { writes, seed: specimen.survey_seed, method, file: None };
        let read_only = &mut ReadOnly::new(specimen.device()?);
        let mut read_only =
            surveyed(read_only, method, |device, observer| survey(false).run(device, observer));
        let full = &mut *specimen.device()?;
        let mut full = surveyed(full, method, |device, observer| survey(true).run(device, observer));
        let fill = &mut *specimen.device()?;
        let mut fill = surveyed(fill, method, |device, observer| survey(true).fill(device, observer));
        for each in [&mut read_only, &mut full] {
            each.findings.retain(|finding| !FILL_FINDINGS.contains(&finding.id));
        }
        fill.findings.retain(|finding| FILL_FINDINGS.contains(&finding.id));
        Ok(Self { specimen, read_only, full, fill })
    }
}

impl Measured {
    /// Every finding of the surveys with writes, with its verdict.
    pub fn writing(&self) -> impl Iterator<Item = (&Finding, Verdict)> {
        self.full.judged(&self.specimen).chain(self.fill.judged(&self.specimen))
    }

    /// For each interval of any survey: whether it holds the truth.
    pub fn intervals(&self) -> impl Iterator<Item = bool> {
        let surveys = [&self.read_only, &self.full, &self.fill];
        let findings = surveys.into_iter().flat_map(|survey| &survey.findings);
        findings.filter_map(|finding| interval_holds(finding, &self.specimen.truth))
    }

    /// Every finding of the read-only survey, with its verdict.
    pub fn reading(&self) -> impl Iterator<Item = (&Finding, Verdict)> {
        self.read_only.judged(&self.specimen)
    }
}

impl Surveyed {
    /// Every finding with its verdict.
    pub fn judged<'a>(&'a self, specimen: &'a Specimen) -> impl Iterator<Item = (&'a Finding, Verdict)> {
        self.findings.iter().filter_map(|finding| Some((finding, Verdict::of(finding, &specimen.truth)?)))
    }
}

/// Every observation of the survey with writes.
pub fn run_file(specimen: &Specimen, method: Method) -> Result<RunFile, ZooError> {
    let device = &mut *specimen.device()?;
    let mut device = Meter::new(device, Budget::UNLIMITED);
    let survey = Survey { writes: true, seed: specimen.survey_seed, method, file: None };
    let observations = survey.run(&mut device, &mut Counter::default());
    Ok(RunFile {
        format: FORMAT,
        flashscope: env!("CARGO_PKG_VERSION").to_owned(),
        target: format!("zoo:{}", specimen.index),
        device_name: String::new(),
        attachment: Attachment::default(),
        measured_at: String::new(),
        is_erased: true,
        observations,
        cost: device.cost(),
        failed_requests: 0,
        capacity: None,
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
    let observations = survey(&mut device, &mut counter);
    Surveyed { findings: infer_by(&observations, method), cost: device.cost(), requests: counter.requests }
}

/// Counts the requests of each experiment.
#[derive(Debug, Default)]
struct Counter {
    experiment: String,
    requests: BTreeMap<String, Requests>,
}

impl Observer for Counter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { name, .. } => name.clone_into(&mut self.experiment),
            Event::Progress { requests, writes, .. } => {
                self.requests.insert(self.experiment.clone(), Requests { all: requests, writes });
            }
            Event::Expect { .. } | Event::Remark { .. } | Event::SecondLook | Event::End => {}
        }
    }
}

/// The device time of a cost, seconds.
pub fn device_seconds(cost: &Cost) -> f64 {
    Duration::as_secs_f64(&cost.device_time)
}
