//! Beside flashbench: what the same answers cost on the same stick, served as a block device.
//!
//! flashbench prints tables and leaves it to a person to read them and to choose the next command. That person is played as
//! patiently as its README tells: one alignment table, then tables of one, two, three, … open units until one of them is
//! slow, in linear and in random order. Its tables are read as `import` reads them. Device time is the time that requests
//! were in flight by the stick's own clock, out of a trace of all of them.

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
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::Observations;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde_json::Value;

use crate::process::{built_binary, output};

/// Which flashbench, on which stick.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The flashbench binary.
    #[arg(long, value_name = "PATH", default_value = "flashbench")]
    program: PathBuf,
    /// The virtual stick that both measure, as `sim serve` takes it. A small erase block keeps flashbench's part short.
    #[arg(long, default_value = "patriot-xt-16g?erase_block=1MiB&capacity=1GiB")]
    stick: String,
    /// How many times as fast as the stick it is served. Device time is the stick's all the same, but what this machine adds
    /// to each request counts as many times.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    speed: f64,
}

/// flashbench's smallest request: at half of it the tables take twice as long.
const SMALLEST: Bytes = Bytes::kib(16);
/// Nobody goes on by hand beyond this.
const UNITS_MAX: u32 = 16;
const ANSWERS: [FindingId; 3] =
    [FindingId::EraseBlockBytes, FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom];

/// What one side did, and what it said.
#[derive(Debug, Serialize)]
struct Side {
    device_seconds: f64,
    bytes_read: u64,
    bytes_written: u64,
    reads: u64,
    writes: u64,
    /// By finding, as text.
    answers: Vec<String>,
}

/// Both sides.
#[derive(Debug, Serialize)]
pub struct Comparison {
    stick: String,
    ours: Side,
    flashbench: Side,
}

/// Lets both measure.
///
/// # Errors
/// Where a stick cannot be served (root and /dev/fuse), or a program is missing or fails.
pub fn run(arguments: &Arguments) -> Result<Comparison> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "a stick is served as a block device here; that needs root"
    );
    ensure!(Path::new("/dev/fuse").exists(), "a stick is served through FUSE here; there is no /dev/fuse");
    let ours = side(arguments, check)?;
    let flashbench = side(arguments, |device| by_hand(&arguments.program, device))?;
    Ok(Comparison { stick: arguments.stick.clone(), ours, flashbench })
}

/// Serves the stick to one side, and reads afterwards what that did to it.
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

/// Our own part: one check, with permission to write.
fn check(device: &str) -> Result<Vec<String>> {
    let text =
        output(Command::new(flashscope()?).args(["check", "--erase", "--yes", "--json", "-q", device]))?;
    let document: Value = serde_json::from_str(&text)?;
    let findings = document["findings"].as_array().context("the check has no findings")?;
    let said = |id: &FindingId| {
        let finding = findings.iter().find(|finding| finding["id"] == id.as_str());
        let text = finding.and_then(|finding| finding["text"].as_str());
        text.unwrap_or("unknown").to_owned()
    };
    Ok(ANSWERS.iter().map(said).collect())
}

/// flashbench's part, as far as the next answer needs it.
fn by_hand(program: &Path, device: &str) -> Result<Vec<String>> {
    let mut tables = vec![table(program, device, &["--align", "--blocksize=1024"])?];
    let erase_block = found(&tables, FindingId::EraseBlockBytes).and_then(|finding| finding.bytes());
    // Whoever sees no erase block takes flashbench's own.
    let size = format!("--erasesize={}", erase_block.unwrap_or(Bytes::mib(4)).get());
    let smallest = format!("--blocksize={}", SMALLEST.get());
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
    let said = |id: &FindingId| {
        let value = found(&tables, *id).and_then(|finding| finding.value());
        value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
    };
    Ok(ANSWERS.iter().map(said).collect())
}

/// One table of flashbench.
fn table(program: &Path, device: &str, arguments: &[&str]) -> Result<Observations> {
    // Without `-o` flashbench opens its standard input for writing; what it is for is little of the output.
    let mut command = Command::new(program);
    let text = output(command.args(["-o", "/dev/null"]).args(arguments).arg(device).stdin(Stdio::null()))?;
    let log = format!("flashbench {}\n{text}", arguments.join(" "));
    let entry = parse(log.as_bytes(), "flashbench's table")?.entries.into_iter().next();
    Ok(entry.context("flashbench printed no table")?.observations)
}

fn found(tables: &[Observations], id: FindingId) -> Option<Finding> {
    infer(tables).into_iter().find(|finding| finding.id == id && finding.value().is_some())
}

/// The program as it is here.
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
        command.arg("--trace").arg(trace).arg(&arguments.stick);
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
            let _gone = kill_process(Pid::from_child(&self.child), Signal::TERM);
            let _status = self.child.wait();
        }
    }
}

impl Comparison {
    /// As a table, what each answered below it.
    pub fn table(&self) -> String {
        let mut text =
            format!("{}\n{:<24} {:>12} {:>12} {:>7}\n", self.stick, "", "flashscope", "flashbench", "ratio");
        for (what, of) in FIGURES {
            let (ours, theirs) = (of(&self.ours), of(&self.flashbench));
            text += &format!("{what:<24} {ours:>12.1} {theirs:>12.1} {:>7.3}\n", ours / theirs);
        }
        for (index, id) in ANSWERS.iter().enumerate() {
            let (ours, theirs) = (&self.ours.answers[index], &self.flashbench.answers[index]);
            text += &format!("{id:<24} {ours:>12} {theirs:>12}\n");
        }
        text + "ratio: below 1 where flashscope needs less; its check answers more than these three\n"
    }
}

/// A figure with its name.
type Figure = (&'static str, fn(&Side) -> f64);

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
const FIGURES: [Figure; 5] = [
    ("device time, s", |side| side.device_seconds),
    ("MiB written", |side| side.bytes_written as f64 / Bytes::mib(1).as_f64()),
    ("MiB read", |side| side.bytes_read as f64 / Bytes::mib(1).as_f64()),
    ("writes", |side| side.writes as f64),
    ("reads", |side| side.reads as f64),
];
