//! `flashscope check`: everything that may be measured, the findings, and what they mean.

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{Bytes, Device};
use flashscope_measure::experiment::Sustained;
use flashscope_measure::survey::Survey;

use super::show;
use crate::args::{Budgets, Check};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, duration, outputs};

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
    let rest =
        Budget { bytes_written: arguments.budgets.write_budget.or(Some(WRITE_BUDGET)), ..Budget::UNLIMITED };
    observations.extend(survey.run(&mut Meter::new(&mut target.device, rest), &mut progress));
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, observations);
    let findings = flashscope_infer::findings_of(&run);
    show::measurement(&target, &run, &findings, &arguments.output.files, printer)
}

/// What a person allows a measurement to cost; `default` is the most that is written unless told otherwise.
pub fn budget(budgets: &Budgets, default: Option<Bytes>) -> Budget {
    Budget { reads: None, bytes_written: budgets.write_budget.or(default), device_time: budgets.time_budget }
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
    let allowed = arguments.budgets.write_budget;
    if arguments.sustained {
        let (device, capacity) = (&target.device, target.device.capabilities().capacity);
        let most = survey.fill_estimate(device).bytes_written;
        let least = Sustained::bytes_min_without_slowdown(capacity);
        printer.remark(format!(
            "first one stream of writes, until caches are full: {} or more where none is found, at most {} \
             (--write-budget and --time-budget set limits)",
            least_of(least, allowed),
            least_of(most, allowed)
        ));
    }
    let (tests, left) = if arguments.sustained {
        ("then the other writing tests", " as far as that is left")
    } else {
        ("writing tests", "")
    };
    let left = if allowed.is_some() { left } else { "" };
    printer.remark(format!(
        "{tests}: at most {}{left} will be written, usually far less (--write-budget sets it)",
        allowed.unwrap_or(WRITE_BUDGET)
    ));
    if let Some(time) = arguments.budgets.time_budget {
        printer.remark(format!("it ends after {} in any case (--time-budget)", duration::told(time)));
    }
}

fn least_of(most: Bytes, allowed: Option<Bytes>) -> Bytes {
    allowed.map_or(most, |allowed| allowed.min(most))
}
