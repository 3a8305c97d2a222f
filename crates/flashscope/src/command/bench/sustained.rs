//! `flashscope bench sustained`: one long stream of writes, or samples spread over the target.

use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};
use flashscope_linux::{BackingFilesystem, FileSize, NonStickStorage};
use flashscope_measure::Experiment;
use flashscope_measure::experiment::{Samples, Sustained};

use super::folder;
use crate::args::BenchSustained;
use crate::command::check::budget;
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, duration, outputs};

/// No stick holds more: all the room there is.
const CAPACITY_MAX: Bytes = Bytes::gib(1 << 20);
/// Where a folder lies on no stick, nothing is worth filling nine tenths of it: others live there. Memory gets less.
const ELSEWHERE_MAX: Bytes = Bytes::gib(4);
const IN_MEMORY_MAX: Bytes = Bytes::mib(256);
/// In a folder, a stream over less tells nothing of the long run.
const FILE_MIN: Bytes = Bytes::mib(64);

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`], [`target::open`] and [`show::measurement`].
pub fn run(arguments: &BenchSustained, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    outputs::permit(&arguments.output.files, target::file(name))?;
    let mut target = open(arguments, printer)?;
    if !target.writable {
        let error = anyhow!("this writes to {name}; allow it with --erase");
        return Err(Failure { exit: Exit::Refused, error });
    }
    let experiment = experiment(arguments, &target);
    announce(&target, experiment.as_ref(), arguments, printer);
    let mut progress = Progress::new(printer);
    let mut seen = experiment.measure(&mut target.device, &Budget::UNLIMITED, &mut progress);
    // A cache is that of the stick, and as large as the stick lets it be, however small the file.
    seen.conditions.capacity = target.around.or(seen.conditions.capacity);
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, vec![seen]);
    let findings = flashscope_infer::relevant_findings_of(&run);
    let shown = show::measurement(&target, &run, &findings, &arguments.output.files, printer);
    folder::say_gone(&target, &run, printer);
    shown
}

/// The target itself; of a folder, a file of our own in it: as large as the room allows, or the samples need.
fn open(arguments: &BenchSustained, printer: &Printer) -> Result<Target, Failure> {
    let (name, budget) = (&arguments.target, budget(&arguments.budgets, None));
    if folder::is_folder(name, Some(&arguments.erase))? {
        let size = match arguments.samples {
            Some((count, size)) => FileSize { wanted: size * u64::from(count), minimum: size },
            None => FileSize { wanted: CAPACITY_MAX, minimum: FILE_MIN },
        };
        let size = folder::within(&budget, size, 1)?;
        return target::open_in_folder(name, |ground| on(ground, size), budget, 1, None);
    }
    let consent = confirm::erase(name, &arguments.erase, printer)?;
    target::open(name, consent.as_ref(), budget)
}

/// What the ground of a folder is asked for: all that is left only of a stick.
fn on(ground: &BackingFilesystem, size: FileSize) -> FileSize {
    let most = match ground.non_stick.as_slice() {
        [] => CAPACITY_MAX,
        instead if instead.contains(&NonStickStorage::Memory) => IN_MEMORY_MAX,
        _ => ELSEWHERE_MAX,
    };
    FileSize { wanted: size.wanted.min(most.max(size.minimum)), ..size }
}

/// A folder holds no more samples than its file, one behind the other.
fn experiment(arguments: &BenchSustained, target: &Target) -> Box<dyn Experiment> {
    let seed = arguments.seed;
    match arguments.samples {
        Some((count, size)) if target.is_own_file() => {
            let room = u32::try_from(target.device.capabilities().capacity / size).unwrap_or(u32::MAX);
            Box::new(Samples { count: count.min(room), size, seed })
        }
        Some((count, size)) => Box::new(Samples { count, size, seed }),
        None => Box::new(Sustained { seed, is_thorough: true }),
    }
}

/// Says what it will take before it begins.
fn announce(target: &Target, experiment: &dyn Experiment, arguments: &BenchSustained, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    for remark in &target.remarks {
        printer.remark(format!("note: {remark}"));
    }
    printer.remark(cost(experiment.estimate(&target.device).bytes_written, target, arguments));
}

/// What it writes at most, and how long that takes: no more than the person allows.
fn cost(most: Bytes, target: &Target, arguments: &BenchSustained) -> String {
    let left = target.device.left();
    let most = left.bytes_written.map_or(most, |left| left.min(most));
    let least = Sustained::bytes_min_without_slowdown(target.device.capabilities().capacity);
    let (less, pauses) = match arguments.samples {
        Some(_) => (String::new(), String::new()),
        None if least >= most => (String::new(), pauses()),
        None => (format!(", {least} where no cache is found, less behind a small one"), pauses()),
    };
    let at = |bytes_per_s| {
        let seconds = most.get().div_ceil(bytes_per_s);
        if seconds <= 60 { minutes(1) } else { duration::about(Duration::from_secs(seconds)) }
    };
    let limits = match left.device_time {
        Some(time) => format!("; it ends after {} s in any case, pauses included", time.as_secs_f64()),
        None => " (--write-budget and --time-budget set limits)".to_owned(),
    };
    format!(
        "at most {most} will be written{less}: at 10 MB/s that is {} at most, at 1 MB/s {}{pauses}{limits}",
        at(10_000_000),
        at(1_000_000)
    )
}

fn pauses() -> String {
    format!(", and {} of pauses where a cache is found", minutes(Sustained::pauses().as_secs().div_ceil(60)))
}

fn minutes(count: u64) -> String {
    if count == 1 { "1 minute".to_owned() } else { format!("{count} minutes") }
}
