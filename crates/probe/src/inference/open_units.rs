//! Open units and the class of the translation layer, from our own measurements, write by write.

use std::time::Duration;

use flashscope_device::Bytes;

use super::ladder::normal;
use super::statistics::{count, median};
use super::wording::time;
use crate::finding::{Confidence, Finding, FindingId, FtlClass, Value};
use crate::observation::{OpenUnitsCell, OpenUnitsData, Order, Times};
use crate::rounds::{Rounds, Slow};

/// From this share of writes with a merge, beyond the open units, every switch costs one: the open-block law.
const EVERY_SWITCH: f64 = 0.8;
/// Up to this share the controller spreads the cost: it writes into a log.
const SPREAD: f64 = 0.5;
/// By how much the same writes may change over the measurement.
const DRIFT_MAX: f64 = 2.0;
/// How sure two agreeing trials are; one alone can be misled by blocks left open (see `Rounds::MISSES_PER_UNIT`).
const CONFIRMED: f64 = 0.99;
const UNCONFIRMED: f64 = 0.95;

/// A cell with every latency.
struct Cell<'a> {
    cell: &'a OpenUnitsCell,
    times: &'a [Duration],
}

fn cells(data: &OpenUnitsData) -> impl Iterator<Item = Cell<'_>> {
    data.cells.iter().filter_map(|cell| match &cell.times {
        Times::Each(times) if !times.is_empty() => Some(Cell { cell, times }),
        _ => None,
    })
}

impl Cell<'_> {
    fn fits(&self, slow: Slow) -> Option<bool> {
        Rounds::of(self.cell.open_units, self.times.to_vec()).fits(Some(slow))
    }

    fn behind_first_round(&self) -> &[Duration] {
        self.times.get(self.cell.open_units as usize..).unwrap_or(&[])
    }

    /// The mean over everything behind the first round.
    fn mean_seconds(&self) -> f64 {
        mean(self.behind_first_round())
    }

    /// The mean over the last rounds, which were clean: what a write takes once the blocks are open.
    fn settled_seconds(&self) -> f64 {
        mean(&self.times[self.times.len().saturating_sub(2 * self.cell.open_units as usize)..])
    }
}

fn mean(times: &[Duration]) -> f64 {
    times.iter().map(Duration::as_secs_f64).sum::<f64>() / count(times.len().max(1))
}
/// What the search saw in one order.
struct Search<'a> {
    cells: Vec<Cell<'a>>,
    slow: Slow,
}

impl<'a> Search<'a> {
    fn new(data: &'a OpenUnitsData, order: Order) -> Option<Self> {
        let request = data.cells.first()?.request;
        let searched = |cell: &Cell<'_>| cell.cell.order == order && cell.cell.request == request;
        let first = cells(data).find(|cell| cell.cell.order == Order::Linear && cell.cell.open_units == 1)?;
        Some(Self { slow: Slow::beyond(first.times)?, cells: cells(data).filter(searched).collect() })
    }

    fn verdicts(&self) -> impl DoubleEndedIterator<Item = (u32, bool, &Cell<'a>)> {
        self.cells.iter().filter_map(|cell| Some((cell.cell.open_units, cell.fits(self.slow)?, cell)))
    }

    /// The largest number that fits (0: not even one) and the smallest above it that does not.
    fn limits(&self) -> (u32, Option<u32>) {
        let fits = self.verdicts().filter(|(_, fits, _)| *fits).map(|(number, ..)| number).max().unwrap_or(0);
        let too_many =
            self.verdicts().filter(|(number, ok, _)| !ok && *number > fits).map(|(number, ..)| number).min();
        (fits, too_many)
    }

    /// The first cell of this number of units with this verdict.
    fn cell(&self, number: u32, fits: bool) -> Option<&Cell<'a>> {
        self.verdicts()
            .find(|(units, verdict, _)| *units == number && *verdict == fits)
            .map(|(.., cell)| cell)
    }
}

/// How many erase blocks can be written in turn, in this order inside each.
#[must_use]
pub fn open_units(data: &OpenUnitsData, order: Order) -> Finding {
    let id = match order {
        Order::Linear => FindingId::OpenUnitsLinear,
        Order::Random => FindingId::OpenUnitsRandom,
    };
    let Some(search) = Search::new(data, order).filter(|search| !search.cells.is_empty()) else {
        return Finding::unknown(
            id,
            "no writes into erase blocks in turn were measured",
            "write tests (--erase)",
        );
    };
    if let Some(reason) = drift(data) {
        return Finding::unknown(id, reason, "a stick whose cache is full, or empty, throughout");
    }
    let (fits, too_many) = search.limits();
    let Some(too_many) = too_many else {
        return no_limit(id, fits, &search);
    };
    let Some(steady) = steadiness(data, order, fits, search.slow) else {
        return Finding::unknown(id, STALLS, "a quieter machine, or a stick left alone for a while");
    };
    let trials = search.verdicts().filter(|(number, fits, _)| *number == too_many && !fits).count();
    let confidence = if trials >= 2 { CONFIRMED } else { UNCONFIRMED };
    let evidence = evidence(&search, order, fits, too_many);
    Finding::exact(id, Value::Count(fits), Confidence::new(confidence * steady), evidence)
        .within(Value::Count(fits), Value::Count(too_many - 1))
}

const STALLS: &str = "slow writes come now and then whatever the number of blocks: they are no merges";

/// How sure it is that writes into as many units as fit need no merge, from the six rounds after all were open. Were
/// they too many, none of these rounds would be clean; were slow writes to come by chance, the search would have ended
/// at a number where a round is clean once in five to ten times. One or two unclean rounds are the device's own stalls.
/// Not even one unit that fits needs no such rounds.
fn steadiness(data: &OpenUnitsData, order: Order, fits: u32, slow: Slow) -> Option<f64> {
    if fits == 0 {
        return Some(1.0);
    }
    let settled = data.settled.iter().find(|cell| cell.order == order && cell.open_units == fits)?;
    let Times::Each(times) = &settled.times else { return None };
    let rounds = times.chunks_exact(fits as usize);
    let unclean = rounds.len() - rounds.filter(|round| !round.iter().any(|time| slow.is(*time))).count();
    match unclean {
        0 | 1 if times.len() >= 4 * fits as usize => Some(1.0),
        2 if times.len() >= 6 * fits as usize => Some(0.97),
        _ => None,
    }
}
/// Why nothing can be said: the same writes took another time at the end than at the start.
fn drift(data: &OpenUnitsData) -> Option<String> {
    let first = cells(data).find(|cell| cell.cell.order == Order::Linear && cell.cell.open_units == 1)?;
    let typical = |times: &[Duration]| median(&times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>());
    let start = typical(first.times)?;
    data.controls.iter().find_map(|control| {
        let Times::Each(times) = control else { return None };
        let now = typical(times)?;
        (now > start * DRIFT_MAX || now * DRIFT_MAX < start).then(|| {
            format!(
                "the same writes took {} at first and {} later: a cache filled up or was emptied",
                time(start),
                time(now)
            )
        })
    })
}

fn no_limit(id: FindingId, fits: u32, search: &Search<'_>) -> Finding {
    let tried = search.cells.iter().map(|cell| cell.cell.open_units).max().unwrap_or(0);
    if fits == 0 {
        return Finding::unknown(
            id,
            format!("{tried} were tried, and the times decide for neither"),
            "a larger budget",
        );
    }
    let reason = format!("no merge was seen while writing into up to {fits} erase blocks in turn");
    let would_decide = if tried > fits {
        "a larger budget"
    } else {
        "more units, on a larger device or with another erase block"
    };
    Finding::unknown(id, reason, would_decide)
}

fn evidence(search: &Search<'_>, order: Order, fits: u32, too_many: u32) -> String {
    let slow = search.cell(too_many, false).map_or(0.0, Cell::mean_seconds);
    let how = match order {
        Order::Linear => "",
        Order::Random => ", each in random order,",
    };
    match search.cell(fits, true) {
        Some(cell) => format!(
            "writing into {too_many} blocks in turn{how} took {} a request, into {fits} only {}",
            time(slow),
            time(cell.settled_seconds())
        ),
        None => format!(
            "even one block in {} order took {} a request, in linear order {}",
            order.as_str(),
            time(slow),
            time(search.slow.unmerged().as_secs_f64())
        ),
    }
}

/// The class of the translation layer.
#[must_use]
pub fn ftl_class(data: &OpenUnitsData) -> Finding {
    let id = FindingId::FtlClass;
    let (Some(linear), Some(random)) = (Search::new(data, Order::Linear), Search::new(data, Order::Random))
    else {
        return Finding::unknown(
            id,
            "no writes into erase blocks in turn were measured",
            "write tests (--erase)",
        );
    };
    if let Some(reason) = drift(data) {
        return Finding::unknown(id, reason, "a stick whose cache is full, or empty, throughout");
    }
    let ((fits, too_many), (random_fits, random_too_many)) = (linear.limits(), random.limits());
    if steadiness(data, Order::Linear, fits, linear.slow).is_none() && too_many.is_some() {
        return Finding::unknown(id, STALLS, "a quieter machine, or a stick left alone for a while");
    }
    if random_fits == 0 && random_too_many == Some(1) && fits > 0 {
        let value = Value::Class { class: FtlClass::LinearOnly, above: None };
        return Finding::exact(id, value, Confidence::new(CONFIRMED), evidence(&random, Order::Random, 0, 1));
    }
    let Some(cell) = too_many.and_then(|number| linear.cell(number, false)) else {
        return Finding::unknown(id, "no number of erase blocks was found that is too many", "more units");
    };
    let times = cell.behind_first_round();
    let merged: Vec<f64> =
        times.iter().filter(|time| linear.slow.is(**time)).map(Duration::as_secs_f64).collect();
    class_by_share(data, cell, fits, count(merged.len()) / count(times.len().max(1)), &merged, times.len())
}

fn class_by_share(
    data: &OpenUnitsData,
    cell: &Cell<'_>,
    fits: u32,
    share: f64,
    merged: &[f64],
    requests: usize,
) -> Finding {
    let id = FindingId::FtlClass;
    let error = (share * (1.0 - share) / count(requests.max(1))).sqrt().max(0.02);
    let number = cell.cell.open_units;
    let merge = time(median(merged).unwrap_or(0.0));
    let percent = share * 100.0;
    let (class, sure, law) = match share {
        share if share >= EVERY_SWITCH => (
            FtlClass::OpenBlock,
            normal((share - SPREAD) / error),
            format!("beyond {fits} open blocks {percent:.0} % of the writes pay a merge of {merge}"),
        ),
        share if share <= SPREAD => (
            FtlClass::LogStructured,
            normal((EVERY_SWITCH - share) / error),
            format!(
                "with {number} blocks in turn only {percent:.0} % of the writes pay a merge of {merge}: the cost grows step by step"
            ),
        ),
        _ => {
            let reason = format!(
                "with {number} blocks in turn {percent:.0} % of the writes pay a merge: between the laws"
            );
            return Finding::unknown(id, reason, "more rounds");
        }
    };
    let above = escaping_request(data, fits, number);
    let escape = above
        .map_or_else(String::new, |size| format!("; requests up to {size} take another path and pay none"));
    let value = Value::Class { class, above };
    Finding::exact(id, value, Confidence::new(sure * CONFIRMED), law + &escape)
}

/// The largest request that pays no merge where larger ones do, with one unit too many.
fn escaping_request(data: &OpenUnitsData, fits: u32, too_many: u32) -> Option<Bytes> {
    let survey = |number: u32, size: Bytes| {
        let here = |cell: &Cell<'_>| {
            cell.cell.order == Order::Linear && cell.cell.open_units == number && cell.cell.request == size
        };
        cells(data).filter(here).last()
    };
    let mut sizes: Vec<Bytes> = cells(data)
        .filter(|cell| cell.cell.order == Order::Linear && cell.cell.open_units == too_many)
        .map(|cell| cell.cell.request)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let escapes = |size: &Bytes| {
        let (Some(within), Some(beyond)) = (survey(fits, *size), survey(too_many, *size)) else {
            return false;
        };
        let Some(slow) = Slow::beyond(within.times) else { return false };
        beyond.times.chunks_exact(too_many as usize).all(|round| round.iter().all(|time| !slow.is(*time)))
    };
    let escaping: Vec<Bytes> = sizes.iter().copied().take_while(escapes).collect();
    escaping.last().copied().filter(|_| escaping.len() < sizes.len())
}
