//! `cargo xtask validate true-speed`: the rows of `bench write` on every built-in profile, compared with the
//! throughput of a long run of the same requests.

use std::time::Duration;

use anyhow::{anyhow, bail};
use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device, Instant, Op, Pattern, Tag};
use flashscope_infer::streams::speed::{Speed as Row, speed_of};
use flashscope_measure::experiment::Speed;
use flashscope_measure::{Experiment as _, Extent, Silent};
use flashscope_record::observation::{Data, Direction, Order, SpeedCase, SpeedData};
use flashscope_report::words;
use flashscope_sim::{Profile, Target, VirtualStick};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::output::print;
use crate::threads;

/// The largest relative error of a correct row.
const ERROR_MAX: f64 = 0.03;
// The long run ends at the first of these limits. The rarest stall of a profile occurs once per 4 GiB: 32 GiB
// hold eight.
const RUN_TIME_MAX: Duration = Duration::from_secs(40_000);
const RUN_BYTES_MAX: Bytes = Bytes::gib(32);
const RUN_REQUESTS_MAX: u64 = 400_000;
/// The limit of the long run beside a thorough row, which may itself have 32 GiB.
const THOROUGH_RUN_BYTES_MAX: Bytes = Bytes::gib(64);
/// Added to the seed for the stick of the long run, so that both have different noise.
const SEED_OFFSET: u64 = 1000;

/// Which profiles, and what to print.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Sticks of each profile, with the seeds 1, 2, …
    #[arg(long, default_value_t = 2)]
    seeds: u64,
    /// Only profiles with this text in their name
    #[arg(long, default_value = "")]
    profile: String,
    /// As `bench write --thorough`: rows that last until they include rare stalls
    #[arg(long)]
    thorough: bool,
    /// Print every row, not only those that differ by more than 3 % or whose interval misses the truth
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// One row of `bench write` and the truth, bytes per second.
#[derive(Debug, Serialize)]
struct ComparedRow {
    profile: String,
    seed: u64,
    order: Order,
    request_bytes: Bytes,
    queue_depth: u32,
    bytes_per_s: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// Whether the row warns that the steady-state throughput may differ.
    is_unsettled: bool,
    /// Why the row is not a speed of the flash, if it says so.
    cached: Option<String>,
    seconds: f64,
    truth_bytes_per_s: f64,
}

impl ComparedRow {
    /// Whether the reported speed differs by more than 3 %.
    fn is_off(&self) -> bool {
        self.reported().is_some_and(|reported| (reported / self.truth_bytes_per_s - 1.0).abs() > ERROR_MAX)
    }

    /// Whether the reported interval misses the truth.
    fn is_outside(&self) -> bool {
        let interval = self.low.zip(self.high).filter(|_| self.reported().is_some());
        interval.is_some_and(|(low, high)| !(low..=high).contains(&self.truth_bytes_per_s))
    }

    /// The speed that the row reports as one of the flash.
    fn reported(&self) -> Option<f64> {
        self.bytes_per_s.filter(|_| self.cached.is_none())
    }

    fn line(&self) -> String {
        let Self { profile, seed, order, request_bytes, queue_depth, seconds, .. } = self;
        let megabytes =
            |figure: Option<f64>| figure.map_or_else(String::new, |it| format!("{:.4}", it / 1e6));
        let words = [
            (self.is_off(), "off"),
            (self.is_outside(), "outside"),
            (self.is_unsettled, "unsettled"),
            (self.cached.is_some(), "cached"),
        ];
        let words: Vec<&str> = words.iter().filter(|(is_so, _)| *is_so).map(|(_, word)| *word).collect();
        let ratio = self.bytes_per_s.unwrap_or(f64::NAN) / self.truth_bytes_per_s;
        format!(
            "{profile:24} {seed:2} {:7} {:>7} x{queue_depth:<2} {:>10} ({} to {}), truth {:>10}: {ratio:.3} {} in {seconds:.0} s\n",
            order.as_str(),
            request_bytes.to_string(),
            megabytes(self.bytes_per_s),
            megabytes(self.low),
            megabytes(self.high),
            megabytes(Some(self.truth_bytes_per_s)),
            words.join(", ")
        )
    }
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let rows = all(arguments)?;
    if rows.is_empty() {
        bail!("no profile has '{}' in its name, or --seeds is 0", arguments.profile);
    }
    let count = |is_so: fn(&ComparedRow) -> bool| rows.iter().filter(|row| is_so(row)).count();
    let (off, outside, cached) =
        (count(ComparedRow::is_off), count(ComparedRow::is_outside), count(|row| row.cached.is_some()));
    let warned = count(|row| row.is_off() && row.is_unsettled);
    if arguments.json {
        let document = serde_json::json!({ "count": rows.len(), "off": off, "says_so": warned, "outside": outside, "cached": cached, "rows": rows });
        return Ok(print(&(serde_json::to_string_pretty(&document)? + "\n"))?);
    }
    let shown = rows.iter().filter(|row| arguments.all || row.is_off() || row.is_outside());
    let total = format!(
        "{} rows: {off} differ by more than 3 % ({warned} of them warn of it), {outside} intervals miss the truth, {cached} are marked as cached\n",
        rows.len()
    );
    Ok(print(&(shown.map(ComparedRow::line).collect::<String>() + &total))?)
}

/// The rows of all sticks in order of their names, on one thread per core.
fn all(arguments: &Arguments) -> anyhow::Result<Vec<ComparedRow>> {
    let names = Profile::builtin_names().filter(|name| name.contains(&arguments.profile));
    let sticks: Vec<(&str, u64)> =
        names.flat_map(|name| (1..=arguments.seeds).map(move |seed| (name, seed))).collect();
    let rows = threads::each(sticks.len() as u64, |index| {
        let (name, seed) = sticks[index as usize];
        rows(name, seed, arguments.thorough)
    })?;
    let mut all: Vec<ComparedRow> = rows.into_iter().flatten().collect();
    all.sort_by(|one, other| (&one.profile, one.seed).cmp(&(&other.profile, other.seed)));
    Ok(all)
}

/// Every default row of `bench write` on this stick, compared with a long run of the same requests. Both
/// follow the same earlier rows.
fn rows(name: &str, seed: u64, is_thorough: bool) -> anyhow::Result<Vec<ComparedRow>> {
    let target = Target::parse(&format!("{name}?seed={seed}"))?;
    let cases = Speed::default_cases(Direction::Write);
    let data = measured(&mut target.device()?, &cases, seed, is_thorough)?;
    let bytes = if is_thorough { THOROUGH_RUN_BYTES_MAX } else { RUN_BYTES_MAX };
    let mut rows = Vec::new();
    for (index, cell) in data.cells.iter().enumerate() {
        // Without the faults of the target: dropped writes of a counterfeit are not a speed of its flash.
        let mut stick = VirtualStick::new(&target.profile, seed + SEED_OFFSET);
        measured(&mut stick, cases.get(..index).unwrap_or_default(), seed, is_thorough)?;
        let speed = speed_of(&data, cell);
        let figure = |of: fn(&Row) -> f64| speed.as_ref().map(of);
        rows.push(ComparedRow {
            profile: name.to_owned(),
            seed,
            order: cell.case.order,
            request_bytes: cell.case.request,
            queue_depth: cell.case.queue_depth,
            bytes_per_s: figure(|speed| speed.bytes_per_s),
            low: figure(|speed| speed.bytes_per_s_low),
            high: figure(|speed| speed.bytes_per_s_high),
            is_unsettled: speed.as_ref().is_some_and(|speed| speed.unsettled.is_some()),
            cached: speed.as_ref().and_then(|speed| speed.cached.as_ref().map(words::cached)),
            seconds: cell.ended_ns.last().map_or(0.0, |ended| Duration::from_nanos(*ended).as_secs_f64()),
            truth_bytes_per_s: LongRun::new(&mut stick, cell.case, seed).bytes_per_s(bytes)?,
        });
    }
    Ok(rows)
}

fn measured(
    device: &mut dyn Device,
    cases: &[SpeedCase],
    seed: u64,
    is_thorough: bool,
) -> anyhow::Result<SpeedData> {
    let experiment = Speed {
        cases: cases.to_vec(),
        link: None,
        is_buffered: false,
        extent: Extent::thorough_if(is_thorough),
        seed,
    };
    match experiment.measure(device, &Budget::UNLIMITED, &mut Silent).data {
        Data::Speed(data) => Ok(data),
        _ => bail!("bench returned no speeds"),
    }
}

/// A long run of the writes of one row.
struct LongRun<'a> {
    stick: &'a mut VirtualStick,
    case: SpeedCase,
    start: Bytes,
    slots: u64,
    made: u64,
    random: Xoshiro256PlusPlus,
    pattern: Pattern,
}

impl<'a> LongRun<'a> {
    fn new(stick: &'a mut VirtualStick, case: SpeedCase, seed: u64) -> Self {
        let capacity = stick.capabilities().capacity;
        let start = Bytes::mib(32).min(capacity / 8).round_down(case.request);
        let slots = (capacity - start) / case.request;
        let random = Xoshiro256PlusPlus::seed_from_u64(seed + SEED_OFFSET);
        Self { stick, case, start, slots, made: 0, random, pattern: Pattern::new(seed + SEED_OFFSET) }
    }

    /// The throughput of the second half of `bytes`.
    fn bytes_per_s(mut self, bytes: Bytes) -> anyhow::Result<f64> {
        let requests = (bytes / self.case.request).min(RUN_REQUESTS_MAX);
        let started_at = self.stick.now();
        let mut done = 0;
        let mut half: Option<(u64, Instant)> = None;
        while self.made < requests && self.stick.now().since(started_at) < RUN_TIME_MAX {
            while self.made - done < u64::from(self.case.queue_depth) {
                self.submit()?;
            }
            self.stick.wait()?;
            done += 1;
            if half.is_none()
                && (done * 2 >= requests || self.stick.now().since(started_at) * 2 >= RUN_TIME_MAX)
            {
                half = Some((done, self.stick.now()));
            }
        }
        let (before, at) = half.ok_or_else(|| anyhow!("one write took the whole time limit"))?;
        let seconds = self.stick.now().since(at).as_secs_f64();
        while self.stick.wait()?.is_some() {}
        Ok((self.case.request * (done - before)).as_f64() / seconds)
    }

    fn submit(&mut self) -> anyhow::Result<()> {
        let slot = match self.case.order {
            // Start in the middle, because the earlier rows wrote at the start.
            Order::Linear => self.slots / 2 + self.made,
            Order::Random => self.random.next_u64(),
        };
        self.pattern = self.pattern.next_generation();
        let range = ByteRange::new(self.start + self.case.request * (slot % self.slots), self.case.request);
        self.made += 1;
        Ok(self.stick.submit(Tag::default(), Op::write(range, self.pattern))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/methods/speed.md has the results of all profiles.
    #[test]
    fn rows_of_a_counterfeit_are_correct_or_marked_as_cached() {
        let rows = rows("counterfeit-128g-limbo", 1, false).unwrap();
        assert_eq!(rows.len(), 8);
        assert_eq!(rows.iter().filter(|row| row.cached.is_some()).count(), 5, "{rows:#?}");
        assert!(rows.iter().all(|row| !row.is_off()), "{rows:#?}");
    }
}
