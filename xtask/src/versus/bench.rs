//! Beside fio: the rows of `bench`, with the same sizes and depths for as long.
//!
//! On a stick that is served in real time both must give the stick's own speed. Our rate is what `bench` infers, behind its start-up; fio's is its
//! requests over the time that it was asked to count for, once as long a ramp is over (`--ramp_time`). Rows that are clear early are made again until a turn has lasted long
//! enough for CPU time to show. Both take turns at being first, and a row shows how far its rounds were apart: a busy machine disturbs
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
use flashscope_infer::streams::speed::speed;
use flashscope_linux::{Access, OpenOptions, open};
use flashscope_measure::experiment::Speed;
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::observation::{Data, Direction, Order, SpeedCase, SpeedCell};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::fio::{escaped, parse};
use super::random_reads::process_cpu;
use super::row::per_request;
use super::{Row, Sample, run_peer};

/// What comes before is start-up on fio's side, whose job begins within it, even where ours has none.
const RAMP_MIN: Duration = Duration::from_secs(1);

/// How long each side works in a turn.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// How many of each side.
    pub count: u32,
    /// Rows of ours are made again until so much time has gone by.
    pub least: Duration,
    /// The most that one row takes. Sticks whose requests take seconds get as long for a few of them.
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
    let (_, mut span) = measure(device, case, u64::MAX, turns)?;
    fio(device, case, span)?;
    for turn in 0..turns.count {
        let is_fio_first = turn % 2 == 1;
        if is_fio_first {
            theirs.push(fio(device, case, span)?);
        }
        let (sample, took) = measure(device, case, turn.into(), turns)?;
        ours.push(sample);
        span = took;
        if !is_fio_first {
            theirs.push(fio(device, case, span)?);
        }
        if let (Some(our), Some(their)) = (ours.last(), theirs.last()) {
            tell(&format!("{work}: turn {} of {}: {our}, fio {their}", turn + 1, turns.count));
        }
    }
    Ok(Row::of(work, &ours, &theirs))
}

/// How long fio works.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// Before it counts.
    ramp: Duration,
    /// While it counts.
    counted: Duration,
}

/// Rows of `bench` until the turn has lasted long enough, and how long fio has to work for the same.
fn measure(path: &Path, case: SpeedCase, seed: u64, turns: Turns) -> Result<(Sample, Span)> {
    let consent = Consent::to_erase(path.to_string_lossy());
    let access = if case.direction == Direction::Write { Access::Erase(&consent) } else { Access::ReadOnly };
    let mut device =
        open(path, &OpenOptions { access, queue_depth: case.queue_depth, ..OpenOptions::default() })?;
    let budget = Budget { device_time: Some(turns.limit), ..Budget::UNLIMITED };
    let mut rows: Vec<MadeRow> = Vec::new();
    let cpu_before = process_cpu();
    while lasted(&rows) < turns.least {
        let seed = seed.wrapping_add(rows.len() as u64 * 1000);
        let experiment =
            Speed { cases: vec![case], link: None, is_buffered: false, is_thorough: false, seed };
        let seen = experiment.measure(&mut device, &budget, &mut Silent);
        let Data::Speed(data) = seen.data else { bail!("bench saw something else") };
        rows.push(MadeRow::of(data.cells.first().context("bench made no requests")?)?);
    }
    let cpu = process_cpu() - cpu_before;
    let running = rows.iter().map(|row| row.running).sum::<Duration>();
    let requests = rows.iter().map(|row| row.requests).sum::<usize>() as f64;
    let ramp = rows.iter().map(|row| row.startup).max().unwrap_or_default().max(RAMP_MIN);
    let sample = Sample { rate: counted(&rows) / running.as_secs_f64(), cpu: per_request(cpu, requests) };
    Ok((sample, Span { ramp, counted: running }))
}

/// One row of `bench`.
#[derive(Debug, Clone, Copy)]
struct MadeRow {
    requests: usize,
    startup: Duration,
    running: Duration,
    /// Requests a second behind the start-up.
    rate: f64,
}

impl MadeRow {
    fn of(cell: &SpeedCell) -> Result<Self> {
        let speed = speed(cell, None).context("bench made too few requests; allow more time (--limit)")?;
        let lasted = Duration::from_nanos(cell.ended_ns.last().copied().unwrap_or_default());
        let running = Duration::from_secs_f64(speed.seconds);
        let (requests, startup) = (cell.took_ns.len(), lasted.saturating_sub(running));
        Ok(Self { requests, startup, running, rate: speed.requests_per_s() })
    }
}

fn lasted(rows: &[MadeRow]) -> Duration {
    rows.iter().map(|row| row.startup + row.running).sum()
}

/// The requests behind the start-ups.
fn counted(rows: &[MadeRow]) -> f64 {
    rows.iter().map(|row| row.rate * row.running.as_secs_f64()).sum()
}

/// The same requests for as long by fio, from where `bench` begins.
fn fio(device: &Path, case: SpeedCase, span: Span) -> Result<Sample> {
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
        .arg(format!("--ramp_time={}ms", span.ramp.as_millis()))
        .arg(format!("--runtime={}ms", span.counted.as_millis()))
        .arg(format!("--filename={}", escaped(device)))
        .arg(if case.direction == Direction::Read { "--readonly" } else { "--refill_buffers" });
    let output = run_peer(&mut command, "fio")?;
    parse(&String::from_utf8_lossy(&output.stdout), case.direction.as_str(), span.counted)
}
