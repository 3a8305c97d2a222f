//! Running other programs, cargo first of all.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::repository;

/// The cargo that runs this task, started in the repository.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository());
    command
}

/// Runs a command with this terminal's output; an error if it fails.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command and returns what it printed; an error if it fails.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!("{} ended with {}: {said}", shown(command), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Builds the binary of `package` with these further arguments of cargo, and says where it is.
pub fn built_binary(package: &str, arguments: &[&str]) -> anyhow::Result<PathBuf> {
    let build = ["build", "--package", package, "--message-format", "json", "--quiet"];
    let messages = output(cargo().args(build).args(arguments))?;
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    };
    messages.lines().filter_map(executable).next_back().context("cargo built no binary")
}

/// Where cargo puts what it builds.
pub fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from)
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
