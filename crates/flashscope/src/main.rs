//! flashscope: why is this USB stick slow?
//!
//! From top to bottom: [`args`] is the command line, [`command`] has one file a command, [`document`] has
//! the documents of `--json`, [`text`] has sentences, and a command prints only through its [`printer`].

#![deny(missing_docs)]

mod args;
mod budget;
mod command;
mod confirm;
mod destination;
mod document;
mod duration;
mod exit;
mod file_kind;
mod full_state;
mod input;
mod interrupt;
mod kernel_table;
mod medium;
mod outputs;
mod printer;
mod progress;
mod roots;
mod scratch;
mod seed;
mod stall;
mod target;
mod text;
mod undo_file;
mod wall_clock;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Arguments, Command};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(error) = args::mistyped_subcommand(Arguments::command(), &words) {
        error.exit();
    }
    let mut arguments = Arguments::try_parse_from(&words)
        .unwrap_or_else(|error| args::naming_not_utf8(Arguments::command(), error, &words).exit());
    let mut printer = Printer::new(&arguments.global);
    complete(&mut arguments, &printer);
    let exit = match run(&arguments, &mut printer) {
        Ok(exit) => exit,
        Err(failure) => printer.failure(&failure),
    };
    exit.into()
}

/// Completes the name of a virtual stick without `sim:`, and says so.
fn complete(arguments: &mut Arguments, printer: &Printer) {
    if let Some(target) = arguments.command.target_mut()
        && let Some(stick) = target::virtual_stick(target)
    {
        printer.remark(format!("no file or device is named {target}: taking the virtual stick {stick}"));
        *target = stick;
    }
}

fn run(arguments: &Arguments, printer: &mut Printer) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Check(check) => command::check::run(check, printer),
        Command::Bench(bench) => command::bench::run(bench, printer),
        Command::Verify(verify) => command::verify::run(verify, printer),
        Command::Plan(plan) => command::plan::run(plan, printer),
        Command::Apply(apply) => command::apply::run(apply, printer),
        Command::Undo(undo) => command::undo::run(undo, printer),
        Command::Restore(restore) => command::restore::run(restore, printer),
        Command::Measure(measure) => command::measure::run(measure, printer),
        Command::Import(import) => command::import::run(import, printer),
        Command::Fs(fs) => command::fs::run(fs, printer),
        Command::Whatif(whatif) => command::whatif::run(whatif, printer),
        Command::Sim(sim) => command::sim::run(sim, printer),
        Command::Report(report) => command::report::run(report, printer),
        Command::List(list) => command::list::run(list, printer),
        Command::Watch(watch) => command::watch::run(watch, printer),
        Command::Generate { name } => command::generate::run(name.as_deref(), printer),
        Command::Schema { name } => command::schema::run(name.as_deref(), printer),
    }
}
