//! What check, measure and import do alike once observations are there: show findings, write files, choose the exit code.

use flashscope_device::layer::Cost;
use flashscope_record::attachment::Attachment;
use flashscope_record::finding::Finding;
use flashscope_record::observation::{Cause, Conditions, Data, Ended, Observations, Source, StopReason};
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_report::{Report, terminal, words};
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::target::{Plugged, Target};
use crate::{json, outputs};

/// The run of a target that was measured now.
pub fn run_of(target: &Target, observations: Vec<Observations>) -> RunFile {
    RunFile {
        format: FORMAT,
        flashscope: json::VERSION.to_owned(),
        target: target.text.clone(),
        device_name: target.name.clone(),
        attachment: target.attachment.clone(),
        measured_at: crate::wall_clock::now(),
        observations,
        cost: target.device.cost(),
        failed_requests: target.failed_requests,
        remarks: target.remarks.clone(),
    }
}

/// The run of a bench that needs no device of its own: what it saw, and what it cost.
pub fn run_of_bench(target: &str, plugged: Plugged, seen: Observations, cost: Cost) -> RunFile {
    RunFile {
        format: FORMAT,
        flashscope: json::VERSION.to_owned(),
        target: target.to_owned(),
        device_name: plugged.name,
        attachment: plugged.attachment,
        measured_at: crate::wall_clock::now(),
        observations: vec![seen],
        cost,
        failed_requests: 0,
        remarks: Vec::new(),
    }
}

/// What a bench saw that chose no part of the device itself.
pub const fn seen_by_bench(data: Data, seed: u64, ended: Ended) -> Observations {
    let conditions = Conditions { source: Source::Measured, capacity: None, region: None, seed };
    Observations { data, conditions, ended }
}

/// The run of a log that somebody else measured.
pub fn run_of_log(
    name: &str,
    device_name: String,
    observations: Vec<Observations>,
    remarks: Vec<String>,
) -> RunFile {
    RunFile {
        format: FORMAT,
        flashscope: json::VERSION.to_owned(),
        target: name.to_owned(),
        device_name,
        attachment: Attachment::default(),
        measured_at: String::new(),
        observations,
        cost: Cost::default(),
        failed_requests: 0,
        remarks,
    }
}

/// Prints findings as text or JSON.
pub fn findings(
    run: &RunFile,
    findings: &[Finding],
    identity: &Value,
    printer: &Printer,
) -> Result<(), Failure> {
    if printer.json {
        let document = json::bench(run).unwrap_or_else(|| json::findings(run, findings, identity));
        return Ok(printer.document(&document)?);
    }
    let report = Report { run, findings };
    Ok(printer.result(&terminal(&report, printer.width(), printer.style()))?)
}

/// Shows and stores what a measurement saw, and says how it ended.
pub fn measurement(
    target: &Target,
    run: &RunFile,
    concluded: &[Finding],
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<Exit, Failure> {
    let shown = findings(run, concluded, &target.identity, printer);
    let stored = outputs::write(files, run, concluded, printer);
    shown.and(stored)?;
    end(target, run, files, printer)
}

/// Shows and stores what a bench in rounds saw, and says where it was interrupted; that is kept too.
///
/// # Errors
/// Exit code 3 if it cannot be kept.
pub fn bench(run: &RunFile, files: &[std::path::PathBuf], printer: &Printer) -> Result<(), Failure> {
    let shown = findings(run, &[], &Value::Null, printer);
    let stored = outputs::write(files, run, &[], printer);
    shown.and(stored)?;
    for seen in &run.observations {
        if let Ended::Early { reason, cause: Cause::Interrupt } = &seen.ended {
            printer.remark(words::stop(reason));
            if has_rounds(&seen.data) {
                keep(&run.target, run, files, printer)?;
            }
        }
    }
    Ok(())
}

/// How a bench ended that somebody stopped behind so many rounds.
pub fn interrupted(rounds: usize) -> Ended {
    let reason = StopReason::Interrupted { rounds: Some(rounds as u64) };
    Ended::Early { reason, cause: Cause::Interrupt }
}

/// Whether a round came to its end.
fn has_rounds(data: &Data) -> bool {
    data.facts().records() > 0
}

/// How a measurement ended; one that was interrupted is kept.
///
/// # Errors
/// Exit code 3 if it cannot be kept.
pub fn end(
    target: &Target,
    run: &RunFile,
    files: &[std::path::PathBuf],
    printer: &Printer,
) -> Result<Exit, Failure> {
    if target.interrupt.is_requested() {
        if !target.is_virtual && !run.observations.is_empty() {
            keep(&target.text, run, files, printer)?;
        }
        return Ok(Exit::Interrupted);
    }
    Ok(exit(run, target.failed_requests, printer))
}

/// An interrupted measurement of a real device is kept also where no run file was asked for.
fn keep(target: &str, run: &RunFile, files: &[std::path::PathBuf], printer: &Printer) -> Result<(), Failure> {
    let asked_for = files.iter().any(|file| file.extension().is_some_and(|extension| extension == "json"));
    if asked_for {
        return Ok(());
    }
    let name: String = target.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let file = format!("{}-interrupted.flashscope.json", name.trim_matches('-'));
    outputs::write(&[file.into()], run, &[], printer)
}

/// Exit code 3 if an experiment ended before it should have, or no part of a bench could begin; 1 if requests failed.
fn exit(run: &RunFile, failed_requests: u64, printer: &Printer) -> Exit {
    let mut exit = Exit::Fine;
    if failed_requests > 0 {
        printer.remark(format!(
            "{failed_requests} requests failed (-v shows them): the stick may be dying, or its contacts are; save what it holds"
        ));
        exit = Exit::Problem;
    }
    for seen in &run.observations {
        if let Ended::Early { reason, cause } = &seen.ended {
            printer.remark(format!("a measurement ended early: {}", words::stop(reason)));
            if *cause != Cause::Budget {
                exit = Exit::Failed;
            }
        }
    }
    if nothing_was_measured(run) { Exit::Failed } else { exit }
}

/// Whether a bench saw nothing at all. A survey that could not begin has findings all the same: they are unknown.
fn nothing_was_measured(run: &RunFile) -> bool {
    let none =
        |seen: &Observations| seen.data.is_of_speed() && matches!(seen.ended, Ended::NotStarted { .. });
    !run.observations.is_empty() && run.observations.iter().all(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Color, Global};
    use flashscope_record::observation::Refusal;

    fn exit_of(ended: Option<Ended>, failed_requests: u64) -> Exit {
        let printer = Printer::new(&Global { json: false, quiet: true, verbose: false, color: Color::Never });
        let conditions = Conditions { source: Source::Measured, capacity: None, region: None, seed: 0 };
        let data = Data::Align(flashscope_record::observation::AlignData::default());
        let seen = ended.map(|ended| Observations { data, conditions, ended });
        let run = run_of_log("", String::new(), seen.into_iter().collect(), Vec::new());
        exit(&run, failed_requests, &printer)
    }

    #[test]
    fn the_exit_code_says_how_it_ended() {
        let early = |cause| Some(Ended::Early { reason: StopReason::Interrupted { rounds: None }, cause });
        assert_eq!(exit_of(Some(Ended::Complete), 0), Exit::Fine);
        assert_eq!(exit_of(Some(Ended::Complete), 3), Exit::Problem);
        assert_eq!(exit_of(early(Cause::Device), 3), Exit::Failed);
        assert_eq!(exit_of(early(Cause::Budget), 0), Exit::Fine);
        let not_started = Ended::NotStarted { reason: Refusal::ReadOnly, would_decide: Vec::new() };
        assert_eq!(exit_of(Some(not_started), 0), Exit::Fine, "a survey");
    }
}
