//! The verdict of a check in JSON: the same value that the first screen is written from.

use flashscope_record::verdict::{Action, SpeedNumber};
use flashscope_report::first_screen::{ActionText, FirstScreen, NumberText, TimePart};
use schemars::JsonSchema;
use serde::Serialize;

use super::bottleneck::GainDocument;

/// The verdict of a check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerdictDocument {
    /// `false_capacity`, `loses_data`, `failing`, `slow`, `slow_small_writes`, `usual`, `fast` or `unknown`.
    pub state: &'static str,
    /// The answer in one sentence.
    pub headline: String,
    /// The four speeds: sequential read and write, random read and write.
    pub numbers: Vec<SpeedNumberDocument>,
    /// Where the time of an everyday copy goes; empty if that is not known. The parts sum to 100 %.
    pub time: Vec<TimePartDocument>,
    /// What to do, at most three.
    pub actions: Vec<ActionDocument>,
    /// The longest copy that the verdict covers, in bytes; null without a limit.
    pub copy_bytes_max: Option<u64>,
}

/// One of the four speeds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpeedNumberDocument {
    /// `sequential read`, `sequential write`, `random read 4 KiB`, `random write 4 KiB`.
    pub name: String,
    /// Bytes per second; null if it was not measured.
    pub bytes_per_s: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The size of a request in bytes: divide by it for IOPS.
    pub request_bytes: u64,
    /// Whether the page cache answered instead of the device.
    pub is_cached: bool,
    /// `good`, `usual` or `poor` for its kind; null if it was not measured.
    pub mark: Option<&'static str>,
    /// What it is judged by.
    pub yardstick: &'static str,
}

/// A part of the time of an everyday copy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TimePartDocument {
    /// The bottleneck, as in `bottleneck.layer`.
    pub layer: &'static str,
    /// Whole percent.
    pub percent: u32,
}

/// Something to do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActionDocument {
    /// A short name that does not change between versions.
    pub id: &'static str,
    /// What to do, and what it costs or risks.
    pub text: String,
    /// The commands to paste.
    pub commands: Vec<String>,
    /// How many times faster a copy gets; null for an action that only measures or saves data.
    pub gain: Option<GainDocument>,
    /// Which copy: `everyday_copy` or `small_files`.
    pub scope: &'static str,
}

impl From<&FirstScreen> for VerdictDocument {
    fn from(screen: &FirstScreen) -> Self {
        let verdict = &screen.verdict;
        let numbers = verdict.numbers.iter().zip(&screen.numbers);
        Self {
            state: verdict.state.as_str(),
            headline: screen.headline.clone(),
            numbers: numbers.map(|(number, text)| SpeedNumberDocument::new(number, text)).collect(),
            time: screen.time.iter().map(TimePartDocument::from).collect(),
            actions: verdict.actions.iter().zip(&screen.actions).map(ActionDocument::from).collect(),
            copy_bytes_max: verdict.diagnosis.copy_max.map(flashscope_device::Bytes::get),
        }
    }
}

impl SpeedNumberDocument {
    fn new(number: &SpeedNumber, text: &NumberText) -> Self {
        Self {
            name: text.name.clone(),
            bytes_per_s: number.speed.map(|speed| speed.bytes_per_s),
            low: number.speed.map(|speed| speed.low),
            high: number.speed.map(|speed| speed.high),
            request_bytes: number.request.get(),
            is_cached: number.speed.is_some_and(|speed| speed.is_cached),
            mark: number.mark().map(flashscope_record::verdict::Mark::as_str),
            yardstick: number.yardstick.name,
        }
    }
}

impl From<&TimePart> for TimePartDocument {
    fn from(part: &TimePart) -> Self {
        Self { layer: part.bottleneck.as_str(), percent: part.percent }
    }
}

impl From<(&Action, &ActionText)> for ActionDocument {
    fn from((action, text): (&Action, &ActionText)) -> Self {
        Self {
            id: action.kind.as_str(),
            text: text.text.clone(),
            commands: text.commands.clone(),
            gain: action.gain.map(GainDocument::from),
            scope: action.scope.as_str(),
        }
    }
}
