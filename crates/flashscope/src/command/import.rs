//! `flashscope import`: findings from published flashbench logs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_flashbench::parse;
use flashscope_flashbench::parse::Log;
use flashscope_infer::infer;
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, brief};

use super::show;
use crate::args::Import;
use crate::document::Identity;
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;
use crate::{input, outputs};

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`]; exit code 2 for a file that cannot be read or holds no flashbench table, and for
/// several logs without `--brief` or `--one-device`.
pub fn run(arguments: &Import, printer: &Printer) -> Result<Exit, Failure> {
    let logs = &arguments.logs;
    if arguments.brief && !arguments.one_device {
        return print_brief(logs, printer);
    }
    if logs.len() > 1 && !arguments.one_device {
        let error = anyhow!(
            "{} logs: add --one-device if all are of the same device, or --brief to print one line for each",
            logs.len()
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    for log in logs {
        outputs::permit(&arguments.output.files, input::file(log))?;
    }
    let read = logs.iter().map(|log| read(log, printer)).collect::<Result<Vec<_>, _>>()?;
    report(combined(read), arguments, printer)
}

/// Prints and stores the findings of one device.
fn report(run: RunFile, arguments: &Import, printer: &Printer) -> Result<Exit, Failure> {
    let findings = infer(&run.observations);
    if arguments.brief {
        printer.result(&line(&run))?;
        return Ok(Exit::Fine);
    }
    let identity = Identity::PublishedLog { name: run.device_name.clone() };
    let shown = show::findings(&run, &findings, Some(identity), printer);
    outputs::write(&arguments.output.files, &run, &findings, printer)?;
    shown.map(|()| Exit::Fine)
}

/// Prints one line for each log. A log that cannot be read does not stop the others.
fn print_brief(logs: &[PathBuf], printer: &Printer) -> Result<Exit, Failure> {
    let mut exit = Exit::Fine;
    for log in logs {
        match read(log, printer) {
            Ok(run) => printer.result(&line(&run))?,
            Err(failure) => exit = printer.failure(&failure),
        }
    }
    Ok(exit)
}

fn line(run: &RunFile) -> String {
    let findings = infer(&run.observations);
    brief(&Report { run, findings: &findings }) + "\n"
}

/// The run of one log.
fn read(path: &Path, printer: &Printer) -> Result<RunFile, Failure> {
    let name = path.display().to_string();
    let bytes = input::read(path).or_exit(Exit::Usage, format!("cannot read {name}"))?;
    let log = parse::parse(&bytes, &name).or_exit_bare(Exit::Usage)?;
    for problem in &log.problems {
        printer.remark(format!("{name}: {problem}"));
    }
    for entry in &log.entries {
        let (first, last) = (entry.lines.start(), entry.lines.end());
        printer.detail(format!("{name}: lines {first} to {last}: {}", entry.heading));
    }
    let remarks = remarks(&log);
    let observations = log.entries.into_iter().map(|entry| entry.observations).collect();
    Ok(show::run_of_log(&name, log.device_name, observations, remarks))
}

/// What the log leaves open, each sentence once.
fn remarks(log: &Log) -> Vec<String> {
    let of_entries = log.entries.iter().flat_map(|entry| entry.remarks.clone());
    let mut remarks: Vec<String> = log.remarks.iter().cloned().chain(of_entries).collect();
    if !log.problems.is_empty() {
        remarks.push(format!("{} lines of the log could not be read", log.problems.len()));
    }
    unique(remarks)
}

/// The run of several logs of one device. A remark says if they name different devices.
fn combined(runs: Vec<RunFile>) -> RunFile {
    let joined = |text: fn(&RunFile) -> &String, separator: &str| {
        let texts = runs.iter().map(text).filter(|text| !text.is_empty()).cloned();
        unique(texts.collect()).join(separator)
    };
    let target = joined(|run| &run.target, ", ");
    let device_name = joined(|run| &run.device_name, " / ");
    let named: BTreeSet<&String> =
        runs.iter().map(|run| &run.device_name).filter(|name| !name.is_empty()).collect();
    let differ =
        (named.len() > 1).then(|| "the logs name different devices; they are combined anyway".to_owned());
    let remarks = runs.iter().flat_map(|run| run.remarks.clone()).chain(differ).collect();
    let observations = runs.into_iter().flat_map(|run| run.observations).collect();
    show::run_of_log(&target, device_name, observations, unique(remarks))
}

/// Each sentence once, in the order of first occurrence.
fn unique(mut sentences: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    sentences.retain(|sentence| seen.insert(sentence.clone()));
    sentences
}
