//! `flashscope check`: runs all permitted experiments and prints the findings, the bottleneck and advice.

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Clip, Meter};
use flashscope_device::{Bytes, Device, DeviceError};
use flashscope_measure::Stage;
use flashscope_measure::experiment::Sustained;
use flashscope_measure::survey::Survey;
use flashscope_record::observation::{Data, LinkLimit, Observations, OtherWrites};
use flashscope_record::{CapacityVerdict, RunFile};

use super::bench::is_directory;
use super::capacity_probe::Tested;
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
    let shown = match shown {
        Ok(Exit::Fine) if measured.is_undecided => Ok(Exit::Problem),
        shown => shown,
    };
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
    let mut stages: Vec<Stage> = survey.writes.then(|| survey.brief_fill_stage(device)).into_iter().collect();
    if is_sustained {
        stages.extend(tested);
        stages.extend(survey.fill_stages(device));
        stages.extend(survey.stages(device));
    } else {
        stages.extend(survey.stages(device));
        stages.extend(tested);
    }
    stages
}

/// What was measured.
struct Checked {
    observations: Vec<Observations>,
    capacity: Option<CapacityVerdict>,
    /// Whether the test of the capacity lost data without a verdict.
    is_undecided: bool,
    /// The failure of the device during the test of the capacity.
    failed: Option<DeviceError>,
}

/// Runs the survey, and the test of the capacity after it, so that the survey meets the stick as it was. A
/// long stream waits for the test after its first part: it would write for hours to a counterfeit. If the
/// capacity is false, all experiments run on the part that stores data.
fn measure(
    arguments: &Check,
    survey: &Survey,
    target: &mut Target,
    progress: &mut Progress<'_>,
    printer: &Printer,
) -> Checked {
    let is_sustained = arguments.sustained;
    let started = survey.writes.then(|| begin_stream(survey, is_sustained, target, progress));
    let (stream, mut observations) = match started {
        Some(started) if is_sustained => (Some(started), Vec::new()),
        started => {
            (None, started.into_iter().chain(experiments(survey, arguments, target, progress)).collect())
        }
    };
    let before = written(target);
    let tested = match survey.writes {
        true => capacity_probe::run(target, arguments.seed, progress, printer),
        false => Ok(Tested::Nothing),
    };
    let is_undecided = matches!(tested, Ok(Tested::Undecided));
    let (capacity, failed) = match tested {
        Ok(Tested::Verdict(verdict)) => (Some(verdict), None),
        Ok(Tested::Undecided | Tested::Nothing) => (None, None),
        Err(DeviceError::Interrupted) => (None, None),
        Err(error) => (None, Some(error)),
    };
    if let Some(stored) = capacity_probe::stored(capacity.as_ref()) {
        observations = anew(arguments, survey, (target, stored), progress, printer);
    } else if let Some(stream) = stream {
        let other = written(target).saturating_sub(before);
        observations = survey.fill_on(stream, other, &mut target.device, progress);
        observations.extend(experiments(survey, arguments, target, progress));
    }
    Checked { observations, capacity, is_undecided, failed }
}

/// The bytes that this run wrote so far.
fn written(target: &Target) -> Bytes {
    target.device.cost().bytes_written
}

/// The first 25 s of a stream of writes. If a long one follows and there is a budget, nothing: the test of
/// the capacity, which comes next, may need nearly all of it.
fn begin_stream(
    survey: &Survey,
    is_sustained: bool,
    target: &mut Target,
    progress: &mut Progress<'_>,
) -> Observations {
    let is_limited = target.device.left() != Budget::UNLIMITED;
    let bytes_written = (is_sustained && is_limited).then_some(Bytes::ZERO);
    let budget = Budget { bytes_written, ..Budget::UNLIMITED };
    survey.fill_briefly(&mut Meter::new(&mut target.device, budget), progress)
}

/// The experiments, then the speeds.
fn experiments(
    survey: &Survey,
    arguments: &Check,
    device: &mut Target,
    progress: &mut Progress<'_>,
) -> Vec<Observations> {
    let link = device.link.clone();
    experiments_on(survey, arguments, link.as_ref(), &mut device.device, progress)
}

fn experiments_on(
    survey: &Survey,
    arguments: &Check,
    link: Option<&LinkLimit>,
    device: &mut dyn Device,
    progress: &mut Progress<'_>,
) -> Vec<Observations> {
    let rest =
        Budget { bytes_written: arguments.budgets.write_budget.or(Some(WRITE_BUDGET)), ..Budget::UNLIMITED };
    let device = &mut Meter::new(device, rest);
    let mut observations = survey.run(device, progress);
    observations.extend(survey.speeds(device, link, progress));
    observations
}

/// All tests on the part of a counterfeit that stores data.
fn anew(
    arguments: &Check,
    survey: &Survey,
    (target, stored): (&mut Target, Bytes),
    progress: &mut Progress<'_>,
    printer: &Printer,
) -> Vec<Observations> {
    if stored < STORED_MIN {
        return Vec::new();
    }
    printer.remark("the capacity is false: all tests run again, on the part that stores data");
    note_stored(target, stored);
    let other = written(target);
    let device = &target.device;
    let stream =
        if arguments.sustained { survey.fill_stages(device) } else { vec![survey.brief_fill_stage(device)] };
    progress.expect(stream.into_iter().chain(survey.stages(device)), device.left().device_time);
    let link = target.link.clone();
    let device = &mut Clip::new(&mut target.device, stored);
    let mut observations = if arguments.sustained {
        survey.fill(device, progress)
    } else {
        vec![survey.fill_briefly(device, progress)]
    };
    for seen in &mut observations {
        if let Data::Sustained(data) = &mut seen.data {
            data.other.push(OtherWrites { after: Bytes::ZERO, bytes: other });
        }
    }
    observations.extend(experiments_on(survey, arguments, link.as_ref(), device, progress));
    observations
}

/// Notes that the experiments ran on a part of the device only.
fn note_stored(target: &mut Target, stored: Bytes) {
    let remark =
        format!("the tests ran on the first {stored}, which the device stores; the rest was left out");
    target.remarks.push(remark);
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

#[cfg(test)]
mod tests {
    use flashscope_measure::{Estimate, Event, Forecast};

    use super::*;

    /// The test of the capacity is the last part of a usual check. A long stream comes after it.
    #[test]
    fn time_left_counts_a_long_stream_only_if_one_is_asked_for() {
        let target = target::open("sim:generic-2g", None, Budget::UNLIMITED).unwrap();
        let survey = Survey::new(true, 1);
        let check = |is_sustained| Forecast::new(stages(&survey, &target, is_sustained), None);
        let stream = Forecast::new(survey.fill_stages(&target.device), None).left();
        assert!(!stream.is_zero());
        assert_eq!(check(true).left(), check(false).left() + stream);
        let tested = capacity_probe::stage(&target).unwrap();
        let after_test = |is_sustained| {
            let mut forecast = check(is_sustained);
            forecast.event(&Event::Begin { name: tested.name, estimate: Estimate::default() });
            forecast.left()
        };
        assert!(after_test(false).is_zero(), "nothing is left");
        assert!(after_test(true) > stream, "stream, experiments and speeds are left");
    }

    /// What is noted of the tests on a counterfeit that stores this much.
    fn noted(stored: Bytes) -> String {
        let (text, printer) = ("sim:generic-2g", Printer::quiet());
        let mut target = target::open(text, None, Budget::UNLIMITED).unwrap();
        let survey = Survey::new(target.writable, 1);
        let mut progress = Progress::new(&printer);
        let arguments = Check::of_virtual(text, 1);
        drop(anew(&arguments, &survey, (&mut target, stored), &mut progress, &printer));
        target.remarks.join("\n")
    }

    #[test]
    fn counterfeit_is_measured_again_if_it_stores_at_least_16_mib() {
        let enough = noted(Bytes::mib(16));
        assert!(enough.contains("the tests ran on the first 16 MiB, which the device stores"), "{enough}");
        let less = noted(Bytes::mib(16) - Bytes::new(512));
        assert!(!less.contains("the tests ran on"), "{less}");
    }
}
