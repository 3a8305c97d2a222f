//! `flashscope import`: findings from a log that flashbench printed and somebody published.

use flashscope_probe::flashbench::parse::{self, Log};
use flashscope_probe::inference::infer;
use serde_json::json;

use super::show;
use crate::args::Import;
use crate::exit::{Exit, Failure, OrExit};
use crate::input;
use crate::outputs;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`]; exit code 2 for a file that cannot be read or holds no table of flashbench.
pub fn run(arguments: &Import, printer: &Printer) -> Result<Exit, Failure> {
    let name = arguments.log.display().to_string();
    outputs::permit(&arguments.output.files, input::file(&arguments.log))?;
    let bytes = input::read(&arguments.log).or_exit(Exit::Usage, format!("cannot read {name}"))?;
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
    let identity = json!({ "kind": "published log", "name": log.device_name });
    let run = show::run_of_log(&name, log.device_name, observations, remarks);
    let findings = infer(&run.observations);
    let shown = show::findings(&run, &findings, &identity, printer);
    outputs::write(&arguments.output.files, &run, &findings, printer)?;
    shown.map(|()| Exit::Fine)
}

/// What the log left open, each sentence once.
fn remarks(log: &Log) -> Vec<String> {
    let mut remarks: Vec<String> = log.entries.iter().flat_map(|entry| entry.remarks.clone()).collect();
    if !log.problems.is_empty() {
        remarks.push(format!("{} lines of the log could not be read", log.problems.len()));
    }
    let mut seen = std::collections::BTreeSet::new();
    remarks.retain(|remark| seen.insert(remark.clone()));
    remarks
}
