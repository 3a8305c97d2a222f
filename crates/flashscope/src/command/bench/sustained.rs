//! `flashscope bench sustained`: one long sequential stream of writes, or samples spread over the target.

use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};
use flashscope_linux::{BackingFilesystem, FileSize, NonStickStorage};
use flashscope_measure::experiment::{Samples, Sustained};
use flashscope_measure::{Experiment, Extent};

use super::directory;
use crate::args::BenchSustained;
use crate::budget::budget;
use crate::command::concluded::Concluded;
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, duration, outputs, scratch};

/// The largest file in a directory on a stick: 1 PiB, no limit.
const FILE_SIZE_MAX: Bytes = Bytes::gib(1 << 20);
/// The largest file in a directory that is not on a stick. Guess: other programs use that disk.
const FILE_SIZE_OTHER_DISK_MAX: Bytes = Bytes::gib(4);
/// The largest file in memory (tmpfs). Guess.
const FILE_SIZE_MEMORY_MAX: Bytes = Bytes::mib(256);
/// The smallest file for a stream. Guess: less says nothing about the sustained speed.
const FILE_SIZE_MIN: Bytes = Bytes::mib(64);

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`], [`target::open`] and [`show::measurement`].
pub fn run(arguments: &BenchSustained, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    outputs::permit(&arguments.output.files, target::file(name))?;
    let target = open(arguments, printer)?;
    if !target.writable {
        let error =
            anyhow!("this writes to {name}; allow it with --scratch (all data is put back) or --erase");
        return Err(Failure { exit: Exit::Refused, error });
    }
    let experiment = experiment(arguments, &target);
    announce(&target, experiment.as_ref(), arguments, printer);
    let mut target = scratch::start(target, &arguments.erase, printer)?;
    let mut progress = Progress::new(printer);
    let mut seen = experiment.measure(&mut target.device, &Budget::UNLIMITED, &mut progress);
    // The SLC cache belongs to the whole stick, not to the file.
    seen.conditions.capacity = target.filesystem_capacity.or(seen.conditions.capacity);
    target.note_failures(progress.failed_requests());
    let restored = scratch::finish(&mut target, printer);
    let run = show::run_of(&target, vec![seen]);
    let concluded = Concluded::from_findings(flashscope_infer::relevant_findings_of(&run));
    let shown = show::measurement(&target, &run, &concluded, &arguments.output.files, printer);
    directory::print_removed(&target, &run, printer);
    restored.and(shown)
}

/// The target itself, or a file of its own in a directory: as large as the free space, or as the samples.
fn open(arguments: &BenchSustained, printer: &Printer) -> Result<Target, Failure> {
    let (name, budget) = (&arguments.target, budget(&arguments.budgets, None));
    if directory::is_directory(name, Some(&arguments.erase))? {
        let size = match arguments.samples {
            Some((count, size)) => FileSize { wanted: size * u64::from(count), minimum: size },
            None => FileSize { wanted: FILE_SIZE_MAX, minimum: FILE_SIZE_MIN },
        };
        let size = directory::within(&budget, size, 1)?;
        return target::open_in_directory(name, |ground| size_on(ground, size), budget, 1, None);
    }
    let consent = confirm::erase(name, &arguments.erase, printer)?;
    target::open(name, consent.as_ref(), budget)
}

/// The size of the file on this backing filesystem: all free space only on a stick.
fn size_on(ground: &BackingFilesystem, size: FileSize) -> FileSize {
    let most = match ground.non_stick.as_slice() {
        [] => FILE_SIZE_MAX,
        instead if instead.contains(&NonStickStorage::Memory) => FILE_SIZE_MEMORY_MAX,
        _ => FILE_SIZE_OTHER_DISK_MAX,
    };
    FileSize { wanted: size.wanted.min(most.max(size.minimum)), ..size }
}

/// The stream, or the samples; a file holds only a limited number of samples.
fn experiment(arguments: &BenchSustained, target: &Target) -> Box<dyn Experiment> {
    let seed = arguments.seed;
    match arguments.samples {
        Some((count, size)) if target.is_own_file() => {
            let room = u32::try_from(target.device.capabilities().capacity / size).unwrap_or(u32::MAX);
            Box::new(Samples { count: count.min(room), size, seed })
        }
        Some((count, size)) => Box::new(Samples { count, size, seed }),
        None => Box::new(Sustained { seed, extent: Extent::Thorough, device_capacity: None }),
    }
}

/// Prints what will be measured and written.
fn announce(target: &Target, experiment: &dyn Experiment, arguments: &BenchSustained, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    printer.notes(&target.remarks);
    printer.remark(cost(experiment.estimate(&target.device).bytes_written, target, arguments));
}

/// The largest amount written and the longest time, within the budgets.
fn cost(most: Bytes, target: &Target, arguments: &BenchSustained) -> String {
    let left = target.device.left();
    let most = left.bytes_written.map_or(most, |left| left.min(most));
    let least = Sustained::bytes_min_without_slowdown(target.device.capabilities().capacity);
    let (less, pauses) = match arguments.samples {
        Some(_) => (String::new(), String::new()),
        None if least >= most => (String::new(), pauses()),
        None => (format!(" ({least} if there is no SLC cache, less if it is small)"), pauses()),
    };
    let at = |bytes_per_s| {
        let seconds = most.get().div_ceil(bytes_per_s);
        if seconds <= 60 { minutes(1) } else { duration::about(Duration::from_secs(seconds)) }
    };
    let limits = match left.device_time {
        Some(time) => format!("; ends after {} s at the latest, pauses included", time.as_secs_f64()),
        None => " (limit it with --write-budget and --time-budget)".to_owned(),
    };
    format!(
        "at most {most} will be written{less}: at most {} at 10 MB/s, {} at 1 MB/s{pauses}{limits}",
        at(10_000_000),
        at(1_000_000)
    )
}

fn pauses() -> String {
    format!(
        ", plus {} of pauses if there is an SLC cache",
        minutes(Sustained::pauses().as_secs().div_ceil(60))
    )
}

fn minutes(count: u64) -> String {
    if count == 1 { "1 minute".to_owned() } else { format!("{count} minutes") }
}
