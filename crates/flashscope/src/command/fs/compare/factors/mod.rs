//! `flashscope fs compare --factors`: which of several factors matters, alone and together.

mod design;
mod experiments;

use flashscope_report::factors::{html_page, text};
use flashscope_report::{Sentence, printable};

use self::experiments::Timed;
use super::compared::Compared;
use super::replayed;
use crate::args::FsCompare;
use crate::document::FsFactorsDocument;
use crate::exit::{Exit, Failure};
use crate::outputs;
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
    let page = || html_page(&compared.device, &reports, &conditions(&compared));
    outputs::write_page_or_document(&arguments.output, page, &document, printer)?;
    compared.remark_if_interrupted(printer);
    Ok(compared.exit)
}

/// What a page says below its tables.
fn conditions(compared: &Compared) -> Vec<Sentence> {
    let failures = compared.failures.iter().map(|failure| format!("failed: {failure}"));
    compared.notes.iter().cloned().chain(failures).map(Sentence::new).collect()
}
