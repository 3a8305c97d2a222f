//! `cargo xtask ci`: every check that must pass before a commit.

use crate::dist::trial;
use crate::output::print;
use crate::validate::{diagnose, fidelity, oracle, zoo};
use crate::{docs, process, tidy};

/// Which checks to run.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Skip the test suite
    #[arg(long)]
    no_tests: bool,
}

/// Runs every check, and stops at the first that fails.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    step("format", || process::run(process::cargo().args(["fmt", "--all", "--check"])))?;
    step("lints", clippy)?;
    step("tidy", || tidy::run(&tidy::Arguments::default()))?;
    let program = trial::program()?;
    step("reference pages", || docs::check(&program))?;
    step("package", || trial::check(&program))?;
    if !arguments.no_tests {
        step("tests", || process::run(process::cargo().args(["test", "--workspace"])))?;
    }
    step("fidelity", fidelity::check)?;
    step("oracle", oracle::check)?;
    step("zoo", zoo::check)?;
    step("diagnose", diagnose::check)?;
    Ok(print("ci: every check passed\n")?)
}

fn step(name: &str, check: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    print(&format!("ci: {name}\n"))?;
    check().map_err(|error| error.context(format!("the check '{name}' failed")))
}

fn clippy() -> anyhow::Result<()> {
    // The second checks the library without D-Bus, a feature of the binary. Its tests are in the first.
    for packages in [["--workspace", "--all-targets"], ["--package", "flashscope-linux"]] {
        let clippy = ["clippy", "--quiet"];
        process::run(process::cargo().args(clippy).args(packages).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}
