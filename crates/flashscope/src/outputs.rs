//! Files with results: looked at before anything is measured, written at the end.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_record::finding::Finding;
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, html};

use crate::destination::Destination;
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;

/// Makes sure that each of `files` can be written, and that none of them is `input` or another of them. An hour of
/// measuring must not be lost to a typing mistake.
///
/// # Errors
/// Exit code 2 with the file, 4 for a disk.
pub fn permit(files: &[PathBuf], input: &Path) -> Result<(), Failure> {
    let mut destinations = Vec::new();
    for file in files {
        let destination = Destination::of(file)?;
        if destination.replaces(input) {
            let error = anyhow!(
                "{} is the same file as {}, which it would replace; give the output another name",
                file.display(),
                input.display()
            );
            return Err(Failure { exit: Exit::Usage, error });
        }
        if matches!(destination, Destination::File(_)) && destinations.contains(&destination) {
            let error = anyhow!("{} is named as an output twice", file.display());
            return Err(Failure { exit: Exit::Usage, error });
        }
        let cannot = format!("cannot write {}; may you write in its folder?", file.display());
        destination.try_out().or_exit(Exit::Usage, cannot)?;
        destinations.push(destination);
    }
    Ok(())
}

/// Writes a page or a run file to each of `files`, as its name says.
///
/// # Errors
/// Exit code 3 with the file that could not be written, 4 if it has become a disk; the others are written all the same.
pub fn write(
    files: &[PathBuf],
    run: &RunFile,
    findings: &[Finding],
    printer: &Printer,
) -> Result<(), Failure> {
    let mut result = Ok(());
    for file in files {
        match write_one(file, run, findings) {
            Ok(()) => printer.remark(format!("wrote {}", file.display())),
            Err(failure) => result = Err(failure),
        }
    }
    result
}

fn write_one(file: &Path, run: &RunFile, findings: &[Finding]) -> Result<(), Failure> {
    let text = text(file, run, findings)?;
    let cannot = format!("cannot write {}; is there space, and may you write there?", file.display());
    Destination::of(file)?.write(&text).or_exit(Exit::Failed, cannot)
}

fn text(file: &Path, run: &RunFile, findings: &[Finding]) -> Result<String, Failure> {
    if file.extension().is_some_and(|extension| extension == "json") {
        return run.to_json().or_exit(Exit::Failed, "cannot write the run as JSON");
    }
    Ok(html(&Report { run, findings }))
}
