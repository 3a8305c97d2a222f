//! `flashscope check`: everything that may be measured, the findings, and what they mean.

use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{Bytes, Device};
use flashscope_probe::inference::infer;
use flashscope_probe::survey::Survey;

use super::show;
use crate::args::{Budgets, Check};
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
    let default = (!arguments.sustained).then_some(WRITE_BUDGET);
    let mut target = target::open(&arguments.target, consent.as_ref(), budget(&arguments.budgets, default))?;
    if arguments.sustained && !target.writable {
        let error = anyhow!("--sustained writes to {}; allow it with --erase", arguments.target);
        return Err(Failure { exit: Exit::Refused, error });
    }
    let survey = Survey::new(target.writable, arguments.seed);
    announce(&target, &survey, arguments, printer);
    let mut progress = Progress::new(printer);
    let mut observations = Vec::new();
    if arguments.sustained {
        observations.extend(survey.fill(&mut target.device, &mut progress));
    }
    let rest = Budget { bytes_written: Some(WRITE_BUDGET), ..Budget::UNLIMITED };
    observations.extend(survey.run(&mut Meter::new(&mut target.device, rest), &mut progress));
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, observations);
    let findings = infer(&run.observations);
    show::measurement(&target, &run, &findings, &arguments.output.files, printer)
}

/// What a person allows a measurement to cost; `default` is the most that is written unless told otherwise.
pub fn budget(budgets: &Budgets, default: Option<Bytes>) -> Budget {
    Budget {
        reads: None,
        bytes_written: budgets.write_budget.or(default),
        device_time: budgets.time_budget.map(Duration::from_secs),
    }
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
    if arguments.sustained {
        let least = target.device.capabilities().capacity / 3;
        printer.remark(format!(
            "first one stream of writes, until caches are full: {least} or more where none is found, at most the whole stick \
             (--write-budget and --time-budget set limits)"
        ));
    }
    let most = arguments.budgets.write_budget.unwrap_or(WRITE_BUDGET);
    printer.remark(format!(
        "writing tests: at most {most} will be written, usually far less (--write-budget sets it)"
    ));
}
