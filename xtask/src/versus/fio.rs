//! Beside fio: random reads of 4 KiB at queue depths 1 and 32.
//!
//! fio's engines are all tried first; the best two stay for the rounds, and the better of them is the peer. Its CPU time
//! is what fio itself reports: that of the thread that submits, without the kernel's worker threads and without fio's
//! start. Ours is that of the whole process. Both favour fio.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use flashscope_linux::{OpenOptions, open};
use serde_json::Value;

use super::bench::{self, Turns};
use super::random_reads::{READ, measure};
use super::row::per_request;
use super::{ROUNDS, Row, Sample, run_peer, zram};

/// What to read.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The disk or image to read, e.g. /dev/zram0.
    #[arg(long)]
    device: PathBuf,
    /// How long each turn takes, seconds.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// Compare the rows of `bench` instead: 1 MiB in order, 4 KiB here and there at depths 1 and 8, for as long as each takes.
    #[arg(long)]
    bench: bool,
    /// With --bench: writes too. What the image file, or the loop device over one, holds is lost.
    #[arg(long, requires = "bench")]
    erase: bool,
    /// With --bench: how many turns each side takes for each row.
    #[arg(long, default_value_t = 5, requires = "bench", value_parser = clap::value_parser!(u32).range(1..=100))]
    turns: u32,
    /// With --bench: how long a turn takes at least, seconds: rows that are clear before are made again.
    #[arg(long, default_value_t = 10, requires = "bench", value_parser = clap::value_parser!(u64).range(1..=600))]
    least: u64,
    /// With --bench: how long a row takes at most, seconds. One that tells enough ends before.
    #[arg(long, default_value_t = 20, requires = "bench", value_parser = clap::value_parser!(u64).range(1..=3600))]
    limit: u64,
}

/// One of fio's ways to read: its engine and options.
type Engine = &'static [&'static str];

/// One request at a time. What fio recommends for fast devices, in every combination that helps one of them somewhere.
const ENGINES_ALONE: &[Engine] = &[
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

/// Many requests at once. psync serves them one after the other, which is the best for a disk that is memory.
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

/// The rows of both queue depths. `tell` hears how far it is.
pub fn run(arguments: &Arguments, tell: &dyn Fn(&str)) -> Result<Vec<Row>> {
    run_peer(Command::new("fio").arg("--version"), "fio")?;
    zram::prepare(&arguments.device)?;
    // What cannot be opened is refused here, in our words: fio would try every engine on it.
    drop(open(&arguments.device, &OpenOptions::default())?);
    if arguments.bench {
        let [least, limit] = [arguments.least, arguments.limit].map(Duration::from_secs);
        let turns = Turns { count: arguments.turns, least, limit };
        return bench::run(&arguments.device, arguments.erase, turns, tell);
    }
    [(1, ENGINES_ALONE), (32, ENGINES_QUEUED)]
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

/// The two fastest of fio's engines. Those that the kernel or the device refuses are left out.
fn qualify(arguments: &Arguments, queue_depth: u32, engines: &[Engine]) -> Result<Vec<Engine>> {
    let mut rates: Vec<(f64, Engine)> = engines
        .iter()
        .filter_map(|engine| Some((fio(arguments, queue_depth, engine).ok()?.rate, *engine)))
        .collect();
    rates.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    if rates.is_empty() {
        // None works: show what fio says of the plainest.
        fio(arguments, queue_depth, engines[0])?;
    }
    Ok(rates.into_iter().take(2).map(|(_, engine)| engine).collect())
}

/// One turn of fio. It reads only (`--readonly`).
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
    let asked = Duration::from_secs(arguments.seconds.into());
    parse(&String::from_utf8_lossy(&output.stdout), "read", asked)
}

/// fio takes a colon in `--filename` for the end of a name.
pub fn escaped(path: &Path) -> String {
    path.display().to_string().replace(':', "\\:")
}

/// The figures of `read` or `write` in fio's JSON, which warnings may precede, of a job that was asked to count for so long. Its own rate is that of
/// a longer time: until what was in flight at the end is there, none of which it counts.
pub fn parse(text: &str, direction: &str, asked: Duration) -> Result<Sample> {
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
    Ok(Sample { rate: requests / asked.as_secs_f64(), cpu: per_request(cpu, requests) })
}
