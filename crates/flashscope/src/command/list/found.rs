//! The disks that `list` prints, and hints if there are none.

use flashscope_linux::{Disk, Listing, Roots, list};

use crate::args::List;
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;

/// The disks of this machine; without `--all`, only sticks, cards and readers.
///
/// # Errors
/// Exit code 2 for a directory that is not a copy of /sys, 3 if the system has no list of disks.
pub fn read(roots: &Roots, arguments: &List) -> Result<Listing, Failure> {
    let exit = if arguments.source.sysfs.is_some() { Exit::Usage } else { Exit::Failed };
    let mut listing = list(roots).or_exit_bare(exit)?;
    if !arguments.all {
        listing.disks.retain(Disk::is_stick_or_card);
    }
    Ok(listing)
}

/// Prints which disks vanished, and what to do if there is no disk.
pub fn print_hints(listing: &Listing, roots: &Roots, arguments: &List, printer: &Printer) {
    for name in &listing.vanished {
        printer.remark(format!("{name} was unplugged while it was read"));
    }
    if !listing.disks.is_empty() {
        return;
    }
    let what = if arguments.all { "no disk" } else { "no stick, card or reader" };
    let others = list(roots).map_or(0, |all| all.disks.len());
    let others = if others > 0 { format!("; --all shows the other {others}") } else { String::new() };
    printer.remark(format!("{what} found{others}"));
    printer.remark("plug one in (--watch shows when the machine sees it), or try a virtual stick: flashscope check sim:patriot-xt-16g");
}
