//! `cargo xtask true-speed`: the rows of `bench write` on every profile that comes with flashscope, held against what such a stick gives
//! where each row goes on for long.

use std::time::Duration;

use anyhow::{anyhow, bail};
use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device, Instant, Op, Pattern, Tag};
use flashscope_infer::streams::speed::{Speed as Row, speed_of};
use flashscope_measure::experiment::Speed;
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::observation::{Data, Direction, Order, SpeedCase, SpeedData};
use flashscope_sim::{Profile, Target, VirtualStick};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::{say, threads};

/// A row that differs by more is off.
const OFF: f64 = 0.03;
/// The long run lasts so long, unless it has so many bytes or requests earlier. The rarest stall of a profile comes after 4 GiB.
const LONG: Duration = Duration::from_secs(40_000);
const LONG_BYTES: Bytes = Bytes::gib(32);
/// A thorough row may be as long as that itself: its long run has to be longer.
const LONGER_BYTES: Bytes = Bytes::gib(64);
const LONG_REQUESTS: u64 = 400_000;
/// The stick of the long run has another seed, by so much.
const OTHER_SEED: u64 = 1000;

/// Which profiles, and what to print of them.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// How many sticks of each profile, with seeds from 1 on.
    #[arg(long, default_value_t = 2)]
    seeds: u64,
    /// Only profiles whose names hold this.
    #[arg(long, default_value = "")]
    profile: String,
    /// As `bench write --thorough`: rows that go on until they have met what comes only every few gibibytes.
    #[arg(long)]
    thorough: bool,
    /// Print every row, not only those that are off by more than 3 % or whose interval does not hold the truth.
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// One row of `bench write` beside the truth, bytes per second.
#[derive(Debug, Serialize)]
struct Held {
    profile: String,
    seed: u64,
    order: Order,
    request_bytes: Bytes,
    queue_depth: u32,
    bytes_per_s: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// Whether the row says that the speed that lasts may be another one.
    is_unsettled: bool,
    /// Why this is no speed of the stick, where the row says so.
    cached: Option<String>,
    seconds: f64,
    truth_bytes_per_s: f64,
}

impl Held {
    /// Whether the row tells a speed that is another one.
    fn is_off(&self) -> bool {
        self.told().is_some_and(|told| (told / self.truth_bytes_per_s - 1.0).abs() > OFF)
    }

    /// Whether it tells an interval that does not hold the truth.
    fn is_outside(&self) -> bool {
        let interval = self.low.zip(self.high).filter(|_| self.told().is_some());
        interval.is_some_and(|(low, high)| !(low..=high).contains(&self.truth_bytes_per_s))
    }

    fn told(&self) -> Option<f64> {
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
        bail!("no sticks: no profile has '{}' in its name, or --seeds is 0", arguments.profile);
    }
    let count = |is_so: fn(&Held) -> bool| rows.iter().filter(|row| is_so(row)).count();
    let (off, outside, cached) =
        (count(Held::is_off), count(Held::is_outside), count(|row| row.cached.is_some()));
    let says_so = count(|row| row.is_off() && row.is_unsettled);
    if arguments.json {
        let document = serde_json::json!({ "count": rows.len(), "off": off, "says_so": says_so, "outside": outside, "cached": cached, "rows": rows });
        return Ok(say(&(serde_json::to_string_pretty(&document)? + "\n"))?);
    }
    let shown = rows.iter().filter(|row| arguments.all || row.is_off() || row.is_outside());
    let total = format!(
        "{} rows: {off} off by more than 3 % ({says_so} of them say that what lasts may be another speed), {outside} whose interval does not hold the truth, {cached} that say they are no speed\n",
        rows.len()
    );
    Ok(say(&(shown.map(Held::line).collect::<String>() + &total))?)
}

/// The rows of all sticks, on as many threads as the machine has cores; in order of their names.
fn all(arguments: &Arguments) -> anyhow::Result<Vec<Held>> {
    let names = Profile::builtin_names().filter(|name| name.contains(&arguments.profile));
    let sticks: Vec<(&str, u64)> =
        names.flat_map(|name| (1..=arguments.seeds).map(move |seed| (name, seed))).collect();
    let rows = threads::each(sticks.len() as u64, |index| {
        let (name, seed) = sticks[index as usize];
        rows(name, seed, arguments.thorough)
    })?;
    let mut all: Vec<Held> = rows.into_iter().flatten().collect();
    all.sort_by(|one, other| (&one.profile, one.seed).cmp(&(&other.profile, other.seed)));
    Ok(all)
}

/// Every usual row of writes on this stick, beside the same requests behind the same rows, going on.
fn rows(name: &str, seed: u64, is_thorough: bool) -> anyhow::Result<Vec<Held>> {
    let target = Target::parse(&format!("{name}?seed={seed}"))?;
    let cases = Speed::usual_cases(Direction::Write);
    let data = measured(&mut target.device()?, &cases, seed, is_thorough)?;
    let long = if is_thorough { LONGER_BYTES } else { LONG_BYTES };
    let mut rows = Vec::new();
    for (index, cell) in data.cells.iter().enumerate() {
        // What a counterfeit drops is no speed of its flash.
        let mut stick = VirtualStick::new(&target.profile, seed + OTHER_SEED);
        measured(&mut stick, cases.get(..index).unwrap_or_default(), seed, is_thorough)?;
        let speed = speed_of(&data, cell);
        let figure = |of: fn(&Row) -> f64| speed.as_ref().map(of);
        rows.push(Held {
            profile: name.to_owned(),
            seed,
            order: cell.case.order,
            request_bytes: cell.case.request,
            queue_depth: cell.case.queue_depth,
            bytes_per_s: figure(|speed| speed.bytes_per_s),
            low: figure(|speed| speed.bytes_per_s_low),
            high: figure(|speed| speed.bytes_per_s_high),
            is_unsettled: speed.as_ref().is_some_and(|speed| speed.unsettled.is_some()),
            cached: speed.as_ref().and_then(|speed| speed.cached.clone()),
            seconds: cell.ended_ns.last().map_or(0.0, |ended| Duration::from_nanos(*ended).as_secs_f64()),
            truth_bytes_per_s: LongRun::new(&mut stick, cell.case, seed).bytes_per_s(long)?,
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
    let experiment = Speed { cases: cases.to_vec(), link: None, is_buffered: false, is_thorough, seed };
    match experiment.measure(device, &Budget::UNLIMITED, &mut Silent).data {
        Data::Speed(data) => Ok(data),
        _ => bail!("the rows saw something else"),
    }
}

/// Writes of one kind that go on for long.
struct LongRun<'a> {
    stick: &'a mut VirtualStick,
    case: SpeedCase,
    start: Bytes,
    places: u64,
    made: u64,
    random: Xoshiro256PlusPlus,
    pattern: Pattern,
}

impl<'a> LongRun<'a> {
    fn new(stick: &'a mut VirtualStick, case: SpeedCase, seed: u64) -> Self {
        let capacity = stick.capabilities().capacity;
        let start = Bytes::mib(32).min(capacity / 8).round_down(case.request);
        let places = (capacity - start) / case.request;
        let random = Xoshiro256PlusPlus::seed_from_u64(seed + OTHER_SEED);
        Self { stick, case, start, places, made: 0, random, pattern: Pattern::new(seed + OTHER_SEED) }
    }

    /// The speed of the later half of so many bytes.
    fn bytes_per_s(mut self, long: Bytes) -> anyhow::Result<f64> {
        let most = (long / self.case.request).min(LONG_REQUESTS);
        let began = self.stick.now();
        let mut done = 0;
        let mut half: Option<(u64, Instant)> = None;
        while self.made < most && self.stick.now().since(began) < LONG {
            while self.made - done < u64::from(self.case.queue_depth) {
                self.submit()?;
            }
            self.stick.wait()?;
            done += 1;
            if half.is_none() && (done * 2 >= most || self.stick.now().since(began) * 2 >= LONG) {
                half = Some((done, self.stick.now()));
            }
        }
        let (before, at) = half.ok_or_else(|| anyhow!("one write took all of the time"))?;
        let seconds = self.stick.now().since(at).as_secs_f64();
        while self.stick.wait()?.is_some() {}
        Ok((self.case.request * (done - before)).as_f64() / seconds)
    }

    fn submit(&mut self) -> anyhow::Result<()> {
        let place = match self.case.order {
            // From the middle on: the rows before have written at the start.
            Order::Linear => self.places / 2 + self.made,
            Order::Random => self.random.next_u64(),
        };
        self.pattern = self.pattern.next_generation();
        let range = ByteRange::new(self.start + self.case.request * (place % self.places), self.case.request);
        self.made += 1;
        Ok(self.stick.submit(Tag::default(), Op::write(range, self.pattern))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of all profiles stand in docs/methods/speed.md.
    #[test]
    fn rows_of_a_counterfeit_are_right_or_say_that_they_are_no_speed() {
        let rows = rows("counterfeit-128g-limbo", 1, false).unwrap();
        assert_eq!(rows.len(), 8);
        assert_eq!(rows.iter().filter(|row| row.cached.is_some()).count(), 5, "{rows:#?}");
        assert!(rows.iter().all(|row| !row.is_off()), "{rows:#?}");
    }
}
