//! `flashscope import`: findings from published flashbench logs, and speeds of other programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_flashbench::parse;
use flashscope_flashbench::parse::Log;
use flashscope_infer::infer_run;
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, brief, counted};

use super::concluded::Concluded;
use super::show;
use crate::args::Import;
use crate::document::Identity;
use crate::exit::{Exit, Failure, OrExit};
use crate::file_kind::{self, Kind};
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
    let read = read.into_iter().map(|runs| one_device(runs, arguments)).collect::<Result<Vec<_>, _>>()?;
    report(combined(read), arguments, printer)
}

/// The run of the one device of a log, or of the column that was asked for.
///
/// # Errors
/// Exit code 2 if the log has a column for each of several devices and none was asked for, or if it has no
/// such column.
fn one_device(mut runs: Vec<RunFile>, arguments: &Import) -> Result<RunFile, Failure> {
    let usage = |text: String| Failure { exit: Exit::Usage, error: anyhow!(text) };
    let names: Vec<&str> = runs.iter().map(|run| run.device_name.as_str()).collect();
    let at = match arguments.column {
        None if runs.len() > 1 => {
            return Err(usage(format!(
                "the table has a column for each of {} devices ({}): add --column NUMBER for one of them, or --brief for one line each",
                names.len(),
                names.join(", ")
            )));
        }
        None => 0,
        Some(column) if runs.len() > 1 && (1..=runs.len()).contains(&column) => column - 1,
        Some(column) => {
            return Err(usage(match names.len() {
                1 => "the log has no table with a column for each device: leave --column out".to_owned(),
                count => format!("there is no column {column}: the table has {count} ({})", names.join(", ")),
            }));
        }
    };
    Ok(runs.swap_remove(at))
}

/// Prints and stores the findings of one device.
fn report(run: RunFile, arguments: &Import, printer: &Printer) -> Result<Exit, Failure> {
    let concluded = Concluded::from_findings(infer_run(&run.observations));
    if arguments.brief {
        printer.result(&line(&run))?;
        return Ok(exit(&run));
    }
    let identity = Identity::PublishedLog { name: run.device_name.clone() };
    let shown = show::findings(&run, &concluded, Some(identity), printer);
    outputs::write(&arguments.output.files, &concluded.report(&run), printer)?;
    shown.map(|()| exit(&run))
}

/// Exit code 1 if the program of a log found lost data.
fn exit(run: &RunFile) -> Exit {
    if run.loses_data() { Exit::Problem } else { Exit::Fine }
}

/// Prints one line for each log. A log that cannot be read does not stop the others.
fn print_brief(logs: &[PathBuf], printer: &Printer) -> Result<Exit, Failure> {
    let mut exit = Exit::Fine;
    for log in logs {
        match read(log, printer) {
            Ok(runs) => {
                for run in &runs {
                    printer.result(&line(run))?;
                    if run.loses_data() {
                        exit = Exit::Problem;
                    }
                }
            }
            Err(failure) => exit = printer.failure(&failure),
        }
    }
    Ok(exit)
}

fn line(run: &RunFile) -> String {
    let findings = infer_run(&run.observations);
    brief(&Report::new(run, &findings)) + "\n"
}

/// The run of one log, or one for each column of a table with one for each device.
fn read(path: &Path, printer: &Printer) -> Result<Vec<RunFile>, Failure> {
    file_kind::refuse_other(path, &[Kind::Log])?;
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
    if log.columns.len() < 2 {
        return Ok(vec![run_of(&name, log)?]);
    }
    let column = |(at, device): (usize, &String)| {
        run_of(&format!("{name}, column {} ({device})", at + 1), log.of_column(at))
    };
    log.columns.iter().enumerate().map(column).collect()
}

/// The run of the tables, without those that no run file may hold: a log may state any sizes.
///
/// # Errors
/// Exit code 2 if no table is left.
fn run_of(name: &str, mut log: Log) -> Result<RunFile, Failure> {
    let mut left_out = Vec::new();
    log.entries.retain(|entry| {
        let problem = entry.observations.check().err();
        let line = entry.lines.start();
        left_out.extend(
            problem.iter().map(|problem| format!("the table at line {line}: {}", problem.in_short())),
        );
        problem.is_none()
    });
    if let Some(first) = left_out.first().filter(|_| log.entries.is_empty()) {
        return Err(Failure {
            exit: Exit::Usage,
            error: anyhow!("no table of '{name}' can be right; {first}"),
        });
    }
    log.remarks.extend(left_out.iter().map(|table| format!("left out {table}")));
    let remarks = remarks(&log);
    let observations = log.entries.into_iter().map(|entry| entry.observations).collect();
    Ok(show::run_of_log(name, log.device_name, observations, remarks))
}

/// What the log leaves open, each sentence once.
fn remarks(log: &Log) -> Vec<String> {
    let of_entries = log.entries.iter().flat_map(|entry| entry.remarks.clone());
    let mut remarks: Vec<String> = log.remarks.iter().cloned().chain(of_entries).collect();
    if !log.problems.is_empty() {
        let lines = counted(log.problems.len() as u64, "line");
        remarks.push(format!("{lines} of the log could not be read"));
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
