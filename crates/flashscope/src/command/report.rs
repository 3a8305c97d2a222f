//! `flashscope report`: a stored run, inferred again.

use std::path::{Path, PathBuf};

use flashscope_record::run_file::RunFile;
use serde_json::Value;

use super::show;
use crate::args::{Report, ReportPart};
use crate::exit::{Exit, Failure, OrExit};
use crate::outputs;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is no run file, 3 if the page cannot be written, 4 if it would overwrite a disk.
pub fn run(arguments: &Report, printer: &Printer) -> Result<Exit, Failure> {
    if let Some(ReportPart::Compare(compare)) = &arguments.part {
        return super::compare::run(compare, printer);
    }
    // Without a part the definitions ask for a run.
    let file = arguments.run.as_deref().unwrap_or(Path::new(""));
    let outputs: Vec<PathBuf> = arguments.html.iter().chain(&arguments.output.files).cloned().collect();
    outputs::permit(&outputs, file)?;
    let run = read(file)?;
    let findings = flashscope_infer::relevant_findings_of(&run);
    // A page of --html stands for the text, not for a document that was asked for.
    if arguments.html.is_none() || printer.json {
        show::findings(&run, &findings, &Value::Null, printer)?;
    }
    outputs::write(&outputs, &run, &findings, printer)?;
    Ok(Exit::Fine)
}

/// The run in a file.
///
/// # Errors
/// Exit code 2 for a file that is no run file.
pub fn read(file: &Path) -> Result<RunFile, Failure> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).or_exit(Exit::Usage, format!("cannot read {name}"))?;
    RunFile::parse(&text).or_exit(Exit::Usage, name)
}
