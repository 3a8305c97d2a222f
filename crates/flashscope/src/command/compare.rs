//! `flashscope report compare`: the long streams of several runs, one over the other.

use std::path::Path;

use anyhow::anyhow;
use flashscope_probe::RunFile;
use flashscope_report::compare::{Compared, FIRST_BYTES, html_page, text};
use serde_json::{Value, json};

use super::report::read;
use crate::args::ReportCompare;
use crate::destination::Destination;
use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::outputs;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is no run file or holds no long stream, 3 if the page cannot be written, 4 if it would
/// overwrite a disk.
pub fn run(arguments: &ReportCompare, printer: &Printer) -> Result<Exit, Failure> {
    for run in &arguments.runs {
        outputs::permit(arguments.html.as_slice(), run)?;
    }
    let runs = arguments.runs.iter().map(|file| read(file)).collect::<Result<Vec<RunFile>, Failure>>()?;
    let named = arguments.runs.iter().zip(&runs);
    let devices =
        named.map(|(file, run)| compared(file, run)).collect::<Result<Vec<Compared<'_>>, Failure>>()?;
    if printer.json {
        printer.document(&document(&arguments.runs, &runs, &devices))?;
    } else if arguments.html.is_none() {
        printer.result(&text(&devices, printer.width(), printer.style()))?;
    }
    if let Some(page) = &arguments.html {
        let cannot = format!("cannot write {}; is there space, and may you write there?", page.display());
        Destination::of(page)?.write(&html_page(&devices)).or_exit(Exit::Failed, cannot)?;
        printer.remark(format!("wrote {}", page.display()));
    }
    Ok(Exit::Fine)
}

/// The device of a run, under its file's name.
fn compared<'a>(file: &Path, run: &'a RunFile) -> Result<Compared<'a>, Failure> {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let name = name.trim_end_matches(".json").trim_end_matches(".flashscope");
    Compared::of(name, run).ok_or_else(|| {
        let error = anyhow!(
            "{} holds no long stream of writes; measure one (bench sustained TARGET -o FILE)",
            file.display()
        );
        Failure { exit: Exit::Usage, error }
    })
}

fn document(files: &[std::path::PathBuf], runs: &[RunFile], devices: &[Compared<'_>]) -> Value {
    let each = files.iter().zip(runs).zip(devices).map(|((file, run), device)| {
        let mut object = json!({
            "run": file,
            "name": device.name,
            "target": run.target,
            "sustained": device.sustained,
        });
        for (key, bytes) in FIRST_BYTES {
            object[key] = json!(device.speed_of_first(bytes.as_f64()));
        }
        object
    });
    json::document(json!({ "compared": each.collect::<Vec<_>>() }))
}
