//! `cargo xtask speed`: how many requests a second virtual sticks serve on one core, their contents included.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_sim::VirtualStick;
use flashscope_sim::target;
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
    let rows: Vec<Row> =
        WORKS.iter().map(|work| work.measure(arguments.rounds)).collect::<anyhow::Result<_>>()?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&Document { rows: &rows })? + "\n"
    } else {
        table(&rows)
    };
    Ok(say(&text)?)
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    rows: &'a [Row],
}

#[derive(Debug, Serialize)]
struct Row {
    work: &'static str,
    requests_per_s: f64,
}

fn table(rows: &[Row]) -> String {
    rows.iter()
        .map(|row| format!("{:<48} {:>7.2} M requests/s\n", row.work, row.requests_per_s / 1e6))
        .collect()
}

/// Some work on a virtual stick.
struct Work {
    name: &'static str,
    target: &'static str,
    /// The request of a step.
    request: fn(u64, &mut Places) -> Op,
}

const WORKS: [Work; 3] = [
    Work { name: "sequential 64 KiB writes", target: "patriot-xt-16g", request: sequential_write },
    Work { name: "random 4 KiB reads", target: "patriot-xt-16g", request: random_read },
    Work { name: "thrashing K+1 open units, 4 MiB blocks", target: "transcend-8g", request: thrashing_write },
];

impl Work {
    fn measure(&self, rounds: u32) -> anyhow::Result<Row> {
        let mut stick = target::open(self.target)?;
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

/// Into one erase block more than can be open, in turn, each from its start to its end.
fn thrashing_write(step: u64, places: &mut Places) -> Op {
    let length = Bytes::kib(64);
    let units = places.open_units + 1;
    let (unit, inside) = (step % units, step / units % (places.erase_block / length));
    Op::write(ByteRange::new(places.erase_block * (3 * unit + 1) + length * inside, length), Pattern::new(1))
}

/// CPU time of this process: what else runs on the machine does not count.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
