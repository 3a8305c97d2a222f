//! Development tasks: `cargo xtask TASK`. Each task is a file of its own.

#![expect(clippy::print_stderr, reason = "a task talks to the developer")]

mod ci;
mod diagnose;
mod docs;
mod fidelity;
mod lab;
mod oracle;
mod process;
mod speed;
mod threads;
mod tidy;
mod true_speed;
mod versus;
mod zoo;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks of flashscope.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything that must hold before a commit: format, lints, tidy, reference pages, tests, fidelity.
    Ci(ci::Arguments),
    /// Checks the house rules that the compiler does not know.
    Tidy(tidy::Arguments),
    /// Checks sticks with known ailments, and holds every diagnosis against what curing them gains.
    Diagnose(diagnose::Arguments),
    /// Writes the reference pages from the binary's own help.
    Docs(docs::Arguments),
    /// Holds the virtual sticks against the published tables they were made from.
    Fidelity(fidelity::Arguments),
    /// Runs a command in a virtual machine that has USB sticks, with this host's programs.
    Lab(lab::Arguments),
    /// Runs random requests with power cuts on every translation layer, and holds every read against a naive model.
    Oracle(oracle::Arguments),
    /// Counts the requests that virtual sticks serve in a second on one core.
    Speed(speed::Arguments),
    /// Holds the rows of `bench write` on every profile against what the stick gives where they go on for long.
    TrueSpeed(true_speed::Arguments),
    /// Measures the same work beside another program, in the same run.
    Versus(versus::Arguments),
    /// Surveys random sticks, and devices that are none, and holds every finding against the truth.
    Zoo(zoo::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.task {
        Task::Ci(arguments) => ci::run(arguments),
        Task::Tidy(arguments) => tidy::run(arguments),
        Task::Diagnose(arguments) => diagnose::run(arguments),
        Task::Docs(arguments) => docs::run(arguments),
        Task::Fidelity(arguments) => fidelity::run(arguments),
        Task::Lab(arguments) => lab::run(arguments),
        Task::Oracle(arguments) => oracle::run(arguments),
        Task::Speed(arguments) => speed::run(arguments),
        Task::TrueSpeed(arguments) => true_speed::run(arguments),
        Task::Versus(arguments) => versus::run(arguments),
        Task::Zoo(arguments) => zoo::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what a task found. `println!` would panic where the reader has gone (`cargo xtask … | head`).
fn say(text: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    kind == Some(std::io::ErrorKind::BrokenPipe)
}

/// The repository's root folder.
fn repository() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}
