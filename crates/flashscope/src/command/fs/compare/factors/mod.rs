//! `flashscope fs compare --factors`: which of several factors matters, alone and together.

mod design;
mod experiments;

use std::path::Path;

use flashscope_report::factors::{html_page, text};
use flashscope_report::{Sentence, printable};

use self::experiments::Timed;
use super::compared::Compared;
use super::replayed;
use crate::args::FsCompare;
use crate::destination::Destination;
use crate::document::{Document, FsFactorsDocument};
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;

pub use design::Design;

/// Runs the command on the virtual stick of this name.
///
/// # Errors
/// Exit code 2 for a wrong stick, factor or recording, 3 if a file cannot be written, 4 if that is a disk.
pub fn run(arguments: &FsCompare, name: &str, printer: &Printer) -> Result<Exit, Failure> {
    let (compared, design) = replayed::compare_factors(arguments, name, printer)?;
    let experiments = experiments::of(&design, &compared.trials)?;
    let document = FsFactorsDocument {
        target: arguments.target.clone(),
        device: compared.device.clone(),
        experiments: experiments.iter().map(Timed::document).collect(),
        trials: compared.trials.clone(),
        failures: compared.failures.clone(),
        notes: compared.notes.clone(),
    };
    let reports: Vec<_> = experiments.into_iter().map(Timed::into_report).collect();
    if printer.json {
        printer.document(&document)?;
    } else {
        printer.notes(&compared.notes);
        let device = printable(&compared.device);
        printer.result(&format!("{device}\n\n{}", text(&reports, printer.width(), printer.style())))?;
    }
    compared.failures.iter().for_each(|failure| printer.remark(format!("failed: {failure}")));
    for file in &arguments.output {
        let is_page = file.extension().is_none_or(|extension| extension != "json");
        let text = if is_page {
            html_page(&compared.device, &reports, &conditions(&compared))
        } else {
            let text = serde_json::to_string_pretty(&Document::new(&document));
            text.or_exit(Exit::Failed, "cannot write the comparison as JSON")? + "\n"
        };
        write(file, &text)?;
        printer.remark(format!("wrote {}", file.display()));
    }
    Ok(compared.exit)
}

/// What a page says below its tables.
fn conditions(compared: &Compared) -> Vec<Sentence> {
    let failures = compared.failures.iter().map(|failure| format!("failed: {failure}"));
    compared.notes.iter().cloned().chain(failures).map(Sentence::new).collect()
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let cannot = format!("cannot write {}; check the free space and permissions", file.display());
    Destination::of(file)?.write(text).or_exit(Exit::Failed, cannot)
}
