//! `flashscope bench`: throughput, IOPS and latency.

mod cache;
mod directory;
mod files;
mod methods;
mod speed;
mod sustained;

pub use directory::{is_directory, print_removed, within};
use speed::Writes;

use crate::args::{Bench, BenchCommand};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command or its subcommand.
///
/// # Errors
/// Those of the subcommands.
pub fn run(arguments: &Bench, printer: &Printer) -> Result<Exit, Failure> {
    use flashscope_record::observation::Direction::{Read, Write};
    match &arguments.command {
        Some(BenchCommand::Read(read)) => speed::run(&read.target, &read.tests, None, &[Read], printer),
        Some(BenchCommand::Write(write)) => {
            let writes = Some(Writes::new(&write.erase, &write.thorough));
            speed::run(&write.target, &write.tests, writes, &[Write], printer)
        }
        Some(BenchCommand::Cache(cache)) => cache::run(cache, printer),
        Some(BenchCommand::Files(files)) => files::run(files, printer),
        Some(BenchCommand::Methods(methods)) => methods::run(methods, printer),
        Some(BenchCommand::Sustained(sustained)) => sustained::run(sustained, printer),
        None => {
            // Without a subcommand, clap requires a target.
            let target = arguments.target.as_deref().unwrap_or_default();
            let writes = Some(Writes::new(&arguments.erase, &arguments.thorough));
            speed::run(target, &arguments.tests, writes, &[Write, Read], printer)
        }
    }
}
