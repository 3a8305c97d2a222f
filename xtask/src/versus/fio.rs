//! Random reads of 4 KiB at queue depths 1 and 32, compared with fio.
//!
//! Every engine of fio runs once. The two fastest run in every round, and the faster of them is the peer.
//! fio's CPU time is the one that it reports: that of its submitting thread, without kernel threads and
//! start-up. Ours is that of the whole process. Both favour fio.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use flashscope_linux::{OpenOptions, open};
use serde_json::Value;

use super::bench::{self, Turns};
use super::peer::{ROUNDS, run_peer};
use super::random_reads::{READ, measure};
use super::row::{Row, Sample, per_request};
use super::zram;

/// Which device, and how long.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Disk or image to read, e.g. /dev/zram0
    #[arg(long)]
    device: PathBuf,
    /// Duration of each turn, seconds
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// Compare the rows of `bench` instead: sequential 1 MiB, random 4 KiB at queue depths 1 and 8
    #[arg(long)]
    bench: bool,
    /// With --bench: also write, which destroys the data of the image file or loop device
    #[arg(long, requires = "bench")]
    erase: bool,
    /// With --bench: turns of each side per row
    #[arg(long, default_value_t = 5, requires = "bench", value_parser = clap::value_parser!(u32).range(1..=100))]
    turns: u32,
    /// With --bench: shortest duration of a turn, seconds; shorter rows are repeated
    #[arg(long, default_value_t = 10, requires = "bench", value_parser = clap::value_parser!(u64).range(1..=600))]
    least: u64,
    /// With --bench: longest duration of a row, seconds
    #[arg(long, default_value_t = 20, requires = "bench", value_parser = clap::value_parser!(u64).range(1..=3600))]
    limit: u64,
}

/// An engine of fio and its options.
type Engine = &'static [&'static str];

/// Engines for queue depth 1: fio's recommendations for fast devices, in every combination that was the
/// fastest on some device.
const ENGINES_DEPTH_1: &[Engine] = &[
    &["psync"],
    &["psync", "--thread"],
    &["psync", "--random_generator=lfsr"],
    &["sync"],
    &["pvsync2"],
    &["pvsync2", "--hipri"],
    &["io_uring"],
    &["io_uring", "--fixedbufs", "--registerfiles", "--nonvectored"],
    &["io_uring", "--fixedbufs", "--registerfiles", "--hipri"],
    &["io_uring", "--fixedbufs", "--registerfiles", "--sqthread_poll"],
];

/// Engines for queue depth 32. psync has only one request in flight, which is the fastest for a disk in
/// memory.
const ENGINES_QUEUED: &[Engine] = &[
    &["psync"],
    &["pvsync2", "--hipri"],
    &["libaio"],
    &["libaio", "--iodepth_batch_submit=16", "--iodepth_batch_complete_max=16"],
    &["io_uring"],
    &["io_uring", "--fixedbufs", "--registerfiles", "--nonvectored"],
    &[
        "io_uring",
        "--fixedbufs",
        "--registerfiles",
        "--iodepth_batch_submit=8",
        "--iodepth_batch_complete_max=8",
    ],
    &[
        "io_uring",
        "--fixedbufs",
        "--registerfiles",
        "--iodepth_batch_submit=16",
        "--iodepth_batch_complete_max=16",
    ],
    &[
        "io_uring",
        "--fixedbufs",
        "--registerfiles",
        "--iodepth_batch_submit=32",
        "--iodepth_batch_complete_max=32",
    ],
    &["io_uring", "--fixedbufs", "--registerfiles", "--hipri"],
    &["io_uring", "--fixedbufs", "--registerfiles", "--sqthread_poll"],
];

/// The rows of both queue depths. `progress` receives a line after each turn.
pub fn run(arguments: &Arguments, progress: &dyn Fn(&str)) -> Result<Vec<Row>> {
    run_peer(Command::new("fio").arg("--version"), "fio")?;
    zram::prepare(&arguments.device)?;
    // Refuse a device that cannot be opened here: fio would try every engine on it.
    drop(open(&arguments.device, &OpenOptions::default())?);
    if arguments.bench {
        let [duration_min, row_duration_max] = [arguments.least, arguments.limit].map(Duration::from_secs);
        let turns = Turns { count: arguments.turns, duration_min, row_duration_max };
        return bench::run(&arguments.device, arguments.erase, turns, progress);
    }
    [(1, ENGINES_DEPTH_1), (32, ENGINES_QUEUED)]
        .into_iter()
        .map(|(queue_depth, engines)| compare(arguments, queue_depth, engines))
        .collect()
}

fn compare(arguments: &Arguments, queue_depth: u32, engines: &[Engine]) -> Result<Row> {
    let device = &arguments.device;
    let finalists = qualify(arguments, queue_depth, engines)?;
    let mut ours = Vec::new();
    let mut theirs = vec![Vec::new(); finalists.len()];
    for round in 0..ROUNDS {
        let seed = round as u64;
        ours.push(measure(device, queue_depth, Duration::from_secs(arguments.seconds.into()), seed)?);
        for (engine, samples) in finalists.iter().zip(&mut theirs) {
            samples.push(fio(arguments, queue_depth, engine)?);
        }
    }
    let rows = finalists.iter().zip(&theirs).map(|(engine, samples)| {
        let work = format!(
            "{READ} random reads/s at queue depth {queue_depth}, fio {}",
            engine.join(" ").replace("--", "")
        );
        Row::of(work, &ours, samples)
    });
    rows.max_by(|one, other| one.peer.total_cmp(&other.peer)).context("no engine of fio works on this device")
}

/// The two fastest engines of fio, without those that the kernel or the device refuses.
fn qualify(arguments: &Arguments, queue_depth: u32, engines: &[Engine]) -> Result<Vec<Engine>> {
    let mut rates: Vec<(f64, Engine)> = engines
        .iter()
        .filter_map(|engine| Some((fio(arguments, queue_depth, engine).ok()?.rate, *engine)))
        .collect();
    rates.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    if rates.is_empty() {
        // No engine works: return fio's error for the first one.
        fio(arguments, queue_depth, engines[0])?;
    }
    Ok(rates.into_iter().take(2).map(|(_, engine)| engine).collect())
}

/// One turn of fio, which only reads (`--readonly`).
fn fio(arguments: &Arguments, queue_depth: u32, engine: Engine) -> Result<Sample> {
    let mut command = Command::new("fio");
    command
        .args(["--name=versus", "--readonly", "--rw=randread", "--bs=4k", "--direct=1", "--norandommap=1"])
        .args(["--randrepeat=0", "--gtod_reduce=1", "--time_based", "--output-format=json"])
        .arg(format!("--runtime={}", arguments.seconds))
        .arg(format!("--iodepth={queue_depth}"))
        .arg(format!("--filename={}", escaped(&arguments.device)))
        .arg(format!("--ioengine={}", engine[0]))
        .args(&engine[1..]);
    let output = run_peer(&mut command, "fio")?;
    let run_time = Duration::from_secs(arguments.seconds.into());
    parse(&String::from_utf8_lossy(&output.stdout), "read", run_time)
}

/// Escapes colons, which separate names in fio's `--filename`.
pub fn escaped(path: &Path) -> String {
    path.display().to_string().replace(':', "\\:")
}

/// The sample of `read` or `write` in fio's JSON, which warnings may precede. The rate is requests divided by
/// the requested run time. fio's own rate is too low: its time includes the wait for the last requests, which
/// it does not count.
pub fn parse(text: &str, direction: &str, run_time: Duration) -> Result<Sample> {
    let json = text.find('{').map_or("", |start| &text[start..]);
    let document: Value = serde_json::from_str(json).context("fio printed no JSON")?;
    let job = &document["jobs"][0];
    let number =
        |value: &Value, name: &str| value[name].as_f64().with_context(|| format!("fio's JSON lacks {name}"));
    let requests = number(&job[direction], "total_ios")?;
    if requests == 0.0 || number(job, "error")? != 0.0 {
        bail!("fio made no {direction}s");
    }
    let seconds = number(job, "job_runtime")? / 1e3;
    let cpu_share = (number(job, "usr_cpu")? + number(job, "sys_cpu")?) / 100.0;
    let cpu = Duration::from_secs_f64(cpu_share * seconds);
    Ok(Sample { rate: requests / run_time.as_secs_f64(), cpu: per_request(cpu, requests) })
}
