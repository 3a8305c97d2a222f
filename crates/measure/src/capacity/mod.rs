//! The true capacity of a device: a quick test that is exact about what it finds.
//!
//! A stamped run at the top, more than the cache bound long, is read back oldest first. Wrap-around of any
//! period is found by reading below the run. The boundary of dropped writes is found by k-ary search. A short
//! run comes before the long one, which most counterfeits then do not need.
//! `docs/methods/capacity.md` describes the procedure and what it cannot see.

mod alias;
mod boundary;
pub mod full;
mod judge;
mod probe;
mod stamped;
mod verdict;

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceError};
use flashscope_record::capacity::{CapacityKind, CapacityVerdict};

use crate::contract::{Estimate, Expected, Observer};

use alias::{Alias, Period, Scan};
use boundary::{Boundary, Search};
use judge::Shape;
use stamped::{Found, Place, RequestSizes, Run, Stamped};
use verdict::Outcome;

pub use probe::{Limits, probe, probe_stage};

/// The default cache bound. Guess: 16 times what a controller's memory holds; f3probe excludes 1 GiB, and
/// the largest cache in its own test that a quick test must see has 256 MiB.
pub const CACHE_BOUND_DEFAULT: Bytes = Bytes::mib(256);
/// The largest cache bound. Guess: writes 64 GiB, which takes hours on a slow stick.
pub const CACHE_BOUND_MAX: Bytes = Bytes::gib(64);

/// The run exceeds the cache bound by this part of it, at least by [`MARGIN_MIN`].
const MARGIN_PART: u64 = 16;
const MARGIN_MIN: Bytes = Bytes::mib(4);
/// The length of the short run. Guess: 16 times the cache of the fakes that f3probe finds with the fewest
/// writes.
const SHORT_RUN: Bytes = Bytes::mib(16);
/// The short run is at least this part of the device, so that the scan below it takes at most as many reads.
const SHORT_RUN_PART: u64 = 4096;
/// The short run is at most this part of the long one: a longer one costs genuine devices too much.
const SHORT_OF_LONG: u64 = 4;
/// A run begins on a multiple of this size, so that it opens few erase blocks.
const ALIGNMENT: Bytes = Bytes::mib(1);
/// Places that are read back in the run. A bad part of 2/240 is always found.
const SAMPLES: u64 = 240;
/// Places that are read back first, among the oldest of the run.
const OLDEST: u64 = 16;
/// Places that are written below the run, before it. A bad part of 2/63 is always found.
const PROBES: u64 = 63;
/// Places of the run whose contents are read before they are written.
const BEFORE: usize = 32;
/// Every eighth place of a run is read once more, for its latency. Guess: 32 are enough for a median.
const LATENCY_STEP: u64 = 8;
/// Bad places that are written and read a second time.
const SECOND_WRITES_MAX: usize = 64;

/// What to verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// A cache up to this size must not hide a false capacity.
    pub cache_bound: Bytes,
    /// The random seed. Each run on a real device needs its own, so that old stamps are not taken for new.
    pub seed: u64,
}

/// What a run at the top shows, and the probes below it.
struct Look {
    probes: Vec<Place>,
    samples: Vec<Place>,
    run: Run,
    scan: Scan,
    latency: Duration,
}

impl Look {
    fn outcome(&self) -> Outcome {
        Outcome::new(self.probes.iter().chain(&self.samples).copied().collect())
    }

    /// Places that hold the stamp of another address.
    fn aliases(&self) -> Vec<Alias> {
        let own = self.probes.iter().chain(&self.samples).filter_map(|place| match place.found {
            Found::OtherAddress(home) => Some(Alias { at: place.at, home }),
            _ => None,
        });
        own.chain(self.scan.alias).collect()
    }
}

/// The cost of a device without a false capacity; others cost a few times as much.
#[must_use]
pub fn estimate(device: &dyn Device, cache_bound: Bytes) -> Estimate {
    let capabilities = device.capabilities();
    let (capacity, sizes) = (capabilities.capacity, RequestSizes::of(&capabilities));
    let long = top_run(capacity, cache_bound);
    let runs = [short_run(capacity, long), Some(long)];
    // The probes end with a flush.
    let (mut requests, mut bytes_written) = (PROBES + 1, Bytes::ZERO);
    // The last place of a run is read as well.
    let samples = SAMPLES + OLDEST + 1;
    for run in runs.into_iter().flatten() {
        let scan = alias::reads_max(capacity, run.length, sizes.unit);
        // Its writes end with a flush.
        let writes = sizes.writes_max(run.length) + 1;
        requests += PROBES + samples + samples.div_ceil(LATENCY_STEP) + BEFORE as u64 + writes + scan;
        bytes_written += run.length;
    }
    let expected = Expected::transfer(bytes_written, Bytes::ZERO);
    Estimate { requests, bytes_written, expected }
}

/// Finds out what the device stores. Writes to it.
///
/// # Errors
/// [`DeviceError`] if the device failed, or a budget or an interrupt ended it.
pub fn verify(
    device: &mut dyn Device,
    settings: Settings,
    observer: &mut dyn Observer,
) -> Result<CapacityVerdict, DeviceError> {
    let estimate = estimate(device, settings.cache_bound);
    let mut io = Stamped::begin(device, settings.seed, estimate, observer);
    let range = top_run(io.capacity, settings.cache_bound);
    let outcome = procedure(&mut io, range);
    io.end();
    let outcome = outcome?;
    let cache_excluded = settings.cache_bound.min(range.length);
    Ok(outcome.verdict(&io, settings.seed, cache_excluded))
}

/// A short run first, then the one at `range`, unless the short one shows what there is to know.
fn procedure(io: &mut Stamped<'_>, range: ByteRange) -> Result<Outcome, DeviceError> {
    let offsets = io.stratified(ByteRange::new(Bytes::ZERO, range.offset), PROBES);
    let probes = io.write_places(&offsets)?;
    if let Some(short) = short_run(io.capacity, range) {
        let short = look(io, short, probes.clone())?;
        if let Some(outcome) = decide_early(io, short, range)? {
            return Ok(outcome);
        }
    }
    let long = look(io, range, probes)?;
    decide(io, long, range)
}

/// The run: a little more than the cache bound, at the top.
fn top_run(capacity: Bytes, cache_bound: Bytes) -> ByteRange {
    run_below(capacity, cache_bound + margin(cache_bound))
}

/// The short run at the top; `None` if it would not be much shorter than the long one.
fn short_run(capacity: Bytes, long: ByteRange) -> Option<ByteRange> {
    let run = run_below(capacity, SHORT_RUN.max(capacity / SHORT_RUN_PART));
    (run.length * SHORT_OF_LONG <= long.length).then_some(run)
}

fn margin(cache_bound: Bytes) -> Bytes {
    (cache_bound / MARGIN_PART).max(MARGIN_MIN)
}

/// A run of this length, or a little more, that ends at `end`.
fn run_below(end: Bytes, length: Bytes) -> ByteRange {
    let start = end.saturating_sub(length).round_down(ALIGNMENT);
    ByteRange::new(start, end - start)
}

/// Writes a run, reads it and the probes back, and reads below it.
fn look(io: &mut Stamped<'_>, range: ByteRange, mut probes: Vec<Place>) -> Result<Look, DeviceError> {
    let (run, samples) = run_and_samples(io, range)?;
    io.read_places(&mut probes)?;
    let scan = alias::scan(io, range, run.pass)?;
    let mut latencies = Vec::new();
    for place in samples.iter().filter(|place| place.is_kept()).step_by(LATENCY_STEP as usize) {
        latencies.push(io.read(place.at, place.pass)?.1);
    }
    let latency = verdict::median(&mut latencies);
    Ok(Look { probes, samples, run, scan, latency })
}

/// Writes a run and reads it back: the oldest places first, then others in random order.
fn run_and_samples(io: &mut Stamped<'_>, range: ByteRange) -> Result<(Run, Vec<Place>), DeviceError> {
    let old = ByteRange::new(range.offset, (range.length / MARGIN_PART).round_up(io.unit).min(range.length));
    let mut oldest = io.stratified(old, OLDEST);
    let mut others = io.stratified(range, SAMPLES);
    others.retain(|at| !oldest.contains(at));
    others.extend((range.length > io.unit).then(|| range.end() - io.unit));
    others.dedup();
    let mut before = Vec::new();
    for at in others.iter().step_by(others.len().div_ceil(BEFORE).max(1)) {
        before.push((*at, io.hash(*at)?));
    }
    let run = io.write_run(range)?;
    oldest.retain(|at| *at < run.range.end());
    others.retain(|at| *at < run.range.end());
    let mut samples = Vec::new();
    for offsets in [oldest, others] {
        let mut places: Vec<Place> = offsets.iter().map(|at| place(*at, &run, &before)).collect();
        io.read_places(&mut places)?;
        samples.extend(places);
    }
    samples.sort_by_key(|place| place.at);
    Ok((run, samples))
}

fn place(at: Bytes, run: &Run, before: &[(Bytes, Option<u64>)]) -> Place {
    let before = before.iter().find(|(offset, _)| *offset == at).and_then(|(_, hash)| *hash);
    let is_failed = run.failed.iter().any(|range| (range.offset..range.end()).contains(&at));
    let found = if is_failed { Found::WriteError } else { Found::Kept };
    Place { at, pass: run.pass, before, found }
}

/// The outcome, if a short run decides: addresses wrap around, or all but a small cache is lost beyond a
/// boundary. `long` is the run that any second one is as long as.
fn decide_early(io: &mut Stamped<'_>, short: Look, long: ByteRange) -> Result<Option<Outcome>, DeviceError> {
    let outcome = short.outcome();
    match alias::period(io, &short.aliases(), short.run.range)? {
        Some(Period::Wrap(period)) => return wrap(io, outcome, period, long.length).map(Some),
        Some(Period::Cache(_)) => return Ok(None),
        None => {}
    }
    match judge::shape(&short.probes, &short.samples, io.unit) {
        Shape::Boundary { low, high, is_broken: false }
            if judge::is_mostly_lost(&short.probes, &short.samples) =>
        {
            of_boundary(io, &short, outcome, (low, high, false), long).map(Some)
        }
        _ => Ok(None),
    }
}

fn decide(io: &mut Stamped<'_>, long: Look, range: ByteRange) -> Result<Outcome, DeviceError> {
    let mut outcome = long.outcome();
    outcome.hint_mapping(&long.scan, long.latency);
    match alias::period(io, &long.aliases(), long.run.range)? {
        Some(Period::Wrap(period)) => return wrap(io, outcome, period, range.length),
        Some(Period::Cache(size)) => outcome.cache_seen = Some(size),
        None => {}
    }
    match judge::shape(&long.probes, &long.samples, io.unit) {
        Shape::Kept => Ok(outcome),
        Shape::Scattered { .. } => scattered(io, outcome, long.run.range),
        Shape::Boundary { low, high, is_broken } => {
            of_boundary(io, &long, outcome, (low, high, is_broken), long.run.range)
        }
    }
}

/// Searches for the boundary that a run shows. `whole` is overwritten where the run is too short for that,
/// and a second run is as long.
fn of_boundary(
    io: &mut Stamped<'_>,
    look: &Look,
    mut outcome: Outcome,
    (low, high, is_broken): (Bytes, Bytes, bool),
    whole: ByteRange,
) -> Result<Outcome, DeviceError> {
    let search = search(&mut outcome, &look.probes, &look.samples, look.run.range);
    let beyond = judge::beyond(&outcome.places, high);
    let found = find_boundary(io, (low, high, beyond), &search, whole, is_broken)?;
    boundary_outcome(io, outcome, found, is_broken, &search, whole.length)
}

/// How to search for the boundary: overwrite more than the cache that the run shows.
fn search(outcome: &mut Outcome, probes: &[Place], samples: &[Place], run: ByteRange) -> Search {
    let bad = || outcome.places.iter().filter(|place| !place.is_kept());
    let failed = bad().filter(|place| matches!(place.found, Found::ReadError | Found::WriteError)).count();
    if 2 * failed > bad().count() {
        return Search {
            is_failing: true,
            is_broken: false,
            overwrite: ByteRange::new(run.offset, Bytes::ZERO),
        };
    }
    let cached = judge::cached_end(probes, samples);
    outcome.cache_seen = outcome.cache_seen.max(cached.map(|cached| run.end() - cached.start));
    // Two strata more: the samples show the cache's size with an uncertainty of one. A cache that does not
    // evict the oldest first keeps some data for much longer.
    let is_mixed = cached.is_some_and(|cached| cached.is_mixed);
    let size = outcome.cache_seen.unwrap_or_default() + run.length * 2 / SAMPLES;
    let length = if is_mixed { run.length } else { size };
    let first_bad = samples.iter().find(|place| !place.is_kept()).map_or(run.offset, |place| place.at);
    let length = length.round_up(ALIGNMENT).min(run.end() - first_bad);
    Search { is_failing: false, is_broken: false, overwrite: ByteRange::new(first_bad, length) }
}

/// The boundary. Searched again with the whole run in between if the first answer is not confirmed, or if
/// places below it are bad that the first pass did not show: then a cache answered.
fn find_boundary(
    io: &mut Stamped<'_>,
    (low, high, beyond): (Bytes, Bytes, Bytes),
    search: &Search,
    run: ByteRange,
    is_broken: bool,
) -> Result<Boundary, DeviceError> {
    let found = boundary::find(io, (low, high), &Search { is_broken, ..*search })?;
    let is_whole = is_broken || found.below.iter().all(Place::is_kept);
    if (found.is_confirmed && is_whole) || search.is_failing {
        return Ok(found);
    }
    let is_broken = is_broken || !is_whole;
    let high = if is_broken { beyond } else { high };
    // Overwriting begins above the bracket: it must not replace the probes themselves.
    let start = run.offset.max(high);
    let overwrite = ByteRange::new(start, run.end().saturating_sub(start));
    boundary::find(io, (Bytes::ZERO, high), &Search { is_broken, overwrite, ..*search })
}

/// The outcome of a boundary. Bad places below it are those of a chain, or scattered ones: a run below the
/// boundary decides.
fn boundary_outcome(
    io: &mut Stamped<'_>,
    mut outcome: Outcome,
    found: Boundary,
    is_broken: bool,
    search: &Search,
    length: Bytes,
) -> Result<Outcome, DeviceError> {
    let is_broken = is_broken || found.below.iter().any(|place| !place.is_kept());
    outcome.kind = if search.is_failing { CapacityKind::Errors } else { CapacityKind::Dropped };
    outcome.true_size = Some(found.at);
    outcome.add(found.below);
    if !is_broken || found.at.is_zero() {
        return Ok(outcome);
    }
    let (below, samples) = run_and_samples(io, run_below(found.at, length))?;
    let kept_from = judge::kept_end(&samples).unwrap_or(below.range.offset).min(found.at);
    outcome.add(samples);
    let kept = ByteRange::new(kept_from, found.at - kept_from);
    let scan = alias::scan(io, kept, below.pass)?;
    let aliases: Vec<Alias> = scan.alias.into_iter().collect();
    if let Some(Period::Wrap(period)) = alias::period(io, &aliases, kept)? {
        let rest = found.at % period;
        outcome.kind = CapacityKind::Chain;
        outcome.wrap_period = Some(period);
        outcome.true_size = Some(if rest.is_zero() { period } else { rest });
        return Ok(outcome);
    }
    // Where requests fail below the boundary too, it is no end of the flash: more of them failed there.
    let is_failing = search.is_failing;
    outcome.kind = if is_failing { CapacityKind::Scattered } else { CapacityKind::Mixed };
    Ok(outcome)
}

/// Addresses wrap around. A run at the top of the period shows whether all of it is stored.
fn wrap(
    io: &mut Stamped<'_>,
    mut outcome: Outcome,
    period: Bytes,
    length: Bytes,
) -> Result<Outcome, DeviceError> {
    outcome.kind = CapacityKind::Wrap;
    outcome.wrap_period = Some(period);
    outcome.true_size = Some(period);
    let (run, samples) = run_and_samples(io, run_below(period, length))?;
    match judge::shape(&[], &samples, io.unit) {
        Shape::Kept => {}
        Shape::Scattered { is_few: true } => {}
        Shape::Scattered { is_few: false } => {
            outcome.kind = CapacityKind::Mixed;
            outcome.add(samples);
        }
        Shape::Boundary { low, high, is_broken } => {
            let search = search(&mut outcome, &[], &samples, run.range);
            let beyond = judge::beyond(&samples, high);
            let found = find_boundary(io, (low, high, beyond), &search, run.range, is_broken)?;
            outcome.kind = CapacityKind::Chain;
            outcome.true_size = Some(found.at);
            outcome.add(found.below);
        }
    }
    Ok(outcome)
}

/// Bad places without a boundary: wrong only if a second write is wrong too.
fn scattered(io: &mut Stamped<'_>, mut outcome: Outcome, run: ByteRange) -> Result<Outcome, DeviceError> {
    let mut bad: Vec<Bytes> =
        outcome.places.iter().filter(|place| !place.is_kept()).map(|place| place.at).collect();
    bad.sort_unstable();
    let step = bad.len().div_ceil(SECOND_WRITES_MAX).max(1);
    let offsets: Vec<Bytes> = bad.iter().step_by(step).copied().collect();
    let mut again = io.write_places(&offsets)?;
    let length = (run.length / MARGIN_PART).round_up(io.unit).min(run.length);
    io.write_run(ByteRange::new(run.offset, length))?;
    io.read_places(&mut again)?;
    let kept = again.iter().filter(|place| place.is_kept()).count();
    io.wrong_once += kept as u64;
    if kept < again.len() {
        outcome.kind = CapacityKind::Scattered;
    }
    outcome.replace(&again);
    Ok(outcome)
}
