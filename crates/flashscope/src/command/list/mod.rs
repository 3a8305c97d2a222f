//! `flashscope list`: sticks, cards and readers, and how they are attached.

mod found;
mod layout;
mod watch;

use found::{print_hints, read};

use crate::args::List;
use crate::document::ListDocument;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::roots::roots;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a directory that is not a copy of /sys, 3 if the system has no list of disks.
pub fn run(arguments: &List, printer: &Printer) -> Result<Exit, Failure> {
    let roots = roots(&arguments.source)?;
    let listing = read(&roots, arguments)?;
    if arguments.watch {
        return watch::run(listing, &roots, arguments, printer);
    }
    if printer.json {
        printer.document(&ListDocument::from(&listing))?;
        return Ok(Exit::Fine);
    }
    printer.result(&layout::listing(&listing, printer.width()))?;
    print_hints(&listing, &roots, arguments, printer);
    Ok(Exit::Fine)
}
