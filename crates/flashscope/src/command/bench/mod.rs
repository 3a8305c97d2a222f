//! `flashscope bench`: how fast a target really is.

mod cache;
mod files;
mod folder;
mod methods;
mod rows;
mod sustained;

use rows::Writes;

use crate::args::{Bench, BenchPart};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command, or one part of it.
///
/// # Errors
/// As the parts.
pub fn run(arguments: &Bench, printer: &Printer) -> Result<Exit, Failure> {
    use flashscope_record::observation::Direction::{Read, Write};
    match &arguments.part {
        Some(BenchPart::Read(read)) => rows::run(&read.target, &read.rows, None, &[Read], printer),
        Some(BenchPart::Write(write)) => {
            let writes = Some(Writes::of(&write.erase, &write.extent));
            rows::run(&write.target, &write.rows, writes, &[Write], printer)
        }
        Some(BenchPart::Cache(cache)) => cache::run(cache, printer),
        Some(BenchPart::Files(files)) => files::run(files, printer),
        Some(BenchPart::Methods(methods)) => methods::run(methods, printer),
        Some(BenchPart::Sustained(sustained)) => sustained::run(sustained, printer),
        None => {
            // Without a part the definitions ask for a target.
            let target = arguments.target.as_deref().unwrap_or_default();
            let writes = Some(Writes::of(&arguments.erase, &arguments.extent));
            rows::run(target, &arguments.rows, writes, &[Write, Read], printer)
        }
    }
}
