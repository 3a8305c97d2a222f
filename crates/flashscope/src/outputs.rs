//! Files with results: written whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flashscope_probe::{Finding, RunFile};
use flashscope_report::{Report, html};

use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;

/// Writes a page or a run file to each of `files`, as its name says.
///
/// # Errors
/// Exit code 3 with the file that could not be written; the others are written all the same.
pub fn write(
    files: &[PathBuf],
    run: &RunFile,
    findings: &[Finding],
    printer: &Printer,
) -> Result<(), Failure> {
    let mut result = Ok(());
    for file in files {
        let written = text(file, run, findings).and_then(|text| replace(file, &text));
        match written {
            Ok(()) => printer.remark(format!("wrote {}", file.display())),
            Err(failure) => result = Err(failure),
        }
    }
    result
}

fn text(file: &Path, run: &RunFile, findings: &[Finding]) -> Result<String, Failure> {
    if file.extension().is_some_and(|extension| extension == "json") {
        return run.to_json().or_exit(Exit::Failed, "cannot write the run as JSON");
    }
    Ok(html(&Report { run, findings }))
}

/// Writes `text` beside `file` first and then renames it, so that a full disk leaves the old file as it was.
///
/// # Errors
/// Exit code 3.
pub fn replace(file: &Path, text: &str) -> Result<(), Failure> {
    let describe = || format!("cannot write {}; is there space, and may you write there?", file.display());
    if file.exists() && !file.is_file() {
        // A pipe or a device such as /dev/stdout has no place beside it.
        return fs::write(file, text).or_exit(Exit::Failed, describe());
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = file.with_file_name(name);
    let written = fs::File::create(&partial)
        .and_then(|mut output| output.write_all(text.as_bytes()).and_then(|()| output.sync_all()))
        .and_then(|()| fs::rename(&partial, file));
    if written.is_err() {
        let _already_gone = fs::remove_file(&partial);
    }
    written.or_exit(Exit::Failed, describe())
}
