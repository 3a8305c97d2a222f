//! `flashscope bench sustained`: one long stream of writes, or samples spread over the target.

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};
use flashscope_linux::FileSize;
use flashscope_probe::Experiment;
use flashscope_probe::experiment::{Samples, Sustained};
use flashscope_probe::inference::infer_run;

use super::folder;
use crate::args::BenchSustained;
use crate::command::check::budget;
use crate::command::show;
use crate::confirm;
use crate::exit::{Exit, Failure};
use crate::outputs;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};

/// No stick holds more: all the room there is.
const CAPACITY_MAX: Bytes = Bytes::gib(1 << 20);
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
    let experiment = experiment(arguments);
    announce(&target, experiment.as_ref(), arguments, printer);
    let mut progress = Progress::new(printer);
    let seen = experiment.measure(&mut target.device, &Budget::UNLIMITED, &mut progress);
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, vec![seen]);
    let findings = infer_run(&run.observations);
    show::measurement(&target, &run, &findings, &arguments.output.files, printer)
}

/// The target itself; of a folder, a file of our own in it: as large as the room allows, or the samples need.
fn open(arguments: &BenchSustained, printer: &Printer) -> Result<Target, Failure> {
    let (name, budget) = (&arguments.target, budget(&arguments.budgets, None));
    if folder::is_folder(name, Some(&arguments.erase))? {
        let size = match arguments.samples {
            Some((count, size)) => FileSize { wanted: size * u64::from(count), least: size },
            None => FileSize { wanted: CAPACITY_MAX, least: FILE_MIN },
        };
        return target::open_in_folder(name, size, budget, 1);
    }
    let consent = confirm::erase(name, &arguments.erase, printer)?;
    target::open(name, consent.as_ref(), budget)
}

fn experiment(arguments: &BenchSustained) -> Box<dyn Experiment> {
    let seed = arguments.seed;
    match arguments.samples {
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
    let most = experiment.estimate(&target.device).bytes_written;
    let least = match arguments.samples {
        Some(_) => String::new(),
        None => format!("; a third of that where no cache is found ({}), less behind one", third(target)),
    };
    printer.remark(format!(
        "at most {most} will be written{least}: at 10 MB/s that is {} minutes (--write-budget and --time-budget set limits)",
        most.get() / 600_000_000 + 1
    ));
}

fn third(target: &Target) -> Bytes {
    (target.device.capabilities().capacity / 3).round_down(Bytes::mib(1))
}
