//! Output files: checked before the measurement, written after it.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_report::{Report, html};

use crate::destination::Destination;
use crate::document::{Body, Document};
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;

/// Checks that each of `files` can be written, and that none is `input` or named twice. A typing mistake
/// must not cost an hour of measuring.
///
/// # Errors
/// Exit code 2 for a file that cannot be written, 4 for a disk.
pub fn permit(files: &[PathBuf], input: &Path) -> Result<(), Failure> {
    let mut destinations = Vec::new();
    for file in files {
        let destination = Destination::of(file)?;
        if destination.replaces(input) {
            let error = anyhow!(
                "{} is the same file as {} and would replace it; give the output another name",
                file.display(),
                input.display()
            );
            return Err(Failure { exit: Exit::Usage, error });
        }
        if matches!(destination, Destination::File(_)) && destinations.contains(&destination) {
            let error = anyhow!("{} is named as an output twice", file.display());
            return Err(Failure { exit: Exit::Usage, error });
        }
        let cannot = format!("cannot write {}; check the permissions of its directory", file.display());
        destination.try_out().or_exit(Exit::Usage, cannot)?;
        destinations.push(destination);
    }
    Ok(())
}

/// Writes an HTML page or a run file to each of `files`, by its extension.
///
/// # Errors
/// Exit code 3 for a file that could not be written, 4 if it has become a disk. The other files are written
/// anyway.
pub fn write(files: &[PathBuf], report: &Report<'_>, printer: &Printer) -> Result<(), Failure> {
    let mut result = Ok(());
    for file in files {
        match write_one(file, report) {
            Ok(()) => printer.remark(format!("wrote {}", file.display())),
            Err(failure) => result = Err(failure),
        }
    }
    result
}

/// Writes an HTML page or the JSON document to each of `files`, by its extension.
///
/// # Errors
/// Exit code 3 for a file that could not be written, 4 if it has become a disk. The files after it are not
/// written.
pub fn write_page_or_document(
    files: &[PathBuf],
    page: impl Fn() -> String,
    document: &impl Body,
    printer: &Printer,
) -> Result<(), Failure> {
    for file in files {
        let text = if is_json(file) {
            let text = serde_json::to_string_pretty(&Document::new(document));
            text.or_exit(Exit::Failed, "cannot write the document as JSON")? + "\n"
        } else {
            page()
        };
        store(file, &text)?;
        printer.remark(format!("wrote {}", file.display()));
    }
    Ok(())
}

fn is_json(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "json")
}

fn write_one(file: &Path, report: &Report<'_>) -> Result<(), Failure> {
    store(file, &text(file, report)?)
}

fn store(file: &Path, text: &str) -> Result<(), Failure> {
    let cannot = format!("cannot write {}; check the free space and permissions", file.display());
    Destination::of(file)?.write(text).or_exit(Exit::Failed, cannot)
}

fn text(file: &Path, report: &Report<'_>) -> Result<String, Failure> {
    if is_json(file) {
        return report.run.to_json().or_exit(Exit::Failed, "cannot write the run as JSON");
    }
    Ok(html(report))
}
