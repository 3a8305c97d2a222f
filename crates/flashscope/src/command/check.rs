//! `flashscope check`: everything that may be measured, the findings, and what they mean.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_device::layer::Budget;
use flashscope_probe::inference::infer;
use flashscope_probe::survey::Survey;

use super::show;
use crate::args::Check;
use crate::confirm;
use crate::exit::{Exit, Failure};
use crate::outputs;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};

/// What the writing tests may write in all unless told otherwise: four times what they usually write at 8 MiB blocks.
pub const WRITE_BUDGET: Bytes = Bytes::gib(2);

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`], [`target::open`] and [`show::measurement`].
pub fn run(arguments: &Check, printer: &Printer) -> Result<Exit, Failure> {
    outputs::permit(&arguments.output.files, target::file(&arguments.target))?;
    let consent = confirm::erase(&arguments.target, &arguments.erase, printer)?;
    let budget = Budget {
        reads: None,
        bytes_written: Some(arguments.write_budget.unwrap_or(WRITE_BUDGET)),
        device_time: arguments.time_budget.map(Duration::from_secs),
    };
    let mut target = target::open(&arguments.target, consent.as_ref(), budget)?;
    let survey = Survey::new(target.writable, arguments.seed);
    announce(&target, &survey, arguments, printer);
    let mut progress = Progress::new(printer);
    let observations = survey.run(&mut target.device, &mut progress);
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, observations);
    let findings = infer(&run.observations);
    show::measurement(&target, &run, &findings, &arguments.output.files, printer)
}

/// Says what will be done before it is done.
fn announce(target: &Target, survey: &Survey, arguments: &Check, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    for remark in &target.remarks {
        printer.remark(format!("note: {remark}"));
    }
    if !survey.writes {
        printer.remark("reading only: nothing on it changes");
        return;
    }
    let most = arguments.write_budget.unwrap_or(WRITE_BUDGET);
    printer.remark(format!(
        "writing tests: at most {most} will be written, usually far less (--write-budget sets it)"
    ));
}
