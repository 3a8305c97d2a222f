//! Beside fio: the rows of `bench`, with the same sizes and depths for as long.
//!
//! On a stick that is served in real time both must give the stick's own speed. Our rate is what `bench` infers; fio's is its
//! requests over its time. Both take turns at being first, and a row shows how far its rounds were apart: a busy machine disturbs
//! both, and what it does is no difference between them. Both work on the same processor, the last one: where requests and who
//! serves them share a processor changes what a request takes by half. Before the first turn of a row each works once for
//! nothing. Both begin at the same place, ask one at a time with `pread` and
//! `pwrite` and several with `io_uring`, and write data that is new in every request (`--refill_buffers`). CPU time is that of our
//! whole process, and what fio itself reports of its thread: both favour fio.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Consent};
use flashscope_linux::{Access, OpenOptions, open};
use flashscope_probe::experiment::Speed;
use flashscope_probe::inference::speed;
use flashscope_probe::observation::{Data, Direction, Order, SpeedCase};
use flashscope_probe::{Experiment as _, Silent};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::fio::{escaped, parse};
use super::random_reads::process_cpu;
use super::{Row, Sample, run_peer};

/// How long each side works at most in a turn. Sticks whose requests take seconds get as long for a few of them.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// How many of each side.
    pub count: u32,
    /// The most that one takes.
    pub limit: Duration,
}

/// Reads, and with permission writes, of the kinds that `bench` makes. `tell` hears of each turn when it is over.
pub fn run(device: &Path, may_erase: bool, turns: Turns, tell: &dyn Fn(&str)) -> Result<Vec<Row>> {
    stay_on_one_processor()?;
    cases(may_erase).into_iter().map(|case| compare(device, case, turns, tell)).collect()
}

/// Keeps this program, and fio after it, on the last processor that it may use.
fn stay_on_one_processor() -> Result<()> {
    let allowed = sched_getaffinity(None).context("asking on which processors this program may run")?;
    let last =
        (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu)).context("no processor to run on")?;
    let mut one = CpuSet::new();
    one.set(last);
    sched_setaffinity(None, &one).context("staying on one processor")
}

fn cases(may_erase: bool) -> Vec<SpeedCase> {
    let directions = if may_erase { &[Direction::Write, Direction::Read][..] } else { &[Direction::Read] };
    let kinds = [
        (Order::Linear, Bytes::mib(1), 1),
        (Order::Random, Bytes::kib(4), 1),
        (Order::Random, Bytes::kib(4), 8),
    ];
    let of = |direction: &Direction| {
        let direction = *direction;
        kinds.map(|(order, request, queue_depth)| SpeedCase { direction, order, request, queue_depth })
    };
    directions.iter().flat_map(of).collect()
}

fn compare(device: &Path, case: SpeedCase, turns: Turns, tell: &dyn Fn(&str)) -> Result<Row> {
    let order = if case.order == Order::Linear { "in order" } else { "random" };
    let (verb, request, depth) = (case.direction.as_str(), case.request, case.queue_depth);
    let work = format!("{verb}s/s, {order}, {request}, queue depth {depth}");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (_, mut seconds) = measure(device, case, u64::MAX, turns.limit)?;
    fio(device, case, seconds)?;
    for turn in 0..turns.count {
        let is_fio_first = turn % 2 == 1;
        if is_fio_first {
            theirs.push(fio(device, case, seconds)?);
        }
        let (sample, took) = measure(device, case, turn.into(), turns.limit)?;
        ours.push(sample);
        seconds = took;
        if !is_fio_first {
            theirs.push(fio(device, case, seconds)?);
        }
        if let (Some(our), Some(their)) = (ours.last(), theirs.last()) {
            tell(&format!("{work}: turn {} of {}: {our}, fio {their}", turn + 1, turns.count));
        }
    }
    Ok(Row::of(work, &ours, &theirs))
}

/// One row of `bench`, and how long it took in whole seconds.
fn measure(path: &Path, case: SpeedCase, seed: u64, limit: Duration) -> Result<(Sample, u64)> {
    let consent = Consent::to_erase(path.to_string_lossy());
    let access = if case.direction == Direction::Write { Access::Erase(&consent) } else { Access::ReadOnly };
    let mut device =
        open(path, &OpenOptions { access, queue_depth: case.queue_depth, ..OpenOptions::default() })?;
    let experiment = Speed { cases: vec![case], link: None, is_buffered: false, seed };
    let budget = Budget { device_time: Some(limit), ..Budget::UNLIMITED };
    let cpu_before = process_cpu();
    let seen = experiment.measure(&mut device, &budget, &mut Silent);
    let cpu = (process_cpu() - cpu_before).as_secs_f64();
    let Data::Speed(data) = seen.data else { bail!("bench saw something else") };
    let cell = data.cells.first().context("bench made no requests")?;
    let rate = speed(cell, None).context("bench made too few requests; allow more time (--limit)")?;
    let seconds = cell.ended_ns.last().map_or(1, |last| last.div_ceil(1_000_000_000));
    Ok((Sample { rate: rate.requests_per_s(), cpu: cpu / cell.took_ns.len() as f64 }, seconds))
}

/// The same requests for as long by fio, from where `bench` begins.
fn fio(device: &Path, case: SpeedCase, seconds: u64) -> Result<Sample> {
    let kind = match (case.direction, case.order) {
        (Direction::Read, Order::Linear) => "read",
        (Direction::Read, Order::Random) => "randread",
        (Direction::Write, Order::Linear) => "write",
        (Direction::Write, Order::Random) => "randwrite",
    };
    let engine = if case.queue_depth == 1 { "psync" } else { "io_uring" };
    let mut command = Command::new("fio");
    command
        .args(["--name=versus", "--direct=1", "--norandommap=1", "--randrepeat=0", "--time_based"])
        .args(["--offset=16m", "--output-format=json"])
        .arg(format!("--rw={kind}"))
        .arg(format!("--bs={}", case.request.get()))
        .arg(format!("--iodepth={}", case.queue_depth))
        .arg(format!("--ioengine={engine}"))
        .arg(format!("--runtime={seconds}"))
        .arg(format!("--filename={}", escaped(device)))
        .arg(if case.direction == Direction::Read { "--readonly" } else { "--refill_buffers" });
    let output = run_peer(&mut command, "fio")?;
    parse(&String::from_utf8_lossy(&output.stdout), case.direction.as_str())
}
