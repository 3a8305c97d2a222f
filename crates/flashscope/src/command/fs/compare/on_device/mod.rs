//! Trials on a real stick: each filesystem is made, mounted, filled and read, in rounds.

mod candidates;
mod conditions;
mod files;
mod line;
mod place;
mod stick;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_layout::steps::quoted_path;
use flashscope_linux::{ScratchFiles, TrialMount, tool};
use flashscope_measure::workload::Stopped;
use flashscope_measure::workload::trials::{TrialsData, TrialsEvent, TrialsWorkload};
use flashscope_report::counted;
use flashscope_report::filesystems::TrialSource;

use super::compared::Compared;
use crate::args::FsCompare;
use crate::confirm::{Agreed, Given};
use crate::exit::{Exit, Failure, OrExit};
use crate::interrupt::on_interrupt;
use crate::printer::Printer;
use crate::{confirm, duration, seed, target};

use candidates::{Planned, planned};
use line::Line;
use place::Place;
use stick::{Stick, TrialFailure};

/// The seed of order, files and contents by default.
const SEED: u64 = 1;

/// The time budget by default, as that of `bench files`.
const TIME_BUDGET: Duration = Duration::from_secs(600);

/// Programs that every trial needs, with their packages (Debian).
const PROGRAMS: [(&str, &str); 2] = [("sfdisk", "fdisk"), ("partx", "util-linux")];

/// Compares on a disk, partition or loop device. All data on it is lost.
///
/// # Errors
/// Exit code 2 for a wrong target or option, a program that is missing, or without root; 4 if the target must
/// not be written or the answer is no; 3 if nothing could be measured.
pub fn compare(arguments: &FsCompare, printer: &Printer) -> Result<Compared, Failure> {
    refuse_others(arguments)?;
    let models = files::models(arguments, printer)?;
    let variants = candidates::variants(&arguments.filesystems)?;
    let mut target = target::open(&arguments.target, None, Budget::UNLIMITED)?;
    printer.notes(&target.remarks);
    let place = Place::of(&mut target, arguments, printer)?;
    if target.interrupt.is_requested() {
        return Err(interrupted());
    }
    let device = target.name.clone();
    drop(target);
    let seed = arguments.seed.unwrap_or(SEED);
    let planned = planned(&variants, &place, seed)?;
    for left_out in &planned.left_out {
        printer.detail(conditions::left_out(left_out));
    }
    let workload = TrialsWorkload {
        candidates: planned.candidates(),
        models,
        seed,
        rounds: arguments.rounds,
        time_budget: arguments.time_budget.unwrap_or(TIME_BUDGET),
    };
    announce(&workload, printer);
    let given = Given { yes: arguments.yes.as_ref(), takes_other_files: false };
    let consent = confirm::overwrite(&arguments.target, "All data on it will be lost.", given, printer)?;
    let (data, ended) = measure(&workload, &planned, (&arguments.target, &consent, &place), printer)?;
    let (failures, exit) = outcome(&data, ended);
    let fewer = conditions::fewer(&data, &workload);
    let notes = conditions::notes(&data, &workload, &planned, place.medium.erase_block, &fewer);
    let start = planned.start();
    let source = TrialSource::Measured { kernel: kernel() };
    Ok(Compared { device, start, seed, source, trials: data.trials, fewer, failures, notes, exit })
}

/// The version of the running kernel; empty if it does not say.
fn kernel() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

/// Refuses targets without a block device, users who may not mount, and systems without the programs.
fn refuse_others(arguments: &FsCompare) -> Result<(), Failure> {
    let text = &arguments.target;
    let path = Path::new(text);
    let error = if path.is_file() {
        anyhow!(
            "{text} is an image file, and filesystems are mounted from a disk; attach it, and name the loop device: sudo \
             losetup --find --show --partscan {}",
            quoted_path(text)
        )
    } else if path.is_dir() {
        anyhow!(
            "{text} is a directory, and filesystems are made on a whole disk; to measure the one that is there: flashscope \
             bench files {}",
            quoted_path(text)
        )
    } else if arguments.recordings.is_some() {
        anyhow!(
            "--recordings is for virtual sticks, and {text} is none: filesystems are made and measured there"
        )
    } else if !rustix::process::geteuid().is_root() {
        anyhow!("making and mounting filesystems needs root: put sudo before the command")
    } else if let Some((program, package)) = PROGRAMS.iter().find(|(program, _)| tool(program).is_none()) {
        anyhow!("{program} is not installed; install the package {package}")
    } else {
        return Ok(());
    };
    Err(Failure { exit: Exit::Usage, error })
}

fn interrupted() -> Failure {
    Failure { exit: Exit::Interrupted, error: anyhow!("interrupted; nothing was written") }
}

/// Says what will be measured, before the question.
fn announce(workload: &TrialsWorkload, printer: &Printer) {
    let names: Vec<&str> = workload.candidates.iter().map(|each| each.variant.as_str()).collect();
    let files: Vec<String> = workload
        .models
        .iter()
        .map(|model| {
            format!(
                "{} ({}, {})",
                model.workload.name(),
                counted(model.count().into(), "file"),
                model.bytes()
            )
        })
        .collect();
    let rounds = match workload.rounds {
        Some(rounds) => counted(rounds.into(), "round"),
        None => {
            format!("{} to {} rounds, until it is clear", workload.rounds_wanted(), workload.rounds_max())
        }
    };
    printer.remark(format!(
        "each of {} is made anew, filled and read back with: {}. {rounds}; no round but the first starts after {} \
         (--time-budget)",
        names.join(", "),
        files.join(", "),
        duration::exact(workload.time_budget)
    ));
}

/// What was measured, and how it ended.
type Ended = (TrialsData, Result<(), Stopped<TrialFailure>>);

fn measure(
    workload: &TrialsWorkload,
    planned: &Planned,
    (text, consent, place): (&str, &Agreed, &Place),
    printer: &Printer,
) -> Result<Ended, Failure> {
    let parent = std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from);
    let scratch = ScratchFiles::new(&parent).or_exit_bare(Exit::Failed)?;
    let interrupt = on_interrupt()?;
    let mount = TrialMount::new(&parent).or_exit_bare(Exit::Usage)?;
    let mut stick = Stick {
        text,
        consent,
        place,
        planned,
        scratch,
        mount,
        identity: None,
        id_seed: seed::random(),
        lock: None,
    };
    let mut data = TrialsData::default();
    let mut line = Line::new(printer);
    let mut observer = |event: TrialsEvent<'_>| line.show(&event);
    let ended = workload.measure(&mut stick, &mut data, &interrupt, &mut observer);
    drop(stick);
    Ok((data, ended))
}

/// The failures, and how the command ends. What was measured before a failure is kept.
fn outcome(data: &TrialsData, ended: Result<(), Stopped<TrialFailure>>) -> (Vec<String>, Exit) {
    let mut failures: Vec<String> = data
        .corrupt
        .iter()
        .map(|(variant, files)| format!("{variant}: {files} files did not hold what was written to them"))
        .collect();
    let exit = match ended {
        Err(Stopped::Interrupted) => Exit::Interrupted,
        Err(Stopped::Host(error)) => {
            failures.push(format!("{:#}", error.failure.error));
            error.failure.exit
        }
        Ok(()) if data.trials.is_empty() => Exit::Failed,
        Ok(()) if failures.is_empty() => Exit::Fine,
        Ok(()) => Exit::Problem,
    };
    (failures, exit)
}
