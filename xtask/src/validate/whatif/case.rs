//! One random stick: the gains that its twin predicts, and the true ones.

use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{Bytes, Device};
use flashscope_infer::findings_of;
use flashscope_infer::trials::Comparison;
use flashscope_infer::trials::forecast::{Forecast, Layout};
use flashscope_infer::trials::twin_error::TwinModel;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::attachment::Attachment;
use flashscope_record::finding::FindingId;
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_record::{TrialOperation, TrialWorkload};
use flashscope_recording::{Recordings, Wish};
use flashscope_twin::whatif::{Layouts, SECTOR_63, StickTwin, TwinError, starts};
use flashscope_zoo::{Scope, Specimen};

/// One gain, predicted and true.
#[derive(Debug, Clone)]
pub struct Row {
    /// The number of the stick.
    pub index: u64,
    /// The model of its twin.
    pub model: TwinModel,
    /// The errors of its twin for the measured times, and findings that the twin leaves out.
    pub twin: String,
    /// The files.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// The layout that is compared with vfat at sector 63.
    pub layout: Layout,
    /// The predicted gain.
    pub predicted: Comparison,
    /// The true gain.
    pub truth: f64,
    /// The predicted time, seconds, and its interval.
    pub seconds: [f64; 3],
    /// The true time.
    pub seconds_true: f64,
}

/// What became of a stick.
#[derive(Debug)]
pub enum Case {
    /// Its gains.
    Gains(Vec<Row>),
    /// It has no twin, for this reason.
    NoTwin(String),
    /// It is outside of the hypothesis space, too small for every recording, or failed in the replay.
    LeftOut,
}

/// What is replayed on each stick.
#[derive(Debug)]
pub struct Replayed<'a> {
    /// The recordings.
    pub recordings: &'a Recordings,
    /// Which of them.
    pub wish: Wish,
}

impl Case {
    /// Checks a random stick, fits a twin, and replays on both.
    pub fn of(seed: u64, index: u64, replayed: &Replayed<'_>) -> anyhow::Result<Self> {
        let specimen = Specimen::new(seed, index)?;
        if specimen.scope != Scope::Inside {
            return Ok(Self::LeftOut);
        }
        let run = checked(&specimen)?;
        let capacity = specimen.device()?.capabilities().capacity;
        let request_max = Bytes::kib(120);
        let layouts = |erase_block| Layouts {
            recordings: replayed.recordings,
            wish: replayed.wish.clone(),
            starts: starts(erase_block, None),
            erase_block,
            request_max,
            capacity,
            seed: specimen.survey_seed,
        };
        if layouts(Bytes::mib(4)).choices(SECTOR_63).is_empty() {
            return Ok(Self::LeftOut);
        }
        let twin = match StickTwin::of(&run) {
            Ok(twin) => twin,
            Err(error @ (TwinError::NoGeometry { .. } | TwinError::Fit(_))) => {
                return Ok(Self::NoTwin(error.to_string()));
            }
            Err(_) => return Ok(Self::LeftOut),
        };
        let layouts = layouts(twin.profile.ftl.erase_block);
        let predicted = layouts.tried(|seed| Ok::<_, anyhow::Error>(twin.device(seed)), || true)?;
        let truth = layouts.tried(|_| Ok::<_, anyhow::Error>(specimen.device()?), || true)?;
        if truth.failed > 0 || predicted.failed > 0 {
            return Ok(Self::LeftOut);
        }
        let baseline = Layout { variant: "vfat".to_owned(), start: SECTOR_63 };
        let [predicted, truth] = [predicted, truth]
            .map(|tried| Forecast::of(&tried.trials, &baseline, twin.fit, layouts.erase_block));
        Ok(Self::Gains(rows(index, (twin.fit.model, &described(&twin, &run)), &predicted, &truth)))
    }
}

/// The profile of a stick, and that of its twin.
pub fn explained(seed: u64, index: u64) -> anyhow::Result<String> {
    let specimen = Specimen::new(seed, index)?;
    let twin = StickTwin::of(&checked(&specimen)?)?;
    Ok(format!("{}\n# its twin\n{}", specimen.describe(), twin.profile.to_toml()?))
}

/// How well a twin repeats the measured times, and what of the findings it leaves out.
fn described(twin: &StickTwin, run: &RunFile) -> String {
    let findings = findings_of(run);
    let left_out = [FindingId::FtlClass, FindingId::SlcCacheBytes, FindingId::WriteBufferBytes];
    let found = findings.iter().filter(|finding| left_out.contains(&finding.id));
    let values: Vec<String> = found
        .map(|finding| {
            finding.value().map_or_else(|| "-".to_owned(), |value| format!("{value:?}").replace(' ', ""))
        })
        .collect();
    let misfit = twin.fit.misfit;
    format!(
        "{:.3} {:.3} {:.3} {:.3} {:.3} {:.3} {}",
        twin.errors.median,
        twin.errors.p90,
        misfit.linear_reads,
        misfit.random_reads,
        misfit.linear_writes,
        misfit.random_writes,
        values.join(" ")
    )
}

/// Every layout but the baseline.
fn rows(index: u64, (model, twin): (TwinModel, &str), predicted: &Forecast, truth: &Forecast) -> Vec<Row> {
    let others = predicted.predictions.iter().filter(|each| each.layout != predicted.baseline);
    others
        .filter_map(|each| {
            let same = truth.prediction(&each.layout, each.workload, each.operation)?;
            Some(Row {
                index,
                model,
                twin: twin.to_owned(),
                workload: each.workload,
                operation: each.operation,
                layout: each.layout.clone(),
                predicted: each.gain?,
                truth: same.gain?.ratio,
                seconds: [each.estimate.seconds, each.low, each.high],
                seconds_true: same.estimate.seconds,
            })
        })
        .collect()
}

/// The run of a `check` with all tests.
fn checked(specimen: &Specimen) -> anyhow::Result<RunFile> {
    let mut device = Meter::new(specimen.device()?, Budget::UNLIMITED);
    let survey = Survey::new(true, specimen.survey_seed);
    let mut observations = vec![survey.fill_briefly(&mut device, &mut Silent)];
    observations.extend(survey.run(&mut device, &mut Silent));
    observations.extend(survey.speeds(&mut device, None, &mut Silent));
    Ok(RunFile {
        format: FORMAT,
        flashscope: String::new(),
        target: format!("specimen {}", specimen.index),
        device_name: String::new(),
        attachment: Attachment::default(),
        measured_at: String::new(),
        is_erased: true,
        observations,
        cost: device.cost(),
        capacity: None,
        failed_requests: 0,
        remarks: Vec::new(),
    })
}
