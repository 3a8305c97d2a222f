//! `cargo xtask speed`: the throughput of virtual sticks on one core, in requests per second with stored
//! contents, and the time and memory to create a large stick in its steady state.

use std::fs;
use std::time::Duration;

use anyhow::Context;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{Basis, GcVictim, PageMapped, Policy, State};
use flashscope_sim::{Profile, VirtualStick};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::output::print;

/// What to measure, and how to print it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Rounds per workload; the fastest counts, because other load only slows a round down
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
}

// One round takes about 20 ms: long compared with the clock's resolution, short enough that some rounds are
// undisturbed.
const REQUESTS: u32 = 200_000;

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let document = Document::measure(arguments.rounds)?;
    let text = if arguments.json { serde_json::to_string_pretty(&document)? + "\n" } else { document.text() };
    Ok(print(&text)?)
}

#[derive(Debug, Serialize)]
struct Document {
    rows: Vec<Row>,
    /// Creation of a full page-mapped stick of 64 GB in its steady state.
    steady_state: Creation,
}

#[derive(Debug, Serialize)]
struct Row {
    work: &'static str,
    requests_per_s: f64,
}

/// The cost of creating a stick.
#[derive(Debug, Serialize)]
struct Creation {
    capacity_bytes: Bytes,
    seconds: f64,
    /// Memory of the process after the whole stick was written with the pattern.
    memory_bytes: u64,
}

impl Document {
    fn measure(rounds: u32) -> anyhow::Result<Self> {
        let steady_state = Creation::measure(rounds)?;
        let rows = WORKLOADS.iter().map(|work| work.measure(rounds)).collect::<anyhow::Result<_>>()?;
        Ok(Self { rows, steady_state })
    }

    fn text(&self) -> String {
        let rows = self.rows.iter().map(|Row { work, requests_per_s }| {
            format!("{work:<48} {:>7.2} M requests/s\n", requests_per_s / 1e6)
        });
        let Creation { capacity_bytes, seconds, memory_bytes } = &self.steady_state;
        let name = format!("steady state of a full stick of {capacity_bytes}");
        let creation = format!("{name:<48} {:>7.1} ms, {}\n", seconds * 1e3, Bytes::new(*memory_bytes));
        rows.chain([creation]).collect()
    }
}

impl Creation {
    fn measure(rounds: u32) -> anyhow::Result<Self> {
        let profile = page_mapped(Bytes::mib(61_036))?;
        let memory_before = resident_bytes()?;
        let mut stick = VirtualStick::new(&profile, 1);
        let whole = stick.capabilities().whole();
        let length = Bytes::mib(1);
        for index in 0..whole.length / length {
            stick.run(Op::write(ByteRange::new(length * index, length), Pattern::new(1)))?.outcome?;
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

/// A full page-mapped stick in its steady state, with 7 % over-provisioning.
fn page_mapped(capacity: Bytes) -> anyhow::Result<Profile> {
    let mut profile = Profile::builtin("transcend-8g")?;
    profile.capacity = capacity;
    profile.ftl.fat_area = Bytes::ZERO;
    profile.state = State::Steady;
    profile.policy = Policy::PageMapped(PageMapped {
        basis: Basis::Assumed,
        over_provisioning: 0.07,
        victim: GcVictim::Greedy,
        hot_cold: false,
        background_share: 0.0,
        copy_page_us: 1000.0,
        erase_us: 3000.0,
    });
    profile.check()?;
    Ok(profile)
}

/// A workload on a virtual stick.
struct Workload {
    name: &'static str,
    profile: fn() -> anyhow::Result<Profile>,
    /// The request of each step.
    request: fn(u64, &mut Requests) -> Op,
}

const WORKLOADS: [Workload; 4] = [
    Workload { name: "sequential 64 KiB writes", profile: patriot, request: sequential_write },
    Workload { name: "random 4 KiB reads", profile: patriot, request: random_read },
    Workload {
        name: "thrashing with one open unit too many, 4 MiB blocks",
        profile: transcend,
        request: thrashing_write,
    },
    Workload {
        name: "page-mapped, steady state, garbage collection",
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

impl Workload {
    fn measure(&self, rounds: u32) -> anyhow::Result<Row> {
        let mut stick = VirtualStick::new(&(self.profile)()?, 1);
        let mut requests = Requests::of(&stick);
        let mut best = Duration::MAX;
        for round in 0..rounds {
            let first = u64::from(round) * u64::from(REQUESTS);
            let before = cpu_time();
            for step in first..first + u64::from(REQUESTS) {
                stick.run((self.request)(step, &mut requests))?.outcome?;
            }
            best = best.min(cpu_time().saturating_sub(before));
        }
        Ok(Row { work: self.name, requests_per_s: f64::from(REQUESTS) / best.as_secs_f64() })
    }
}

/// The random state and the geometry from which requests are made.
struct Requests {
    random: Xoshiro256PlusPlus,
    capacity: Bytes,
    open_units: u64,
    erase_block: Bytes,
}

impl Requests {
    fn of(stick: &VirtualStick) -> Self {
        let truth = stick.profile().truth();
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            capacity: stick.capabilities().capacity,
            open_units: u64::from(truth.open_units_linear.unwrap_or(1)),
            erase_block: truth.erase_block,
        }
    }

    /// A range of `length` at a multiple of `length`, sampled uniformly: the high half of a product (D.
    /// Lemire, "Fast random integer generation in an interval", 2019).
    fn random_range(&mut self, length: Bytes) -> ByteRange {
        let count = self.capacity / length;
        let index = ((u128::from(self.random.next_u64()) * u128::from(count)) >> 64) as u64;
        ByteRange::new(length * index, length)
    }
}

/// Sequential from the start of the stick to its end, repeatedly.
fn sequential_write(step: u64, requests: &mut Requests) -> Op {
    let length = Bytes::kib(64);
    Op::write(ByteRange::new(length * (step % (requests.capacity / length)), length), Pattern::new(1))
}

fn random_read(_: u64, requests: &mut Requests) -> Op {
    Op::read(requests.random_range(Bytes::kib(4)))
}

/// One page at a random offset.
fn random_write(_: u64, requests: &mut Requests) -> Op {
    Op::write(requests.random_range(Bytes::kib(16)), Pattern::new(1))
}

/// Round-robin over one erase block more than can be open, sequential in each.
fn thrashing_write(step: u64, requests: &mut Requests) -> Op {
    let length = Bytes::kib(64);
    let units = requests.open_units + 1;
    let (unit, inside) = (step % units, step / units % (requests.erase_block / length));
    Op::write(
        ByteRange::new(requests.erase_block * (3 * unit + 1) + length * inside, length),
        Pattern::new(1),
    )
}

/// The CPU time of `work`.
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

/// CPU time of this process: load of other processes does not count.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
