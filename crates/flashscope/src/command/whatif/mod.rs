//! `flashscope whatif`: what another layout would gain on a stick, predicted on its virtual twin. Writes
//! nothing to a target.

mod predicted;
mod run;

use flashscope_report::whatif::{Outlook, html_page, text};

use self::predicted::Predicted;
use crate::args::Whatif;
use crate::document::WhatifDocument;
use crate::exit::{Exit, Failure};
use crate::interrupt::on_interrupt;
use crate::printer::Printer;
use crate::{outputs, target};

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a target without a twin, or for a wrong option or recording, 3 if a file cannot be
/// written, 4 if that is a disk.
pub fn run(arguments: &Whatif, printer: &Printer) -> Result<Exit, Failure> {
    outputs::permit(&arguments.output, target::file(&arguments.target))?;
    let recordings = predicted::recordings(arguments)?;
    let run = run::of(arguments, printer)?;
    let interrupt = on_interrupt()?;
    if interrupt.is_requested() {
        printer.remark("interrupted: nothing was predicted");
        return Ok(Exit::Interrupted);
    }
    let predicted = Predicted::of(&run, &recordings, arguments, &interrupt)?;
    if interrupt.is_requested() {
        printer.remark("interrupted: nothing was predicted");
        return Ok(Exit::Interrupted);
    }
    let name = if run.device_name.is_empty() { &run.target } else { &run.device_name };
    let outlook = Outlook {
        target: &arguments.target,
        device: name,
        erase_block: predicted.twin.profile.ftl.erase_block,
        fitted_times: predicted.twin.errors.cells,
        fitted_error: predicted.twin.errors.median,
        repeats_within: predicted.twin.fit.misfit.factor(),
        is_present_known: predicted.is_present_known,
        forecast: &predicted.forecast,
        notes: &predicted.notes,
    };
    let document = WhatifDocument::new(&outlook);
    if printer.json {
        printer.document(&document)?;
    } else {
        printer.notes(outlook.notes);
        printer.result(&text(&outlook, printer.width(), arguments.details))?;
    }
    outputs::write_page_or_document(&arguments.output, || html_page(&outlook), &document, printer)?;
    Ok(Exit::Fine)
}
