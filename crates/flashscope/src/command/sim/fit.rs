//! `flashscope sim fit`: fits a profile to a flashbench log or a run file.

use std::path::Path;

use flashscope_flashbench::parse::parse;
use flashscope_record::run_file::RunFile;
use flashscope_twin::{Compared, Fit, Measured, Options, fit};

use crate::args::SimFit;
use crate::destination::Destination;
use crate::document::SimFitDocument;
use crate::exit::{Exit, Failure, OrExit};
use crate::file_kind::{self, Kind};
use crate::printer::Printer;
use crate::{input, outputs};

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a log that cannot be read or fitted, or a profile that cannot be written.
pub fn run(arguments: &SimFit, printer: &Printer) -> Result<(), Failure> {
    let name = arguments.log.display().to_string();
    let outputs = arguments.output.as_slice();
    outputs::permit(outputs, input::file(&arguments.log))?;
    file_kind::refuse_other(&arguments.log, &[Kind::Run, Kind::Log])?;
    let bytes = input::read(&arguments.log).or_exit(Exit::Usage, format!("cannot read {name}"))?;
    let measured = read(&name, &bytes, printer)?;
    for remark in &measured.remarks {
        printer.remark(format!("{name}: {remark}"));
    }
    let options = Options {
        profile_name: profile_name(&arguments.log),
        holdout: arguments.holdout,
        seed: arguments.seed,
    };
    let fitted = fit(&measured, &options).or_exit_bare(Exit::Usage)?;
    if let Some(warning) = [true, false].into_iter().find_map(|held_out| fitted.comparison.warning(held_out))
    {
        printer.remark(format!("warning: poor fit: {warning}"));
    }
    show(&fitted, &measured, arguments, printer)?;
    let Some(path) = &arguments.output else { return Ok(()) };
    let cannot = format!("cannot write {}; check the free space and permissions", path.display());
    Destination::of(path)?.write(&fitted.toml).or_exit(Exit::Failed, cannot)?;
    printer.remark(format!("wrote {}", path.display()));
    Ok(())
}

/// Reads a run file if it is JSON, else a log.
fn read(name: &str, bytes: &[u8], printer: &Printer) -> Result<Measured, Failure> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        let text = String::from_utf8_lossy(bytes);
        let run = RunFile::parse(&text).or_exit(Exit::Usage, format!("cannot read {name}"))?;
        return Ok(Measured::from_run(name, &run));
    }
    let log = parse(bytes, name).or_exit_bare(Exit::Usage)?;
    for problem in &log.problems {
        printer.remark(format!("{name}: {problem}"));
    }
    log.remarks.iter().for_each(|remark| printer.remark(format!("{name}: {remark}")));
    Ok(Measured::from_log(name, &log, bytes))
}

/// The name of the profile, from the log's file name: lower-case letters, digits and hyphens. The output's
/// name is not used, so that the same log gives the same bytes.
fn profile_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = stem.trim_end_matches(".flashscope");
    let plain = stem.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let name: String = plain.collect::<Vec<_>>().join("-").chars().take(64).collect();
    if name.is_empty() { "fitted".to_owned() } else { name }
}

fn show(fitted: &Fit, measured: &Measured, arguments: &SimFit, printer: &Printer) -> Result<(), Failure> {
    if printer.json {
        let document = SimFitDocument::new(fitted, measured, arguments.holdout, arguments.seed);
        return Ok(printer.document(&document)?);
    }
    for cell in &fitted.comparison.cells {
        printer.detail(line(cell, measured));
    }
    let (seen, unseen) = (fitted.comparison.summary(false), fitted.comparison.summary(true));
    let numbers = format!("{} numbers from {} cells", fitted.parameters, fitted.fitted_cells);
    let text = format!("{numbers}\nfitted    {seen}\nheld out  {unseen}\n");
    if arguments.output.is_none() {
        printer.remark(text.trim_end());
        return Ok(printer.result(&fitted.toml)?);
    }
    Ok(printer.result(&text)?)
}

fn line(cell: &Compared, measured: &Measured) -> String {
    let first = measured.tables.get(cell.table).map_or(0, |table| *table.lines.start());
    let share = if cell.held_out { "held out" } else { "fitted" };
    let (measured_ms, simulated_ms) = (cell.measured_s * 1e3, cell.simulated_s * 1e3);
    let error = cell.error() * 100.0;
    format!(
        "table at line {first:>4}  {share:<8}  {:<36} {measured_ms:>10.3} ms  simulated {simulated_ms:>10.3} ms  error {error:>5.1} %",
        cell.key.to_string()
    )
}
