//! `flashscope check` of a mounted directory: the same experiments, inside a file of its own.

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::layer::{Budget, Meter, Window};
use flashscope_layout::steps::quoted_path;
use flashscope_linux::FileSize;
use flashscope_measure::survey::Survey;
use flashscope_record::observation::Observations;

use super::bench::{print_removed, within};
use super::concluded::Concluded;
use super::show;
use crate::args::Check;
use crate::budget::{WRITE_BUDGET, budget};
use crate::duration;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, FileOnDevice};

/// The size of the file. Filling it takes half a minute at 8 MB/s.
const FILE_SIZE: Bytes = Bytes::mib(256);
/// The smallest file. Guess: a smaller one may fit into the controller's write buffer.
const FILE_SIZE_MIN: Bytes = Bytes::mib(16);

/// Runs the command.
///
/// # Errors
/// As [`target::open_file_on_device`] and [`show::check`]; exit code 2 with `--sustained`.
pub fn run(arguments: &Check, printer: &Printer) -> Result<Exit, Failure> {
    let text = &arguments.target;
    if arguments.sustained {
        let error = anyhow!(
            "--sustained writes more than a file in {text} holds; use `flashscope bench sustained {}`, which fills the free space",
            quoted_path(text)
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    let budget = budget(&arguments.budgets, Some(WRITE_BUDGET));
    let size = within(&budget, FileSize { wanted: FILE_SIZE, minimum: FILE_SIZE_MIN }, 2)?;
    announce(arguments, size.wanted, printer)?;
    let mut file = target::open_file_on_device(text, size, budget)?;
    printer.remark(format!("{text}: {}", file.target.name));
    printer.notes(&file.target.remarks);
    let mut progress = Progress::new(printer);
    let observations = measure(arguments, &mut file, &mut progress);
    let mut target = file.target;
    target.add_claims(&arguments.claimed);
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, observations);
    let findings = flashscope_infer::findings_of(&run);
    let concluded = Concluded::of_check(&run, findings, || !target.interrupt.is_requested());
    let printer = &printer.with_details(arguments.details);
    let shown = show::check(&target, &run, &concluded, &arguments.output.files, printer);
    if target.interrupt.is_requested() {
        print_removed(&target, &run, printer);
    }
    shown
}

/// Prints how large the file is, and how much is written at most.
fn announce(arguments: &Check, filled: Bytes, printer: &Printer) -> Result<(), Failure> {
    let (text, budgets) = (&arguments.target, &arguments.budgets);
    let file = target::file_size_on_device(text, filled)?;
    printer.remark(format!(
        "{text}: the tests use a file of at most {file}; it has no name, and is gone at the end. Nothing else is changed"
    ));
    printer.remark(format!(
        "first at most {filled} of it are written once, then write tests follow: at most {} in total (limit it with --write-budget)",
        budgets.write_budget.unwrap_or(WRITE_BUDGET)
    ));
    if let Some(time) = budgets.time_budget {
        printer.remark(format!("ends after {} at the latest (--time-budget)", duration::exact(time)));
    }
    Ok(())
}

/// A brief stream first, then the experiments, then the speeds, as on a whole device.
fn measure(arguments: &Check, file: &mut FileOnDevice, progress: &mut Progress) -> Vec<Observations> {
    let survey = Survey { file: Some(file.place), ..Survey::new(true, arguments.seed) };
    let link = file.target.link.clone();
    let time_max = file.target.device.left().device_time;
    let mut device = Window::new(&mut file.target.device, file.in_file);
    let stages = [survey.brief_fill_stage(&device)].into_iter().chain(survey.stages(&device));
    progress.expect(stages.collect::<Vec<_>>(), time_max);
    let mut observations = vec![survey.fill_briefly(&mut device, progress)];
    let rest =
        Budget { bytes_written: arguments.budgets.write_budget.or(Some(WRITE_BUDGET)), ..Budget::UNLIMITED };
    let device = &mut Meter::new(&mut device, rest);
    observations.extend(survey.run(device, progress));
    observations.extend(survey.speeds(device, link.as_ref(), progress));
    observations
}
