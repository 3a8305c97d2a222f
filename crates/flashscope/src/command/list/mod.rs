//! `flashscope list`: sticks, cards and readers, what they are and how they are plugged in.

mod layout;
mod partitions;
mod watch;
pub mod words;

use flashscope_linux::{Disk, Listing, Roots, list};
use serde_json::{Value, json};

use crate::args::List;
use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;
use crate::roots::roots;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a copy that is none, 3 if the system has no list of disks.
pub fn run(arguments: &List, printer: &Printer) -> Result<Exit, Failure> {
    let roots = roots(&arguments.source)?;
    let listing = read(&roots, arguments)?;
    if arguments.watch {
        return watch::run(listing, &roots, arguments, printer);
    }
    if printer.json {
        printer.document(&json::document(document(&listing)))?;
        return Ok(Exit::Fine);
    }
    printer.result(&layout::listing(&listing, printer.width()))?;
    say_what_is_missing(&listing, &roots, arguments, printer);
    Ok(Exit::Fine)
}

/// What there is; without `--all`, what flashscope is for.
fn read(roots: &Roots, arguments: &List) -> Result<Listing, Failure> {
    let exit = if arguments.source.sysfs.is_some() { Exit::Usage } else { Exit::Failed };
    let mut listing = list(roots).or_exit_bare(exit)?;
    if !arguments.all {
        listing.disks.retain(Disk::is_stick_or_card);
    }
    Ok(listing)
}

fn document(listing: &Listing) -> Value {
    json!({
        "disks": listing.disks.iter().map(json::disk).collect::<Vec<_>>(),
        "idle": listing.missing.iter().map(json::idle).collect::<Vec<_>>(),
        "vanished": listing.vanished,
    })
}

/// Nothing found is no error, but it needs a word.
fn say_what_is_missing(listing: &Listing, roots: &Roots, arguments: &List, printer: &Printer) {
    for name in &listing.vanished {
        printer.remark(format!("{name} went away while it was read"));
    }
    if !listing.disks.is_empty() {
        return;
    }
    let what = if arguments.all { "no disk" } else { "no stick, card or reader" };
    let others = list(roots).map_or(0, |all| all.disks.len());
    let others = if others > 0 { format!("; --all shows the other {others}") } else { String::new() };
    printer.remark(format!("{what} is here{others}"));
    printer.remark("plug one in (--watch shows when the machine sees it), or try a virtual one: flashscope check sim:patriot-xt-16g");
}
