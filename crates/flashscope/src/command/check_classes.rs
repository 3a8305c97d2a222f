//! `flashscope check --class`: the speed classes alone, with an exit code for scripts.

use flashscope_device::layer::Window;
use flashscope_device::{Bytes, Device};
use flashscope_infer::classes::{RANDOM_RANGE, need_writes};
use flashscope_infer::classes_of;
use flashscope_linux::FileSize;
use flashscope_measure::class_tests::ClassTests;
use flashscope_record::observation::Observations;
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, classes_text};

use super::bench::{is_directory, print_removed, within};
use super::show;
use crate::args::Check;
use crate::budget::{WRITE_BUDGET, budget};
use crate::document::ClassesDocument;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, duration, outputs, scratch};

/// The size of the file in a directory: the range of random requests, and the start that *speed* leaves
/// alone.
const FILE_SIZE: Bytes = Bytes::new(RANDOM_RANGE.get() + Bytes::mib(32).get());

/// Runs the command.
///
/// # Errors
/// As [`target::open`], [`target::open_file_on_device`] and [`show::end`].
pub fn run(arguments: &Check, printer: &Printer) -> Result<Exit, Failure> {
    if is_directory(&arguments.target, Some(&arguments.erase))? {
        return in_directory(arguments, printer);
    }
    let consent = confirm::erase(&arguments.target, &arguments.erase, printer)?;
    // The journal needs space on the host, so that it must have a limit.
    let default = arguments.erase.scratch.then_some(WRITE_BUDGET);
    let mut target = target::open(&arguments.target, consent.as_ref(), budget(&arguments.budgets, default))?;
    target.add_claims(&arguments.claimed);
    let tests = tests(arguments, &target);
    let capacity = target.device.capabilities().capacity;
    announce(&target, &tests, capacity, printer);
    let mut target = scratch::start(target, &arguments.erase, printer)?;
    let mut progress = Progress::new(printer).looking_again_at(&target);
    let left = target.device.left().bytes_written;
    let observations = tests.measure(&mut target.device, left, &mut progress);
    target.note_failures(progress.failed_requests());
    let restored = scratch::finish(&mut target, printer);
    let run = show::run_of(&target, observations);
    let shown = show(arguments, &target, &run, printer);
    restored.and(shown)
}

/// The same in a file of its own on a mounted stick.
fn in_directory(arguments: &Check, printer: &Printer) -> Result<Exit, Failure> {
    let text = &arguments.target;
    let budget = budget(&arguments.budgets, Some(WRITE_BUDGET));
    let size = within(&budget, FileSize { wanted: FILE_SIZE, minimum: FILE_SIZE }, 2)?;
    let file = target::file_size_on_device(text, FILE_SIZE)?;
    printer.remark(format!(
        "{text}: the tests use a file of {file}; it has no name, and is gone at the end. Nothing else is changed"
    ));
    let mut file = target::open_file_on_device(text, size, budget)?;
    file.target.add_claims(&arguments.claimed);
    let tests = tests(arguments, &file.target);
    announce(&file.target, &tests, file.in_file.length, printer);
    let mut progress = Progress::new(printer);
    let left = file.target.device.left().bytes_written;
    let mut device = Window::new(&mut file.target.device, file.in_file);
    let observations: Vec<Observations> = tests.measure(&mut device, left, &mut progress);
    let mut target = file.target;
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, observations);
    let shown = show(arguments, &target, &run, printer);
    print_removed(&target, &run, printer);
    shown
}

fn tests(arguments: &Check, target: &Target) -> ClassTests {
    ClassTests {
        writes: target.writable && need_writes(&target.attachment.claims.marks),
        allocation_unit: target.attachment.claims.allocation_unit,
        link: Some(target.link.clone().unwrap_or_else(target::memory)),
        is_buffered: target.is_buffered,
        seed: arguments.seed,
    }
}

/// Prints what is measured and its cost at most, within the budgets.
fn announce(target: &Target, tests: &ClassTests, capacity: Bytes, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    printer.notes(&target.remarks);
    let (cost, left) = (tests.cost(capacity), target.device.left());
    let time = duration::about(left.device_time.map_or(cost.time, |left| left.min(cost.time)));
    if !need_writes(&target.attachment.claims.marks) {
        printer.remark(format!("reads only, at most {time}: the claims are about reading"));
        return;
    }
    if !tests.writes {
        printer.remark(format!(
            "reads only, at most {time}: the classes need writes; --scratch (all data is put back) or --erase permits them"
        ));
        return;
    }
    let bytes = left.bytes_written.map_or(cost.bytes_written, |left| left.min(cost.bytes_written));
    printer.remark(format!(
        "at most {bytes} will be written in {time}, usually far less (limit it with --write-budget)"
    ));
}

/// Prints and stores the classes, and chooses the exit code: that of the measurement comes first.
fn show(arguments: &Check, target: &Target, run: &RunFile, printer: &Printer) -> Result<Exit, Failure> {
    let files = &arguments.output.files;
    let shown = if printer.json {
        printer.document(&ClassesDocument::new(run, Some(target.identity.clone())))
    } else {
        printer.result(&classes_text(&Report::new(run, &[]), printer.width(), printer.style()))
    };
    let stored = outputs::write(files, &Report::new(run, &[]), printer);
    shown.map_err(Failure::from).and(stored)?;
    Ok(match show::end(target, run, files, printer)? {
        Exit::Fine => exit(run),
        other => other,
    })
}

/// Exit code 1 if a claim fails, 5 if none can be tested, or no class at all if nothing is claimed.
fn exit(run: &RunFile) -> Exit {
    let classes = classes_of(run);
    match (classes.has_failed_claim(), classes.is_testable()) {
        (true, _) => Exit::Problem,
        (false, true) => Exit::Fine,
        (false, false) => Exit::NotTestable,
    }
}
