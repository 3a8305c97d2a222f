//! One check of a full stick, as `flashscope check` makes it: with `--erase` or with `--scratch`.

use std::time::Duration;

use anyhow::{Context, anyhow};
use flashscope_device::layer::journal::{JournalError, JournalMedium, JournalStart, Journaled, MemoryStore};
use flashscope_device::layer::{Budget, Cost, Meter};
use flashscope_device::transfer::parts;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern, ReadInto, SECTOR, Success};
use flashscope_infer::{diagnose_run, findings_of};
use flashscope_measure::Silent;
use flashscope_measure::capacity::{Limits, probe};
use flashscope_measure::survey::Survey;
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::Observations;
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_record::{Finding, FindingId};
use flashscope_zoo::Specimen;

/// The answers that are compared: findings, and the bottleneck.
pub const ANSWERS: [&str; 7] = [
    "erase block",
    "open units, sequential",
    "open units, random",
    "page",
    "class",
    "write unit",
    "bottleneck",
];
const FINDINGS: [FindingId; 6] = [
    FindingId::EraseBlockBytes,
    FindingId::OpenUnitsLinear,
    FindingId::OpenUnitsRandom,
    FindingId::PageBytes,
    FindingId::FtlClass,
    FindingId::WriteUnitBytes,
];

/// The default write budget of `flashscope check`.
const WRITE_BUDGET: Bytes = Bytes::gib(2);
/// The stick was filled earlier, and has been idle since. Guess: plugged in again on another day.
const IDLE: Duration = Duration::from_secs(600);
/// The request that fills the stick and compares it.
const REQUEST: Bytes = Bytes::mib(1);
/// The data before the check.
const DATA: Pattern = Pattern::new(0x5eed);

/// How a check treats the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `--erase`.
    Erase,
    /// `--erase` after one more read of a sector: the same stick with other noise.
    EraseAgain,
    /// `--scratch`.
    Scratch,
}

/// What the journal cost.
#[derive(Debug, Default, Clone, Copy)]
pub struct JournalCost {
    /// The bytes that were saved.
    pub saved: Bytes,
    /// Those of them that were written back.
    pub written_back: Bytes,
    /// The device time of the experiments, without saving.
    pub measuring: Duration,
    /// The device time of writing the data back and comparing it.
    pub restoring: Duration,
}

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The text of each of [`ANSWERS`]; `unknown` if there is none.
    pub answers: [String; ANSWERS.len()],
    /// All requests that the stick served. With `--scratch` also those that save, restore and compare.
    pub cost: Cost,
    /// What the journal cost; zero with `--erase`.
    pub journal: JournalCost,
    /// The sectors that differ from the data before. With `--erase` most of those written.
    pub different: u64,
}

impl Checked {
    /// Fills the stick of a specimen, and checks it.
    ///
    /// # Errors
    /// If the stick cannot be made or fails, or the data does not come back.
    pub fn of(specimen: &Specimen, mode: Mode) -> anyhow::Result<Self> {
        let stick = &mut *specimen.device()?;
        fill(stick)?;
        if mode == Mode::EraseAgain {
            stick.run(Op::read(ByteRange::new(Bytes::ZERO, SECTOR)))?.outcome?;
        }
        let mut device = Meter::new(&mut *stick, Budget::UNLIMITED);
        let (observations, journal) = match mode {
            Mode::Erase | Mode::EraseAgain => {
                (measure(&mut device, specimen.survey_seed)?, JournalCost::default())
            }
            Mode::Scratch => scratch(&mut device, specimen.survey_seed)?,
        };
        let cost = device.cost();
        let different = different(stick)?;
        Ok(Self { answers: answers(observations, cost), cost, journal, different })
    }
}

/// Fills the whole stick with data, sequentially, and leaves it idle.
fn fill(stick: &mut dyn Device) -> anyhow::Result<()> {
    for part in parts(stick.capabilities().whole(), REQUEST) {
        stick.run(Op::write(part, DATA))?.outcome?;
    }
    stick.run(Op::Flush)?.outcome?;
    stick.pause(IDLE)?;
    Ok(())
}

/// Checks through a journal, and restores.
fn scratch(device: &mut dyn Device, seed: u64) -> anyhow::Result<(Vec<Observations>, JournalCost)> {
    let capabilities = device.capabilities();
    let medium = JournalMedium {
        model: String::new(),
        serial: None,
        capacity: capabilities.capacity,
        logical_block: capabilities.logical_block,
    };
    let start = JournalStart { medium, ..JournalStart::default() };
    let mut journaled = Journaled::start(device, MemoryStore::default(), start)?;
    let started_at = journaled.now();
    let observations = measure(&mut journaled, seed)?;
    let (saved, measured_at) = (journaled.saved(), journaled.now());
    let written_back = match journaled.restore() {
        Ok(restored) => restored.written,
        // The comparison of all sectors counts them.
        Err(JournalError::NotRestored { .. }) => saved,
        Err(error) => return Err(error).context("the data is not back"),
    };
    let measuring = measured_at.since(started_at);
    let restoring = journaled.now().since(measured_at);
    Ok((observations, JournalCost { saved, written_back, measuring, restoring }))
}

/// The experiments of `check`, and then the short test of the capacity.
fn measure(device: &mut dyn Device, seed: u64) -> anyhow::Result<Vec<Observations>> {
    let survey = Survey::new(true, seed);
    let device = &mut Meter::new(device, Budget { bytes_written: Some(WRITE_BUDGET), ..Budget::UNLIMITED });
    let mut observations = vec![survey.fill_briefly(device, &mut Silent)];
    observations.extend(survey.run(device, &mut Silent));
    observations.extend(survey.speeds(device, None, &mut Silent));
    let most = Limits::default();
    let left = device.left().bytes_written.map_or(most.bytes_written, |left| left / 4);
    let limits = Limits { bytes_written: left.min(most.bytes_written), ..most };
    let verdict = probe(device, seed, limits, &mut Silent)?;
    match verdict.filter(|verdict| verdict.kind.is_bad()) {
        Some(verdict) => Err(anyhow!("a genuine stick was called {:?}", verdict.kind)),
        None => Ok(observations),
    }
}

fn answers(observations: Vec<Observations>, cost: Cost) -> [String; ANSWERS.len()] {
    let run = RunFile {
        format: FORMAT,
        flashscope: String::new(),
        target: "sim:x".to_owned(),
        device_name: String::new(),
        attachment: Attachment::default(),
        measured_at: String::new(),
        is_erased: false,
        observations,
        cost,
        capacity: None,
        failed_requests: 0,
        remarks: Vec::new(),
    };
    let findings = findings_of(&run);
    let bottleneck = diagnose_run(&run, &findings).bottleneck().map(|bottleneck| bottleneck.as_str());
    std::array::from_fn(|index| match FINDINGS.get(index) {
        Some(id) => text_of(&findings, *id),
        None => bottleneck.unwrap_or(UNKNOWN).to_owned(),
    })
}

/// The text of an answer that was not found.
pub const UNKNOWN: &str = "unknown";

fn text_of(findings: &[Finding], id: FindingId) -> String {
    let value = findings.iter().find(|finding| finding.id == id).and_then(Finding::value);
    value.map_or_else(|| UNKNOWN.to_owned(), flashscope_report::value_text)
}

/// The sectors of the whole stick that do not hold the data before.
fn different(stick: &mut dyn Device) -> anyhow::Result<u64> {
    let mut different = 0;
    for part in parts(stick.capabilities().whole(), REQUEST) {
        let read = Op::Read { range: part, into: ReadInto::Check(DATA) };
        if let Success::Wrong(report) = stick.run(read)?.outcome? {
            different += part.length / SECTOR - report.right;
        }
    }
    Ok(different)
}
