//! What all measuring commands do at the end: print the result, write files, choose the exit code.

use std::io;

use flashscope_device::layer::Cost;
use flashscope_infer::classes_of;
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::{Cause, Conditions, Data, Ended, Observations, Source, StopReason};
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_report::{Report, counted, first_screen_text, terminal, words};

use super::concluded::Concluded;
use crate::document::{BenchFilesDocument, BenchMethodsDocument, FindingsDocument, Identity, VERSION};
use crate::exit::{Exit, Failure};
use crate::interrupt::INTERRUPTED;
use crate::outputs;
use crate::printer::Printer;
use crate::target::{Plugged, Target};

/// The run of a target that was just measured.
pub fn run_of(target: &Target, observations: Vec<Observations>) -> RunFile {
    let cost = target.device.cost();
    RunFile {
        format: FORMAT,
        flashscope: VERSION.to_owned(),
        target: target.text.clone(),
        device_name: target.name.clone(),
        attachment: target.attachment.clone(),
        measured_at: crate::wall_clock::now(),
        observations,
        cost,
        failed_requests: target.failed_requests,
        is_erased: target.is_erased && !cost.bytes_written.is_zero(),
        capacity: None,
        remarks: target.remarks.clone(),
    }
}

/// The run of a benchmark on a mounted filesystem.
pub fn run_of_bench(target: &str, plugged: Plugged, seen: Observations, cost: Cost) -> RunFile {
    RunFile {
        format: FORMAT,
        flashscope: VERSION.to_owned(),
        target: target.to_owned(),
        device_name: plugged.name,
        attachment: plugged.attachment,
        measured_at: crate::wall_clock::now(),
        observations: vec![seen],
        cost,
        failed_requests: 0,
        is_erased: false,
        capacity: None,
        remarks: Vec::new(),
    }
}

/// The observations of a benchmark on a mounted filesystem.
pub const fn bench_observations(data: Data, seed: u64, ended: Ended) -> Observations {
    let conditions =
        Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed };
    Observations { data, conditions, ended }
}

/// The run of an imported log.
pub fn run_of_log(
    name: &str,
    device_name: String,
    observations: Vec<Observations>,
    remarks: Vec<String>,
) -> RunFile {
    RunFile {
        format: FORMAT,
        flashscope: VERSION.to_owned(),
        target: name.to_owned(),
        device_name,
        attachment: Attachment::default(),
        measured_at: String::new(),
        observations,
        cost: Cost::default(),
        failed_requests: 0,
        is_erased: false,
        capacity: None,
        remarks,
    }
}

/// Prints findings as text or JSON.
pub fn findings(
    run: &RunFile,
    concluded: &Concluded,
    identity: Option<Identity>,
    printer: &Printer,
) -> Result<(), Failure> {
    if printer.json {
        return Ok(document(run, concluded, identity, printer)?);
    }
    let report = concluded.report(run);
    let (width, style) = (printer.width(), printer.style());
    let first = (!printer.details).then(|| first_screen_text(&report, width, style)).flatten();
    Ok(printer.result(&first.unwrap_or_else(|| terminal(&report, width, style)))?)
}

/// Prints the document of a run. A run of `bench files` or `bench methods` has one of its own.
fn document(
    run: &RunFile,
    concluded: &Concluded,
    identity: Option<Identity>,
    printer: &Printer,
) -> io::Result<()> {
    for seen in run.observations.iter().rev() {
        match &seen.data {
            Data::Files(data) => return printer.document(&BenchFilesDocument::new(run, seen, data)),
            Data::Methods(data) => return printer.document(&BenchMethodsDocument::new(run, seen, data)),
            _ => {}
        }
    }
    printer.document(&FindingsDocument::new(&concluded.report(run), identity))
}

/// Prints and stores a measurement, and returns its exit code.
pub fn measurement(
    target: &Target,
    run: &RunFile,
    concluded: &Concluded,
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<Exit, Failure> {
    let shown = findings(run, concluded, Some(target.identity.clone()), printer);
    let stored = outputs::write(files, &concluded.report(run), printer);
    shown.and(stored)?;
    end(target, run, files, printer)
}

/// The same of a check: a claim that fails is a problem of the stick, as in `check --class`.
pub fn check(
    target: &Target,
    run: &RunFile,
    concluded: &Concluded,
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<Exit, Failure> {
    Ok(match measurement(target, run, concluded, files, printer)? {
        Exit::Fine if classes_of(run).has_failed_claim() => Exit::Problem,
        exit => exit,
    })
}

/// Prints and stores a benchmark in rounds. One that was interrupted is always stored.
///
/// # Errors
/// Exit code 3 if it cannot be stored.
pub fn bench(run: &RunFile, files: &[std::path::PathBuf], printer: &Printer) -> Result<(), Failure> {
    let shown = findings(run, &Concluded::default(), None, printer);
    let stored = outputs::write(files, &Report::new(run, &[]), printer);
    shown.and(stored)?;
    for seen in &run.observations {
        if let Ended::Early { reason, cause: Cause::Interrupt } = &seen.ended {
            printer.remark(words::stop(reason));
            if has_rounds(&seen.data) {
                store_interrupted(&run.target, run, files, printer)?;
            }
        }
    }
    Ok(())
}

/// The end of a benchmark that was interrupted after this number of rounds.
pub fn interrupted(rounds: usize) -> Ended {
    let reason = StopReason::Interrupted { rounds: Some(rounds as u64) };
    Ended::Early { reason, cause: Cause::Interrupt }
}

/// Whether a round was completed.
fn has_rounds(data: &Data) -> bool {
    data.facts().records() > 0
}

/// The exit code of a measurement. That of a real device is stored if it was interrupted or the device was
/// lost: the stick may not work a second time.
///
/// # Errors
/// Exit code 3 if it cannot be stored.
pub fn end(
    target: &Target,
    run: &RunFile,
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<Exit, Failure> {
    if target.interrupt.is_requested() {
        if !target.is_virtual && !run.observations.is_empty() {
            store_interrupted(&target.text, run, files, printer)?;
        }
        printer.remark(INTERRUPTED);
        return Ok(Exit::Interrupted);
    }
    if !target.is_virtual && was_lost(run) {
        store_interrupted(&target.text, run, files, printer)?;
    }
    Ok(exit(run, target.failed_requests, printer))
}

/// Whether the device vanished, or failed too often to go on.
fn was_lost(run: &RunFile) -> bool {
    let by_device = |seen: &Observations| matches!(seen.ended, Ended::Early { cause: Cause::Device, .. });
    run.observations.iter().any(by_device)
}

/// Stores a measurement that ended too early in the current directory, unless a run file was named.
fn store_interrupted(
    target: &str,
    run: &RunFile,
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<(), Failure> {
    let is_named = files.iter().any(|file| file.extension().is_some_and(|extension| extension == "json"));
    if is_named {
        return Ok(());
    }
    let name: String = target.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let file = format!("{}-interrupted.flashscope.json", name.trim_matches('-'));
    outputs::write(&[file.into()], &Report::new(run, &[]), printer)
}

/// Exit code 3 if an experiment ended too early or no test of a benchmark could start; 1 if requests failed,
/// data is lost, or the capacity is false.
fn exit(run: &RunFile, failed_requests: u64, printer: &Printer) -> Exit {
    let mut exit = Exit::Fine;
    if failed_requests > 0 {
        printer.remark(format!(
            "{} failed (-v prints them): the stick or its contacts may be failing{}",
            counted(failed_requests, "request"),
            if run.is_erased { "" } else { "; save your data" }
        ));
        exit = Exit::Problem;
    }
    for seen in &run.observations {
        if matches!(seen.ended, Ended::Early { cause, .. } if cause != Cause::Budget) {
            exit = Exit::Failed;
        }
    }
    ended_early(run).into_iter().for_each(|line| printer.remark(line));
    // Whatever else happened: this comes before every other statement.
    if run.false_capacity().is_some() || run.loses_data() {
        return Exit::Problem;
    }
    if nothing_was_measured(run) { Exit::Failed } else { exit }
}

/// Why measurements ended early, each reason once.
fn ended_early(run: &RunFile) -> Vec<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for seen in &run.observations {
        let Ended::Early { reason, .. } = &seen.ended else { continue };
        let reason = words::stop(reason);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let line = |(reason, count)| match count {
        1 => format!("a measurement ended early: {reason}"),
        _ => format!("{count} measurements ended early: {reason}"),
    };
    reasons.into_iter().map(line).collect()
}

/// Whether no test of a benchmark could start. A check that could not start still has findings: all unknown.
fn nothing_was_measured(run: &RunFile) -> bool {
    let none =
        |seen: &Observations| seen.data.is_of_speed() && matches!(seen.ended, Ended::NotStarted { .. });
    !run.observations.is_empty() && run.observations.iter().all(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_record::observation::Refusal;

    fn exit_of(ended: Option<Ended>, failed_requests: u64) -> Exit {
        let printer = Printer::quiet();
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 0 };
        let data = Data::Align(flashscope_record::observation::AlignData::default());
        let seen = ended.map(|ended| Observations { data, conditions, ended });
        let run = run_of_log("", String::new(), seen.into_iter().collect(), Vec::new());
        exit(&run, failed_requests, &printer)
    }

    #[test]
    fn exit_code_depends_on_how_the_run_ended() {
        let early = |cause| Some(Ended::Early { reason: StopReason::Interrupted { rounds: None }, cause });
        assert_eq!(exit_of(Some(Ended::Complete), 0), Exit::Fine);
        assert_eq!(exit_of(Some(Ended::Complete), 3), Exit::Problem);
        assert_eq!(exit_of(early(Cause::Device), 3), Exit::Failed);
        assert_eq!(exit_of(early(Cause::Budget), 0), Exit::Fine);
        let not_started = Ended::NotStarted { reason: Refusal::ReadOnly, would_decide: Vec::new() };
        assert_eq!(exit_of(Some(not_started), 0), Exit::Fine, "a survey");
    }
}
