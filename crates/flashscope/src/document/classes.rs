//! The document of `check --class`, and the same in that of a check.

use flashscope_infer::classes::{
    ClassResult, ClassTest, ClassVerdict, Classes, RANDOM_REQUEST, UnitSpeeds, classes_of,
};
use flashscope_record::claims::Untestable;
use flashscope_record::observation::{Direction, Order};
use flashscope_record::run_file::RunFile;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use super::ended::EndedDocument;
use super::findings::CostDocument;
use super::identity::Identity;

/// The speed classes of a card or stick: those that are claimed, and those that are reached.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClassesDocument {
    /// The target as it was typed.
    pub target: String,
    /// What the target is.
    pub identity: Option<Identity>,
    /// When it was measured (UTC, RFC 3339).
    pub measured_at: String,
    /// The classes.
    pub classes: MarksDocument,
    /// What the measurement cost.
    pub cost: CostDocument,
    /// How each test ended.
    pub ended: Vec<EndedDocument>,
    /// What to know about the target and how it was opened.
    pub remarks: Vec<String>,
}

/// The classes of a device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MarksDocument {
    /// Whether a USB reader hides what the card claims.
    pub registers_hidden: bool,
    /// The claims of the registers and of --claimed.
    pub claimed: Vec<ClassDocument>,
    /// Every class of the standard.
    pub all: Vec<ClassDocument>,
    /// The speeds of allocation units that were written sequentially; null if none were.
    pub units: Option<UnitsDocument>,
}

/// One class, or a speed that is claimed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClassDocument {
    /// Its name: `C10`, `U3`, `V30`, `A1`, or `90MB/s`.
    pub mark: String,
    /// The verdict.
    pub verdict: ClassVerdictDocument,
    /// Why it cannot be tested here; null if it can.
    pub reason: Option<Untestable>,
    /// What it requires, and what was measured.
    pub tests: Vec<ClassTestDocument>,
}

/// A verdict on a class.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassVerdictDocument {
    /// Reached.
    Pass,
    /// Missed.
    Fail,
    /// Not testable here.
    NotTestable,
}

/// One requirement of a class.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClassTestDocument {
    /// Reads or writes.
    pub direction: Direction,
    /// Sequential (`linear`) or random.
    pub order: Order,
    /// The least speed, bytes per second.
    pub required_bytes_per_s: f64,
    /// The least random requests of 4 KiB per second; null for sequential requests.
    pub required_iops: Option<f64>,
    /// The speed that decides: of sequential writes the slowest allocation unit.
    pub measured_bytes_per_s: Option<f64>,
    /// The same in random requests per second.
    pub measured_iops: Option<f64>,
    /// The verdict.
    pub verdict: ClassVerdictDocument,
    /// Why it cannot be tested here; null if it can.
    pub reason: Option<Untestable>,
}

/// The speeds of allocation units, bytes per second.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnitsDocument {
    /// The bytes of each.
    pub unit_bytes: u64,
    /// How many were measured.
    pub count: usize,
    /// The slowest.
    pub lowest_bytes_per_s: f64,
    /// The median.
    pub median_bytes_per_s: f64,
    /// The mean.
    pub mean_bytes_per_s: f64,
}

impl Body for ClassesDocument {
    const NAME: &'static str = "classes";
    const COMMANDS: &'static str = "check --class";
}

impl ClassesDocument {
    /// The document of a run.
    pub fn new(run: &RunFile, identity: Option<Identity>) -> Self {
        Self {
            target: run.target.clone(),
            identity,
            measured_at: run.measured_at.clone(),
            classes: MarksDocument::from(&classes_of(run)),
            cost: CostDocument::from(&run.cost),
            ended: run.observations.iter().map(|seen| EndedDocument::from(&seen.ended)).collect(),
            remarks: run.remarks.clone(),
        }
    }
}

impl From<&Classes> for MarksDocument {
    fn from(classes: &Classes) -> Self {
        Self {
            registers_hidden: classes.registers_hidden,
            claimed: classes.claimed.iter().map(ClassDocument::from).collect(),
            all: classes.all.iter().map(ClassDocument::from).collect(),
            units: classes.units.as_ref().map(UnitsDocument::from),
        }
    }
}

impl From<&ClassResult> for ClassDocument {
    fn from(result: &ClassResult) -> Self {
        let (verdict, reason) = verdict(result.verdict);
        let tests = result.tests.iter().map(ClassTestDocument::from).collect();
        Self { mark: result.mark.to_string(), verdict, reason, tests }
    }
}

impl From<&ClassTest> for ClassTestDocument {
    fn from(test: &ClassTest) -> Self {
        let (verdict, reason) = verdict(test.verdict);
        let required = test.required;
        let iops = |bytes_per_s: f64| {
            (required.order == Order::Random).then(|| bytes_per_s / RANDOM_REQUEST.as_f64())
        };
        let measured = test.measured.map(|speed| speed.bytes_per_s);
        Self {
            direction: required.direction,
            order: required.order,
            required_bytes_per_s: required.bytes_per_s,
            required_iops: iops(required.bytes_per_s),
            measured_bytes_per_s: measured,
            measured_iops: measured.and_then(iops),
            verdict,
            reason,
        }
    }
}

impl From<&UnitSpeeds> for UnitsDocument {
    fn from(units: &UnitSpeeds) -> Self {
        Self {
            unit_bytes: units.unit.get(),
            count: units.count(),
            lowest_bytes_per_s: units.lowest(),
            median_bytes_per_s: units.median(),
            mean_bytes_per_s: units.mean(),
        }
    }
}

fn verdict(verdict: ClassVerdict) -> (ClassVerdictDocument, Option<Untestable>) {
    match verdict {
        ClassVerdict::Pass => (ClassVerdictDocument::Pass, None),
        ClassVerdict::Fail => (ClassVerdictDocument::Fail, None),
        ClassVerdict::NotTestable(why) => (ClassVerdictDocument::NotTestable, Some(why)),
    }
}
