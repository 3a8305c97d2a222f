//! The rows of `bench` beside fio, with the same request sizes, queue depths and durations.
//!
//! - On a stick that is served in real time both must measure the stick's throughput.
//! - Our rate is the one that `bench` infers after its start-up. fio's rate is its requests divided by the
//!   requested run time, after a ramp of the same length as our start-up (`--ramp_time`).
//! - A short row is repeated until the turn is long enough for CPU time to be measurable.
//! - The first one alternates, and each row shows the range of its rounds, because other load disturbs both.
//! - Both run on the last processor. Sharing a processor with the server of the stick changes the latency by
//!   up to 50 %.
//! - Each runs once before the first turn of a row; that run does not count.
//! - Both start at the same offset. At queue depth 1 they use `pread` and `pwrite`, otherwise `io_uring`.
//!   Every write has new data (`--refill_buffers`).
//! - CPU time is that of our whole process, and of fio the part that it reports for its thread. Both favour
//!   fio.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use flashscope_device::Bytes;
use flashscope_device::layer::Budget;
use flashscope_infer::streams::speed::speed;
use flashscope_linux::{Access, OpenOptions, open};
use flashscope_measure::experiment::Speed;
use flashscope_measure::{Experiment as _, Extent, Silent};
use flashscope_record::observation::{Data, Direction, Order, SpeedCase, SpeedCell};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::fio::{escaped, parse};
use super::own::Own;
use super::peer::run_peer;
use super::random_reads::process_cpu;
use super::row::{Row, Sample, per_request};

/// The shortest ramp of fio, even if our row has no start-up: fio's own start falls into it. Guess.
const RAMP_MIN: Duration = Duration::from_secs(1);

/// The number and the duration of turns.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// Turns of each side.
    pub count: u32,
    /// The shortest duration of a turn: our rows are repeated until then.
    pub duration_min: Duration,
    /// The longest duration of a row.
    pub row_duration_max: Duration,
}

/// The default rows of `bench`: reads, and writes if `may_erase`. `progress` receives a line after each turn.
pub fn run(device: &Path, may_erase: bool, turns: Turns, progress: &dyn Fn(&str)) -> Result<Vec<Row>> {
    stay_on_one_processor()?;
    cases(may_erase).into_iter().map(|case| compare(device, case, turns, progress)).collect()
}

/// Keeps this program, and fio after it, on the last processor that it may use.
fn stay_on_one_processor() -> Result<()> {
    let allowed = sched_getaffinity(None).context("cannot read the processors of this program")?;
    let last =
        (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu)).context("no processor to run on")?;
    let mut one = CpuSet::new();
    one.set(last);
    sched_setaffinity(None, &one).context("cannot pin this program to one processor")
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

fn compare(device: &Path, case: SpeedCase, turns: Turns, progress: &dyn Fn(&str)) -> Result<Row> {
    let order_text = if case.order == Order::Linear { "sequential" } else { "random" };
    let (verb, request, depth) = (case.direction.as_str(), case.request, case.queue_depth);
    let work = format!("{verb}s/s, {order_text}, {request}, queue depth {depth}");
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
            progress(&format!("{work}: turn {} of {}: {our}, fio {their}", turn + 1, turns.count));
        }
    }
    Ok(Row::of(work, &ours, &theirs))
}

/// The run time of fio.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// Before the measurement.
    ramp: Duration,
    /// During the measurement.
    counted: Duration,
}

/// Rows of `bench` until the turn is long enough, and the run time of fio for the same duration.
fn measure(path: &Path, case: SpeedCase, seed: u64, turns: Turns) -> Result<(Sample, Span)> {
    let consent = Own::at(path);
    let access = if case.direction == Direction::Write { Access::Erase(&consent) } else { Access::ReadOnly };
    let mut device =
        open(path, &OpenOptions { access, queue_depth: case.queue_depth, ..OpenOptions::default() })?;
    let budget = Budget { device_time: Some(turns.row_duration_max), ..Budget::UNLIMITED };
    let mut rows: Vec<BenchRow> = Vec::new();
    let cpu_before = process_cpu();
    while duration(&rows) < turns.duration_min {
        let seed = seed.wrapping_add(rows.len() as u64 * 1000);
        let experiment =
            Speed { cases: vec![case], link: None, is_buffered: false, extent: Extent::Usual, seed };
        let observations = experiment.measure(&mut device, &budget, &mut Silent);
        let Data::Speed(data) = observations.data else { bail!("bench returned no speeds") };
        rows.push(BenchRow::of(data.cells.first().context("bench made no requests")?)?);
    }
    let cpu = process_cpu() - cpu_before;
    let running = rows.iter().map(|row| row.running).sum::<Duration>();
    let requests = rows.iter().map(|row| row.requests).sum::<usize>() as f64;
    let ramp = rows.iter().map(|row| row.startup).max().unwrap_or_default().max(RAMP_MIN);
    let sample =
        Sample { rate: counted_requests(&rows) / running.as_secs_f64(), cpu: per_request(cpu, requests) };
    Ok((sample, Span { ramp, counted: running }))
}

/// One row of `bench`.
#[derive(Debug, Clone, Copy)]
struct BenchRow {
    requests: usize,
    startup: Duration,
    running: Duration,
    /// Requests per second after the start-up.
    rate: f64,
}

impl BenchRow {
    fn of(cell: &SpeedCell) -> Result<Self> {
        let speed = speed(cell, None).context("bench made too few requests; allow more time (--limit)")?;
        let total = Duration::from_nanos(cell.ended_ns.last().copied().unwrap_or_default());
        let running = Duration::from_secs_f64(speed.seconds);
        let (requests, startup) = (cell.took_ns.len(), total.saturating_sub(running));
        Ok(Self { requests, startup, running, rate: speed.requests_per_s() })
    }
}

fn duration(rows: &[BenchRow]) -> Duration {
    rows.iter().map(|row| row.startup + row.running).sum()
}

/// The number of requests after the start-ups.
fn counted_requests(rows: &[BenchRow]) -> f64 {
    rows.iter().map(|row| row.rate * row.running.as_secs_f64()).sum()
}

/// The same requests by fio, for the same duration, from the same offset.
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
