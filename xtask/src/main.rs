//! Development tasks: `cargo xtask TASK`. Each task is one file or folder.

mod ci;
mod crash;
mod dist;
mod docs;
mod docs_filesystems;
mod fuzz;
mod lab;
mod mutants;
mod output;
mod process;
mod speed;
mod threads;
mod tidy;
mod validate;
mod versus;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks of flashscope
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run every check that must pass before a commit
    Ci(ci::Arguments),
    /// Crash while a journaled device is written and restored, and compare every byte
    Crash(crash::Arguments),
    /// Check the house rules that the compiler does not check
    Tidy(tidy::Arguments),
    /// Write docs/reference from the program's help
    Docs(docs::Arguments),
    /// Make a Debian package and a plain archive; the same commit gives the same bytes
    Dist(dist::Arguments),
    /// Run a command in a virtual machine with emulated USB sticks
    Lab(lab::Arguments),
    /// Parse mutated inputs with every parser of untrusted bytes
    Fuzz(fuzz::Arguments),
    /// Remove each guard of data in a copy of the tree; its test must fail
    Mutants(mutants::Arguments),
    /// Measure the requests per second of virtual sticks on one core
    Speed(speed::Arguments),
    /// Validate findings, diagnoses and virtual sticks against known truth
    #[command(subcommand)]
    Validate(validate::Task),
    /// Compare flashscope with fio, f3 or flashbench on the same work
    Versus(versus::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.task {
        Task::Ci(arguments) => ci::run(arguments),
        Task::Crash(arguments) => crash::run(arguments),
        Task::Tidy(arguments) => tidy::run(arguments),
        Task::Dist(arguments) => dist::run(arguments),
        Task::Docs(arguments) => docs::run(arguments),
        Task::Lab(arguments) => lab::run(arguments),
        Task::Fuzz(arguments) => fuzz::run(arguments),
        Task::Mutants(arguments) => mutants::run(arguments),
        Task::Speed(arguments) => speed::run(arguments),
        Task::Validate(task) => validate::run(task),
        Task::Versus(arguments) => versus::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
