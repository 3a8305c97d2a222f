//! `flashscope check`: runs all permitted experiments and prints the findings, the bottleneck and advice.

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{Bytes, Device};
use flashscope_measure::experiment::Sustained;
use flashscope_measure::survey::Survey;
use flashscope_record::observation::Observations;

use super::bench::is_directory;
use super::{check_directory, show};
use crate::args::Check;
use crate::budget::{WRITE_BUDGET, budget};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, duration, outputs, scratch};

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`], [`target::open`] and [`show::measurement`].
pub fn run(arguments: &Check, printer: &Printer) -> Result<Exit, Failure> {
    outputs::permit(&arguments.output.files, target::file(&arguments.target))?;
    if is_directory(&arguments.target, Some(&arguments.erase))? {
        return check_directory::run(arguments, printer);
    }
    let consent = confirm::erase(&arguments.target, &arguments.erase, printer)?;
    let default = (!arguments.sustained).then_some(WRITE_BUDGET);
    let target = target::open(&arguments.target, consent.as_ref(), budget(&arguments.budgets, default))?;
    if arguments.sustained && !target.writable {
        let error = anyhow!(
            "--sustained writes to {}; allow it with --scratch (all data is put back) or --erase",
            arguments.target
        );
        return Err(Failure { exit: Exit::Refused, error });
    }
    let survey = Survey::new(target.writable, arguments.seed);
    announce(&target, &survey, arguments, printer);
    let mut target = scratch::start(target, &arguments.erase, printer)?;
    let mut progress = Progress::new(printer);
    let observations = measure(&survey, arguments, &mut target, &mut progress);
    target.note_failures(progress.failed_requests());
    let restored = scratch::finish(&mut target, printer);
    let run = show::run_of(&target, observations);
    let findings = flashscope_infer::findings_of(&run);
    let printer = &printer.with_details(arguments.details);
    let shown = show::measurement(&target, &run, &findings, &arguments.output.files, printer);
    restored.and(shown)
}

/// A long stream of writes first, then the experiments, then the speeds.
fn measure(
    survey: &Survey,
    arguments: &Check,
    target: &mut Target,
    progress: &mut Progress,
) -> Vec<Observations> {
    let mut observations = Vec::new();
    if arguments.sustained {
        observations.extend(survey.fill(&mut target.device, progress));
    } else if survey.writes {
        observations.push(survey.fill_briefly(&mut target.device, progress));
    }
    let rest =
        Budget { bytes_written: arguments.budgets.write_budget.or(Some(WRITE_BUDGET)), ..Budget::UNLIMITED };
    let device = &mut Meter::new(&mut target.device, rest);
    observations.extend(survey.run(device, progress));
    observations.extend(survey.speeds(device, target.link.as_ref(), progress));
    observations
}

/// Prints what will be measured and written.
fn announce(target: &Target, survey: &Survey, arguments: &Check, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    for remark in &target.remarks {
        printer.remark(format!("note: {remark}"));
    }
    if !survey.writes {
        printer.remark("read only: the data on it does not change");
        return;
    }
    let allowed = arguments.budgets.write_budget;
    if arguments.sustained {
        let (device, capacity) = (&target.device, target.device.capabilities().capacity);
        let most = survey.fill_estimate(device).bytes_written;
        let least = Sustained::bytes_min_without_slowdown(capacity);
        printer.remark(format!(
            "first one long stream of writes, until the SLC cache is exhausted: at least {} if there is no cache, at most {} \
             (limit it with --write-budget and --time-budget)",
            within(least, allowed),
            within(most, allowed)
        ));
    }
    let (tests, left) = if arguments.sustained {
        ("then the other write tests", " minus the stream")
    } else {
        ("write tests", "")
    };
    let left = if allowed.is_some() { left } else { "" };
    printer.remark(format!(
        "{tests}: at most {}{left} will be written, usually far less (limit it with --write-budget)",
        allowed.unwrap_or(WRITE_BUDGET)
    ));
    if let Some(time) = arguments.budgets.time_budget {
        printer.remark(format!("ends after {} at the latest (--time-budget)", duration::exact(time)));
    }
}

fn within(most: Bytes, allowed: Option<Bytes>) -> Bytes {
    allowed.map_or(most, |allowed| allowed.min(most))
}
