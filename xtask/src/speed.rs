//! `cargo xtask speed`: how many requests a second virtual sticks serve on one core, their contents included; and what a large
//! stick in its steady state takes to make.

use std::fs;
use std::time::Duration;

use anyhow::Context;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{Basis, CollectionVictim, PageMapped, Policy, State};
use flashscope_sim::{Profile, VirtualStick};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::say;

/// What to measure, and how to say it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// How often each work is done; the best round counts, since whatever else the machine does only slows it down.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
}

// A round of some 20 ms: long beside the clock, short enough that one of them is disturbed by nothing.
const REQUESTS: u32 = 200_000;

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let document = Document::measure(arguments.rounds)?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&document)?
            + "
"
    } else {
        document.text()
    };
    Ok(say(&text)?)
}

#[derive(Debug, Serialize)]
struct Document {
    rows: Vec<Row>,
    /// A full page-mapped stick of 64 GB, made in its steady state.
    steady_state: Making,
}

#[derive(Debug, Serialize)]
struct Row {
    work: &'static str,
    requests_per_s: f64,
}

/// What a stick takes to make.
#[derive(Debug, Serialize)]
struct Making {
    capacity_bytes: Bytes,
    seconds: f64,
    /// Memory of the process for it, once each of its bytes was written with the pattern.
    memory_bytes: u64,
}

impl Document {
    fn measure(rounds: u32) -> anyhow::Result<Self> {
        let steady_state = Making::measure(rounds)?;
        let rows = WORKS.iter().map(|work| work.measure(rounds)).collect::<anyhow::Result<_>>()?;
        Ok(Self { rows, steady_state })
    }

    fn text(&self) -> String {
        let rows = self.rows.iter().map(|Row { work, requests_per_s }| {
            format!("{work:<48} {:>7.2} M requests/s\n", requests_per_s / 1e6)
        });
        let Making { capacity_bytes, seconds, memory_bytes } = &self.steady_state;
        let name = format!("steady state of a full stick of {capacity_bytes}");
        let making = format!("{name:<48} {:>7.1} ms, {}\n", seconds * 1e3, Bytes::new(*memory_bytes));
        rows.chain([making]).collect()
    }
}

impl Making {
    fn measure(rounds: u32) -> anyhow::Result<Self> {
        let profile = page_mapped(Bytes::mib(61_036))?;
        let memory_before = resident_bytes()?;
        let mut stick = VirtualStick::new(&profile, 1);
        let whole = stick.capabilities().whole();
        let length = Bytes::mib(1);
        for place in 0..whole.length / length {
            stick.run(Op::write(ByteRange::new(length * place, length), Pattern::new(1)))?.outcome?;
        }
        let memory_bytes = resident_bytes()?.saturating_sub(memory_before);
        drop(stick);
        let seconds = (0..rounds).map(|_| time_of(|| VirtualStick::new(&profile, 1)).as_secs_f64());
        Ok(Self {
            capacity_bytes: profile.capacity,
            seconds: seconds.fold(f64::INFINITY, f64::min),
            memory_bytes,
        })
    }
}

/// A full stick whose pages are mapped one by one, in its steady state, with typical spare flash.
fn page_mapped(capacity: Bytes) -> anyhow::Result<Profile> {
    let mut profile = Profile::builtin("transcend-8g")?;
    profile.capacity = capacity;
    profile.ftl.fat_area = Bytes::ZERO;
    profile.state = State::Steady;
    profile.policy = Policy::PageMapped(PageMapped {
        basis: Basis::Assumed,
        over_provisioning: 0.07,
        victim: CollectionVictim::Greedy,
        hot_cold: false,
        background_share: 0.0,
        copy_page_us: 1000.0,
        erase_us: 3000.0,
    });
    profile.check()?;
    Ok(profile)
}

/// Some work on a virtual stick.
struct Work {
    name: &'static str,
    profile: fn() -> anyhow::Result<Profile>,
    /// The request of a step.
    request: fn(u64, &mut Places) -> Op,
}

const WORKS: [Work; 4] = [
    Work { name: "sequential 64 KiB writes", profile: patriot, request: sequential_write },
    Work { name: "random 4 KiB reads", profile: patriot, request: random_read },
    Work { name: "thrashing K+1 open units, 4 MiB blocks", profile: transcend, request: thrashing_write },
    Work {
        name: "page-mapped, steady state, collection running",
        profile: || page_mapped(Bytes::mib(7680)),
        request: random_write,
    },
];

fn patriot() -> anyhow::Result<Profile> {
    Ok(Profile::builtin("patriot-xt-16g")?)
}

fn transcend() -> anyhow::Result<Profile> {
    Ok(Profile::builtin("transcend-8g")?)
}

impl Work {
    fn measure(&self, rounds: u32) -> anyhow::Result<Row> {
        let mut stick = VirtualStick::new(&(self.profile)()?, 1);
        let mut places = Places::of(&stick);
        let mut best = Duration::MAX;
        for round in 0..rounds {
            let first = u64::from(round) * u64::from(REQUESTS);
            let before = cpu_time();
            for step in first..first + u64::from(REQUESTS) {
                stick.run((self.request)(step, &mut places))?.outcome?;
            }
            best = best.min(cpu_time().saturating_sub(before));
        }
        Ok(Row { work: self.name, requests_per_s: f64::from(REQUESTS) / best.as_secs_f64() })
    }
}

/// Where requests go.
struct Places {
    random: Xoshiro256PlusPlus,
    capacity: Bytes,
    open_units: u64,
    erase_block: Bytes,
}

impl Places {
    fn of(stick: &VirtualStick) -> Self {
        let truth = stick.profile().truth();
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            capacity: stick.capabilities().capacity,
            open_units: u64::from(truth.open_units_linear.unwrap_or(1)),
            erase_block: truth.erase_block,
        }
    }

    /// A place that is a multiple of `length`, any with (nearly) the same probability: the high half of a product (D. Lemire,
    /// "Fast random integer generation in an interval", 2019).
    fn anywhere(&mut self, length: Bytes) -> ByteRange {
        let count = self.capacity / length;
        let place = ((u128::from(self.random.next_u64()) * u128::from(count)) >> 64) as u64;
        ByteRange::new(length * place, length)
    }
}

/// From the stick's start to its end, and again.
fn sequential_write(step: u64, places: &mut Places) -> Op {
    let length = Bytes::kib(64);
    Op::write(ByteRange::new(length * (step % (places.capacity / length)), length), Pattern::new(1))
}

fn random_read(_: u64, places: &mut Places) -> Op {
    Op::read(places.anywhere(Bytes::kib(4)))
}

/// A page at a time, anywhere.
fn random_write(_: u64, places: &mut Places) -> Op {
    Op::write(places.anywhere(Bytes::kib(16)), Pattern::new(1))
}

/// Into one erase block more than can be open, in turn, each from its start to its end.
fn thrashing_write(step: u64, places: &mut Places) -> Op {
    let length = Bytes::kib(64);
    let units = places.open_units + 1;
    let (unit, inside) = (step % units, step / units % (places.erase_block / length));
    Op::write(ByteRange::new(places.erase_block * (3 * unit + 1) + length * inside, length), Pattern::new(1))
}

/// The CPU time of some work.
fn time_of<T>(work: impl FnOnce() -> T) -> Duration {
    let before = cpu_time();
    drop(work());
    cpu_time().saturating_sub(before)
}

/// Memory of this process (proc(5), `VmRSS` in /proc/self/status).
fn resident_bytes() -> anyhow::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib =
        line.and_then(|rest| rest.trim().strip_suffix("kB")).context("no VmRSS in /proc/self/status")?;
    Ok(kib.trim().parse::<u64>()? << 10)
}

/// CPU time of this process: what else runs on the machine does not count.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
