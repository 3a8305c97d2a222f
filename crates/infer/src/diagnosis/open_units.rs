//! Open units: what it costs to write into five places in turn where fewer erase blocks can be open.

use flashscope_record::diagnosis::{Layer, Unweighed, Why};
use flashscope_record::figure::time;
use flashscope_record::finding::{Finding, FindingId, Measurement, Outcome, Reason};
use flashscope_record::observation::{Data, OpenUnitsCell, Order};

use crate::diagnosis::gain::{Cure, Range};
use crate::diagnosis::seen::{Seen, last};
use crate::diagnosis::workload::{PLACES, Pace, Part, Workload};

use crate::statistics::{count, median};

/// Merges depend on how full a block is, and on which one has to go.
const FACTOR: f64 = 1.6;
/// Blocks are nearly empty where this is measured, so that all of one is copied; where only the rest is, the copy pays for half on
/// average.
const OF_A_FULL_MERGE: f64 = 0.85;
/// What takes no longer than so many times what is usual within the open units is no merge.
const QUICK: f64 = 1.5;
/// Where more than this share of writes merges, all do.
const MERGES_ALWAYS: f64 = 0.8;
/// Of writes into five places in turn, by how many blocks can be open: how many times as many find their block closed as of writes
/// into one place too many, where any block may have to go (counted over 400 000 turns: all, 93, 72 and 40 %, and 2 of the
/// number and one).
const MORE_OFTEN: [f64; 4] = [1.0, 1.40, 1.44, 1.0];
/// So many writes tell what is usual.
const ENOUGH: usize = 4;

/// What a byte of the part in turn takes, or why that is not known.
pub fn pace(seen: &Seen<'_>) -> Result<Pace, Why> {
    let request = Part::InTurn.request();
    let alone = seen.ladder.seconds_per_byte(request);
    let switch = Switch::of(seen)?;
    let extra = switch.extra() * OF_A_FULL_MERGE / request.as_f64();
    let factor = if extra > 0.0 { FACTOR } else { Pace::of(alone).factor };
    Ok(Pace { seconds: alone + extra, factor })
}

pub fn cure(seen: &Seen<'_>, _workload: &Workload) -> Result<Option<Cure>, Unweighed> {
    let Ok(switch) = Switch::of(seen) else { return Ok(None) };
    if switch.extra() <= 0.0 {
        return Ok(None);
    }
    let alone = seen.ladder.seconds_per_byte(Part::InTurn.request());
    let after = Some(Range::within(alone, Pace::of(alone).factor));
    let evidence = switch.evidence();
    Ok(Some(Cure { layer: Layer::OpenUnits, after: [None, None, None, after], evidence }))
}

/// What writes take within the open units and beyond them.
struct Switch {
    fits: Option<u32>,
    request: flashscope_device::Bytes,
    fast: f64,
    slow: f64,
}

impl Switch {
    /// From the last search in linear order.
    fn of(seen: &Seen<'_>) -> Result<Self, Why> {
        let data = last(seen.observations, |data| match data {
            Data::OpenUnits(data) => Some(data),
            _ => None,
        });
        let cells = data.map_or(&[][..], |data| data.cells.as_slice());
        let request = cells.first().map(|cell| cell.request);
        let Some(request) = request else {
            return Err(Reason::NotMeasured(Measurement::RoundRobinWrites).into());
        };
        let linear = |cell: &&OpenUnitsCell| cell.order == Order::Linear && cell.request == request;
        let cells: Vec<&OpenUnitsCell> = cells.iter().filter(linear).collect();
        let (fits, reason) = limit(seen);
        let within = fits.unwrap_or(1).max(1);
        let fast = median(&writes(&cells, |units| units <= within));
        let beyond = |from: u32| writes(&cells, |units| units >= from);
        let mut numbers: Vec<u32> = cells.iter().map(|cell| cell.open_units).collect();
        numbers.sort_unstable();
        let fast = fast.ok_or("no writes within the open units were timed one by one")?;
        // Of as many places as the copy has, or the next number that was tried often enough.
        let many = |number: u32| writes(&cells, |units| (PLACES..=number).contains(&units));
        let many = numbers.into_iter().map(many).find(|times| times.len() >= ENOUGH).unwrap_or_default();
        let slow = match fits {
            Some(fits) if fits >= PLACES => fast,
            Some(fits) if many.len() < ENOUGH => {
                let times = beyond(fits + 1);
                let slow = mean(&times).ok_or("no writes beyond the open units were timed")?;
                fast + (slow - fast) * more_often(fits, &times, fast)
            }
            _ if many.len() >= ENOUGH => mean(&many[many.len() / 2..]).unwrap_or(fast),
            // Where the search ended before, fewer places were too many, if any were.
            _ => fewer(&cells).filter(|slow| *slow > fast * QUICK).ok_or(reason)?,
        };
        Ok(Self { fits, request, fast, slow })
    }

    /// What a write into the next place costs beside what it takes alone, seconds.
    fn extra(&self) -> f64 {
        if self.slow > self.fast * QUICK { self.slow - self.fast } else { 0.0 }
    }

    fn evidence(&self) -> String {
        let Self { fits, request, fast, slow } = self;
        let (slow, fast) = (time(*slow), time(*fast));
        match fits {
            Some(fits) => format!(
                "only {fits} erase block{} can be open: with more written in turn, a write of {request} takes {slow} instead of \
                 {fast}, and small files write data, directory and allocation table in turn",
                if *fits == 1 { "" } else { "s" }
            ),
            None => format!(
                "with {PLACES} erase blocks written in turn, a write of {request} takes {slow} instead of {fast}"
            ),
        }
    }
}

/// How many times as often a write into one of five places merges as one into a place too many: as often where the oldest block
/// has to go, and then all do; more often where any may.
fn more_often(fits: u32, times: &[f64], fast: f64) -> f64 {
    let merged = times.iter().filter(|time| **time > fast * QUICK).count();
    let is_always = count(merged) > count(times.len()) * MERGES_ALWAYS;
    let any = usize::try_from(fits).ok().and_then(|fits| MORE_OFTEN.get(fits.checked_sub(1)?));
    if is_always { 1.0 } else { any.copied().unwrap_or(1.0) }
}

/// What writes into the largest number of blocks take that was tried often enough, and is below that of the copy.
fn fewer(cells: &[&OpenUnitsCell]) -> Option<f64> {
    let times = (2..PLACES).rev().map(|number| writes(cells, |units| units == number));
    mean(&times.into_iter().find(|times| times.len() >= ENOUGH)?)
}

/// How many erase blocks can be written in turn, or why that is not known.
fn limit(seen: &Seen<'_>) -> (Option<u32>, Why) {
    let finding = seen.finding(FindingId::OpenUnitsLinear);
    let reason = match finding.map(|finding| &finding.outcome) {
        Some(Outcome::Unknown { reason, .. }) => reason.clone().into(),
        _ => Reason::NotMeasured(Measurement::RoundRobinWrites).into(),
    };
    (finding.and_then(Finding::count), reason)
}

/// The times of writes into so many blocks in turn, seconds.
fn writes(cells: &[&OpenUnitsCell], units: impl Fn(u32) -> bool) -> Vec<f64> {
    let these = cells.iter().filter(|cell| units(cell.open_units));
    these.flat_map(|cell| cell.writes()).map(|(_, latency)| latency.as_secs_f64()).collect()
}

fn mean(times: &[f64]) -> Option<f64> {
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / count(times.len()))
}
