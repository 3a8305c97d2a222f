//! `flashscope fs compare`: the same files on each filesystem, on one stick.
//!
//! Each kind of target yields trials; everything after that is the same for all.

mod compared;
mod factors;
mod on_device;
mod replayed;

use anyhow::anyhow;
use flashscope_infer::trials::summary::Summary;
use flashscope_report::filesystems::{Compared as Comparison, html_page, text};

use crate::args::FsCompare;
use crate::document::FsCompareDocument;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::{outputs, target};

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a wrong target, option or recording, 3 if a file cannot be written, 4 if that is a disk.
pub fn run(arguments: &FsCompare, printer: &Printer) -> Result<Exit, Failure> {
    outputs::permit(&arguments.output, target::file(&arguments.target))?;
    let compared = match arguments.target.strip_prefix("sim:") {
        Some(name) => {
            refuse_options_of_disks(arguments)?;
            if !arguments.factors.is_empty() {
                return factors::run(arguments, name, printer);
            }
            replayed::compare(arguments, name, printer)?
        }
        None => {
            refuse_factors(arguments)?;
            on_device::compare(arguments, printer)?
        }
    };
    let summary = Summary::of(&compared.trials);
    let comparison = Comparison {
        target: &arguments.target,
        device: &compared.device,
        start: compared.start,
        summary: &summary,
        source: &compared.source,
        fewer: &compared.fewer,
        failures: &compared.failures,
        notes: &compared.notes,
    };
    let document = FsCompareDocument::new(&comparison, &compared.trials, compared.seed);
    print(&comparison, &document, arguments, printer)?;
    outputs::write_page_or_document(&arguments.output, || html_page(&comparison), &document, printer)?;
    compared.remark_if_interrupted(printer);
    Ok(compared.exit)
}

/// Refuses options that have no meaning on a virtual stick.
fn refuse_options_of_disks(arguments: &FsCompare) -> Result<(), Failure> {
    let given = [
        ("--like", arguments.like.is_some()),
        ("--time-budget", arguments.time_budget.is_some()),
        ("--erase-block", arguments.erase_block.is_some()),
        ("--yes", arguments.yes.is_some()),
    ];
    let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let target = &arguments.target;
    let error =
        anyhow!("{option} is for disks, and {target} is a virtual stick, on which recordings are replayed");
    Err(Failure { exit: Exit::Usage, error })
}

/// Refuses an experiment that runs on recordings alone.
fn refuse_factors(arguments: &FsCompare) -> Result<(), Failure> {
    if arguments.factors.is_empty() {
        return Ok(());
    }
    let target = &arguments.target;
    let error = anyhow!(
        "--factors replays recordings on a virtual stick, and {target} is a disk; fit one to it: 'sudo flashscope check \
         {target} --scratch -o run.json', then 'flashscope sim fit run.json -o twin.toml' and 'flashscope fs compare \
         sim:twin.toml --factors ...'"
    );
    Err(Failure { exit: Exit::Usage, error })
}

fn print(
    comparison: &Comparison<'_>,
    document: &FsCompareDocument,
    arguments: &FsCompare,
    printer: &Printer,
) -> Result<(), Failure> {
    if printer.json {
        printer.document(document)?;
    } else {
        printer.notes(comparison.notes);
        printer.result(&text(comparison, printer.width(), printer.style(), arguments.details))?;
    }
    comparison.failures.iter().for_each(|failure| printer.remark(format!("failed: {failure}")));
    Ok(())
}
