//! `flashscope check`: runs all permitted experiments and prints the findings, the bottleneck and advice.

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Clip, Meter};
use flashscope_device::{Bytes, Device, DeviceError};
use flashscope_measure::Stage;
use flashscope_measure::experiment::Sustained;
use flashscope_measure::survey::Survey;
use flashscope_record::observation::Observations;
use flashscope_record::{CapacityVerdict, RunFile};

use super::bench::is_directory;
use super::concluded::Concluded;
use super::{capacity_probe, check_classes, check_directory, show};
use crate::args::Check;
use crate::budget::{WRITE_BUDGET, budget};
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, duration, outputs, scratch};

/// A counterfeit that stores less is not measured further. Guess: no experiment says anything about it.
const STORED_MIN: Bytes = Bytes::mib(16);

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`], [`target::open`] and [`show::check`].
pub fn run(arguments: &Check, printer: &Printer) -> Result<Exit, Failure> {
    outputs::permit(&arguments.output.files, target::file(&arguments.target))?;
    if arguments.class {
        return check_classes::run(arguments, printer);
    }
    if is_directory(&arguments.target, Some(&arguments.erase))? {
        return check_directory::run(arguments, printer);
    }
    let consent = confirm::erase(&arguments.target, &arguments.erase, printer)?;
    let default = (!arguments.sustained).then_some(WRITE_BUDGET);
    let mut target = target::open(&arguments.target, consent.as_ref(), budget(&arguments.budgets, default))?;
    if arguments.sustained && !target.writable {
        let error = anyhow!(
            "--sustained writes to {}; allow it with --scratch (all data is put back) or --erase",
            arguments.target
        );
        return Err(Failure { exit: Exit::Refused, error });
    }
    target.add_claims(&arguments.claimed);
    let survey = Survey::new(target.writable, arguments.seed);
    announce(&target, &survey, arguments, printer);
    let mut target = scratch::start(target, &arguments.erase, printer)?;
    let mut progress = Progress::new(printer).looking_again_at(&target);
    progress.expect(stages(&survey, &target, arguments.sustained), target.device.left().device_time);
    let measured = measure(arguments, &survey, &mut target, &mut progress, printer);
    target.note_failures(progress.failed_requests());
    let restored = scratch::finish(&mut target, printer);
    let run = RunFile { capacity: measured.capacity, ..show::run_of(&target, measured.observations) };
    let findings = flashscope_infer::findings_of(&run);
    let concluded = Concluded::of_check(&run, findings, || !target.interrupt.is_requested());
    let printer = &printer.with_details(arguments.details);
    let shown = show::check(&target, &run, &concluded, &arguments.output.files, printer);
    let failed = measured.failed.map_or(Ok(()), |error| Err(error).or_exit_bare(Exit::Failed));
    restored.and(failed).and(shown)
}

/// The run of a virtual stick with all tests, without a report.
///
/// # Errors
/// As [`target::open`]; exit code 3 if the device fails.
pub fn of_virtual(text: &str, seed: u64, printer: &Printer) -> Result<RunFile, Failure> {
    let arguments = Check::of_virtual(text, seed);
    let consent = confirm::erase(text, &arguments.erase, printer)?;
    let mut target = target::open(text, consent.as_ref(), budget(&arguments.budgets, Some(WRITE_BUDGET)))?;
    let survey = Survey::new(target.writable, seed);
    let mut progress = Progress::new(printer);
    progress.expect(stages(&survey, &target, false), target.device.left().device_time);
    let measured = measure(&arguments, &survey, &mut target, &mut progress, printer);
    target.note_failures(progress.failed_requests());
    measured.failed.map_or(Ok(()), |error| Err(error).or_exit_bare(Exit::Failed))?;
    Ok(RunFile { capacity: measured.capacity, ..show::run_of(&target, measured.observations) })
}

/// What the whole check is expected to take.
fn stages(survey: &Survey, target: &Target, is_sustained: bool) -> Vec<Stage> {
    let device = &target.device;
    let tested = survey.writes.then(|| capacity_probe::stage(target)).flatten();
    let (first, last) = if is_sustained { (tested, None) } else { (None, tested) };
    let mut stages: Vec<Stage> = first.into_iter().collect();
    if is_sustained {
        stages.extend(survey.fill_stages(device));
    } else if survey.writes {
        stages.push(survey.brief_fill_stage(device));
    }
    stages.extend(survey.stages(device));
    stages.extend(last);
    stages
}

/// What was measured.
struct Checked {
    observations: Vec<Observations>,
    capacity: Option<CapacityVerdict>,
    /// The failure of the device during the test of the capacity.
    failed: Option<DeviceError>,
}

/// Runs the survey, and the test of the capacity after it, so that the survey meets the stick as it was.
/// Before a long stream the test comes first: the stream would write for hours to a counterfeit. If the
/// capacity is false, all experiments run on the part that stores data.
fn measure(
    arguments: &Check,
    survey: &Survey,
    target: &mut Target,
    progress: &mut Progress<'_>,
    printer: &Printer,
) -> Checked {
    let test = |target: &mut Target, progress: &mut Progress<'_>| {
        let tested = match survey.writes {
            true => capacity_probe::run(target, arguments.seed, progress, printer),
            false => Ok(None),
        };
        match tested {
            Ok(verdict) => (verdict, None),
            Err(DeviceError::Interrupted) => (None, None),
            Err(error) => (None, Some(error)),
        }
    };
    if arguments.sustained {
        let (capacity, failed) = test(target, progress);
        let stored = capacity_probe::stored(capacity.as_ref());
        note_stored(target, stored);
        let observations = experiments(survey, arguments, target, stored, progress);
        return Checked { observations, capacity, failed };
    }
    let mut observations = experiments(survey, arguments, target, None, progress);
    let (capacity, failed) = test(target, progress);
    if let Some(stored) = capacity_probe::stored(capacity.as_ref()) {
        printer.remark("the capacity is false: all tests run again, on the part that stores data");
        note_stored(target, Some(stored));
        let device = &target.device;
        let again = [survey.brief_fill_stage(device)].into_iter().chain(survey.stages(device));
        progress.expect(again, device.left().device_time);
        observations = experiments(survey, arguments, target, Some(stored), progress);
    }
    Checked { observations, capacity, failed }
}

/// A stream of writes first, then the experiments, then the speeds, on the part that stores data.
fn experiments(
    survey: &Survey,
    arguments: &Check,
    target: &mut Target,
    stored: Option<Bytes>,
    progress: &mut Progress<'_>,
) -> Vec<Observations> {
    let capacity = stored.unwrap_or_else(|| target.device.capabilities().capacity);
    if stored.is_some_and(|stored| stored < STORED_MIN) {
        return Vec::new();
    }
    let device = &mut Clip::new(&mut target.device, capacity);
    let mut observations = Vec::new();
    if arguments.sustained {
        observations.extend(survey.fill(device, progress));
    } else if survey.writes {
        observations.push(survey.fill_briefly(device, progress));
    }
    let rest =
        Budget { bytes_written: arguments.budgets.write_budget.or(Some(WRITE_BUDGET)), ..Budget::UNLIMITED };
    let device = &mut Meter::new(device, rest);
    observations.extend(survey.run(device, progress));
    observations.extend(survey.speeds(device, target.link.as_ref(), progress));
    observations
}

/// Notes that the experiments ran on a part of the device only.
fn note_stored(target: &mut Target, stored: Option<Bytes>) {
    target.remarks.extend(stored.map(|stored| {
        format!("the tests ran on the first {stored}, which the device stores; the rest was left out")
    }));
}

/// Prints what will be measured and written.
fn announce(target: &Target, survey: &Survey, arguments: &Check, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    printer.notes(&target.remarks);
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
