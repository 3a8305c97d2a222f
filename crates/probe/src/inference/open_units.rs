//! Open units in linear and in random order, from our own measurements, write by write.

use std::time::Duration;

use super::statistics::{count, median};
use super::wording::time;
use crate::belief::{self, Belief, Prior, Slowness};
use crate::finding::{Confidence, Finding, FindingId, Value};
use crate::observation::{OpenUnitsData, Order, Times};

/// By how much the same writes may change over the measurement.
const DRIFT_MAX: f64 = 2.0;
/// Where more writes than this are slow whatever the number of blocks, nothing can be said.
const STALLS_MAX: f64 = 0.1;
/// What the laws can be wrong about that their posterior does not know.
const MODEL_DOUBT: f64 = 0.005;

/// What both orders' writes say, or why nothing can be said.
pub struct Search<'a> {
    data: &'a OpenUnitsData,
    /// What a slow write is.
    pub slowness: Slowness,
    /// In linear order.
    pub linear: Belief,
    /// In random order.
    pub random: Belief,
}

impl<'a> Search<'a> {
    /// Weighs every write of the experiment.
    ///
    /// # Errors
    /// Why it says nothing, and what would decide it.
    pub fn new(data: &'a OpenUnitsData) -> Result<Self, (String, String)> {
        let Some(slowness) = belief::unmerged(data) else {
            return Err((NOTHING.to_owned(), "write tests (--erase)".to_owned()));
        };
        if let Some(reason) = drift(data, slowness) {
            return Err((reason, "a stick whose cache is full, or empty, throughout".to_owned()));
        }
        let linear = belief::of(data, Order::Linear, slowness, Prior::Linear);
        let random = belief::of(data, Order::Random, slowness, Prior::after(&linear));
        Ok(Self { data, slowness, linear, random })
    }

    /// The writes themselves.
    pub const fn data(&self) -> &'a OpenUnitsData {
        self.data
    }

    /// The belief in one order.
    pub const fn belief(&self, order: Order) -> &Belief {
        match order {
            Order::Linear => &self.linear,
            Order::Random => &self.random,
        }
    }

    /// The number of units that fit, if one was found.
    pub fn fits(&self, order: Order) -> Option<u32> {
        let verdict = self.belief(order).verdict();
        // No more fit out of order than in order, so that there it need not be tried.
        let most = match order {
            Order::Linear => self.most(order),
            Order::Random => self.most(order).max(self.fits(Order::Linear).map_or(0, |linear| linear + 1)),
        };
        verdict.tells(most).then_some(verdict.number)
    }

    /// The most units that were written in turn.
    fn most(&self, order: Order) -> u32 {
        self.searched(order).map(|(open_units, _)| open_units).max().unwrap_or(0)
    }

    /// The writes of the search, with the number of units of their round.
    fn searched(&self, order: Order) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let request = self.data.cells.first().map(|cell| cell.request);
        let cells =
            self.data.cells.iter().filter(move |cell| cell.order == order && Some(cell.request) == request);
        cells.flat_map(|cell| cell.writes().map(|(_, latency)| (cell.open_units, latency)))
    }

    /// The typical time of a merge by itself, seconds, and how many were seen with more units than fit.
    pub fn merge(&self, order: Order, fits: u32) -> Option<(f64, usize)> {
        let slow: Vec<f64> = self
            .searched(order)
            .filter(|(open_units, latency)| *open_units > fits && self.slowness.is_slow(*latency))
            .map(|(_, latency)| latency.as_secs_f64() - self.slowness.typical_seconds())
            .collect();
        median(&slow).map(|seconds| (seconds, slow.len()))
    }

    /// What writes into as many units as fit take, and into more, on the average, seconds.
    fn contrast(&self, order: Order, fits: u32) -> (Option<f64>, Option<f64>) {
        let seconds = |wanted: &dyn Fn(u32) -> bool| -> Vec<f64> {
            let of = self.searched(order).filter(|(open_units, _)| wanted(*open_units));
            of.map(|(_, latency)| latency.as_secs_f64()).collect()
        };
        let within = median(&seconds(&|open_units| open_units <= fits));
        let beyond = seconds(&|open_units| open_units == fits + 1);
        let beyond = if beyond.is_empty() { seconds(&|open_units| open_units > fits) } else { beyond };
        (within, (!beyond.is_empty()).then(|| beyond.iter().sum::<f64>() / count(beyond.len())))
    }
}

const NOTHING: &str = "no writes into erase blocks in turn were measured";
const STALLS: &str = "slow writes come now and then whatever the number of blocks: they are no merges";

/// How many erase blocks can be written in turn, in this order inside each.
#[must_use]
pub fn open_units(search: &Result<Search<'_>, (String, String)>, order: Order) -> Finding {
    let id = match order {
        Order::Linear => FindingId::OpenUnitsLinear,
        Order::Random => FindingId::OpenUnitsRandom,
    };
    let search = match search {
        Ok(search) => search,
        Err((reason, would_decide)) => return Finding::unknown(id, reason, would_decide),
    };
    let belief = search.belief(order);
    if search.searched(order).next().is_none() {
        return Finding::unknown(id, NOTHING, "write tests (--erase)");
    }
    if belief.stalls() > STALLS_MAX {
        return Finding::unknown(id, STALLS, "a quieter machine, or a stick left alone for a while");
    }
    let verdict = belief.verdict();
    if search.fits(order).is_none() || belief.most_proven() < verdict.number {
        return undecided(id, belief, search.most(order));
    }
    let confidence = Confidence::new(verdict.probability * (1.0 - MODEL_DOUBT) * (1.0 - belief.stalls()));
    Finding::exact(id, Value::Count(verdict.number), confidence, evidence(search, order, verdict.number))
        .within(Value::Count(verdict.low), Value::Count(verdict.high))
}

fn undecided(id: FindingId, belief: &Belief, most: u32) -> Finding {
    let verdict = belief.verdict();
    let proven = belief.most_proven();
    if verdict.number >= most {
        let reason = format!("no merge was seen while writing into up to {proven} erase blocks in turn");
        return Finding::unknown(id, reason, "more units, on a larger device or with another erase block");
    }
    let reason = format!(
        "{proven} were open at once; the writes leave it between {} and {}",
        verdict.low, verdict.high
    );
    Finding::unknown(id, reason, "a larger budget, or a quieter machine")
}

/// Why nothing can be said: the same writes took another time at the end than at the start.
fn drift(data: &OpenUnitsData, slowness: Slowness) -> Option<String> {
    let start = slowness.typical_seconds();
    data.controls.iter().find_map(|control| {
        let Times::Each(times) = control else { return None };
        let now = median(&times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>())?;
        (now > start * DRIFT_MAX || now * DRIFT_MAX < start).then(|| {
            format!(
                "the same writes took {} at first and {} later: a cache filled up or was emptied",
                time(start),
                time(now)
            )
        })
    })
}

/// One sentence with the figures of one block too many.
pub fn evidence(search: &Search<'_>, order: Order, fits: u32) -> String {
    let how = match order {
        Order::Linear => "",
        Order::Random => ", each in random order,",
    };
    let (within, beyond) = search.contrast(order, fits);
    let beyond = time(beyond.unwrap_or(0.0));
    match within.filter(|_| fits > 0) {
        Some(within) => format!(
            "writing into more than {fits} blocks in turn{how} took {beyond} a request, into {fits} only {}",
            time(within)
        ),
        None => format!(
            "even one block in {} order took {beyond} a request, in linear order {}",
            order.as_str(),
            time(search.slowness.typical_seconds())
        ),
    }
}
