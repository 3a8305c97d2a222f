//! The cost of the same findings, compared with flashbench on the same stick, served as a block device.
//!
//! flashbench prints tables; a person reads them and chooses the next command. This task follows the README
//! of flashbench: one alignment table, then tables of 1, 2, 3, … open units until one of them is slow, with
//! linear and with random writes. It parses the tables as `import` does. Device time is the sum of latencies
//! on the stick's own clock, from a trace.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use flashscope_device::Bytes;
use flashscope_device::layer::Cost;
use flashscope_device::trace::TraceReader;
use flashscope_flashbench::parse::parse;
use flashscope_infer::infer;
use flashscope_linux::{Roots, erasable};
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::Observations;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde_json::Value;

use crate::process::{built_binary, output};

/// Which flashbench, and which stick.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Path of flashbench
    #[arg(long, value_name = "PATH", default_value = "flashbench")]
    program: PathBuf,
    /// Virtual stick to measure, as for `sim serve`; a small erase block keeps flashbench's part short
    #[arg(long, default_value = "patriot-xt-16g?erase_block=1MiB&capacity=1GiB")]
    stick: String,
    /// Speed-up of the served stick; latency that this machine adds counts as many times
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    speed: f64,
}

/// flashbench's smallest request. Half of it would double the duration of the tables.
const REQUEST_MIN: Bytes = Bytes::kib(16);
/// The most open units that a person would try by hand. Guess.
const UNITS_MAX: u32 = 16;
const FINDINGS: [FindingId; 3] =
    [FindingId::EraseBlockBytes, FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom];

/// The cost and the findings of one side.
#[derive(Debug, Serialize)]
struct Side {
    device_seconds: f64,
    bytes_read: u64,
    bytes_written: u64,
    reads: u64,
    writes: u64,
    /// The findings as text.
    answers: Vec<String>,
}

/// Both sides.
#[derive(Debug, Serialize)]
pub struct Comparison {
    stick: String,
    ours: Side,
    flashbench: Side,
}

/// Measures the stick with both programs.
///
/// # Errors
/// If the stick cannot be served (root and /dev/fuse are needed), or a program is missing or fails.
pub fn run(arguments: &Arguments) -> Result<Comparison> {
    ensure!(rustix::process::geteuid().is_root(), "serving a stick as a block device needs root");
    ensure!(Path::new("/dev/fuse").exists(), "serving a stick needs /dev/fuse, which is missing");
    let ours = side(arguments, check)?;
    let flashbench = side(arguments, |device| by_hand(&arguments.program, device))?;
    Ok(Comparison { stick: arguments.stick.clone(), ours, flashbench })
}

/// Serves the stick to one side, and computes the cost from the trace.
fn side(arguments: &Arguments, measure: impl Fn(&str) -> Result<Vec<String>>) -> Result<Side> {
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("trace");
    let served = Served::start(arguments, &trace)?;
    let answers = measure(&served.device)?;
    served.stop()?;
    let file = std::fs::File::open(&trace).context("the served stick left no trace")?;
    let mut cost = Cost::default();
    for record in TraceReader::new(BufReader::new(file))? {
        let record = record?;
        cost.count(record.kind, record.range.length);
        cost.device_time += record.completed_at.since(record.submitted_at);
    }
    Ok(Side::of(&cost, answers))
}

impl Side {
    fn of(cost: &Cost, answers: Vec<String>) -> Self {
        Self {
            device_seconds: cost.device_time.as_secs_f64(),
            bytes_read: cost.bytes_read.get(),
            bytes_written: cost.bytes_written.get(),
            reads: cost.reads,
            writes: cost.writes,
            answers,
        }
    }
}

/// Our side: one check with writes.
fn check(device: &str) -> Result<Vec<String>> {
    let disk = erasable(Path::new(device), &Roots::default())?.context("no disk is served")?;
    let backing = disk.backing.context("no loop device is served")?;
    let yes = format!("--yes={}", backing.display());
    let text = output(Command::new(flashscope()?).args(["check", "--erase", &yes, "--json", "-q", device]))?;
    let document: Value = serde_json::from_str(&text)?;
    let findings = document["findings"].as_array().context("the check has no findings")?;
    let text_of = |id: &FindingId| {
        let finding = findings.iter().find(|finding| finding["id"] == id.as_str());
        let text = finding.and_then(|finding| finding["text"].as_str());
        text.unwrap_or("unknown").to_owned()
    };
    Ok(FINDINGS.iter().map(text_of).collect())
}

/// flashbench's side: the tables that the three findings need.
fn by_hand(program: &Path, device: &str) -> Result<Vec<String>> {
    let mut tables = vec![table(program, device, &["--align", "--blocksize=1024"])?];
    let erase_block = found(&tables, FindingId::EraseBlockBytes).and_then(|finding| finding.bytes());
    // Without a result, use flashbench's default erase block.
    let size = format!("--erasesize={}", erase_block.unwrap_or(Bytes::mib(4)).get());
    let smallest = format!("--blocksize={}", REQUEST_MIN.get());
    for (id, order) in [(FindingId::OpenUnitsLinear, None), (FindingId::OpenUnitsRandom, Some("--random"))] {
        let mut units = 1;
        while found(&tables, id).is_none() && units <= UNITS_MAX {
            let number = format!("--open-au-nr={units}");
            let words: Vec<&str> =
                ["--open-au", &size, &smallest, &number].into_iter().chain(order).collect();
            tables.push(table(program, device, &words)?);
            units += 1;
        }
    }
    let text_of = |id: &FindingId| {
        let value = found(&tables, *id).and_then(|finding| finding.value());
        value.map_or_else(|| "unknown".to_owned(), flashscope_report::value_text)
    };
    Ok(FINDINGS.iter().map(text_of).collect())
}

/// One table of flashbench.
fn table(program: &Path, device: &str, arguments: &[&str]) -> Result<Observations> {
    // Without `-o` flashbench opens its standard input for writing.
    let mut command = Command::new(program);
    let text = output(command.args(["-o", "/dev/null"]).args(arguments).arg(device).stdin(Stdio::null()))?;
    let log = format!("flashbench {}\n{text}", arguments.join(" "));
    let entry = parse(log.as_bytes(), "flashbench's table")?.entries.into_iter().next();
    Ok(entry.context("flashbench printed no table")?.observations)
}

fn found(tables: &[Observations], id: FindingId) -> Option<Finding> {
    infer(tables).into_iter().find(|finding| finding.id == id && finding.value().is_some())
}

/// The flashscope of this repository.
fn flashscope() -> Result<PathBuf> {
    built_binary("flashscope", &["--release"])
}

/// `flashscope sim serve`, stopped when dropped.
struct Served {
    child: Child,
    device: String,
}

impl Served {
    fn start(arguments: &Arguments, trace: &Path) -> Result<Self> {
        let mut command = Command::new(flashscope()?);
        command.args(["sim", "serve", "--loop", "--json", "-q", "--speed"]).arg(arguments.speed.to_string());
        command.arg("-o").arg(trace).arg(&arguments.stick);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.as_mut() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let device = serde_json::from_str::<Value>(&line).ok();
        let device = device.and_then(|ready| Some(ready["serving"]["block_device"].as_str()?.to_owned()));
        match device {
            Some(device) => Ok(Self { child, device }),
            None => bail!("cannot serve {}: sim serve ended with {}", arguments.stick, child.wait()?),
        }
    }

    fn stop(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the served stick ended with {status}");
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            let _ = self.child.wait();
        }
    }
}

impl Comparison {
    /// The comparison as a table, followed by the findings.
    pub fn table(&self) -> String {
        let mut text =
            format!("{}\n{:<24} {:>12} {:>12} {:>7}\n", self.stick, "", "flashscope", "flashbench", "ratio");
        for (name, of) in COST_ROWS {
            let (ours, theirs) = (of(&self.ours), of(&self.flashbench));
            text += &format!("{name:<24} {ours:>12.1} {theirs:>12.1} {:>7.3}\n", ours / theirs);
        }
        for (index, id) in FINDINGS.iter().enumerate() {
            let (ours, theirs) = (&self.ours.answers[index], &self.flashbench.answers[index]);
            text += &format!("{id:<24} {ours:>12} {theirs:>12}\n");
        }
        text + "ratio: below 1 if flashscope needs less; its check has further findings\n"
    }
}

/// A cost with its name.
type CostRow = (&'static str, fn(&Side) -> f64);

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
const COST_ROWS: [CostRow; 5] = [
    ("device time, s", |side| side.device_seconds),
    ("MiB written", |side| side.bytes_written as f64 / Bytes::mib(1).as_f64()),
    ("MiB read", |side| side.bytes_read as f64 / Bytes::mib(1).as_f64()),
    ("writes", |side| side.writes as f64),
    ("reads", |side| side.reads as f64),
];
