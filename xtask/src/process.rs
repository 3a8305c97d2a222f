//! Runs other programs, and locates the repository.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, bail};

/// The repository's root folder.
pub fn repository() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The cargo that runs this task, in the repository's root folder.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository());
    command
}

/// Runs a command whose output goes to the terminal; an error if it fails.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", display(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", display(command));
    }
    Ok(())
}

/// Runs a command and returns its standard output; an error if it fails.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", display(command)))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!("{} ended with {}: {message}", display(command), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Builds the binary of `package` with further arguments for cargo, and returns its path.
pub fn built_binary(package: &str, arguments: &[&str]) -> anyhow::Result<PathBuf> {
    executable(&mut build(package, arguments))
}

/// The command that builds `package` with further arguments for cargo.
pub fn build(package: &str, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["build", "--package", package, "--message-format", "json", "--quiet"]).args(arguments);
    command
}

/// Runs a [`build`] and returns the path of the binary.
pub fn executable(build: &mut Command) -> anyhow::Result<PathBuf> {
    let messages = output(build)?;
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    };
    messages.lines().filter_map(executable).next_back().context("cargo built no binary")
}

/// The bytes compressed by zstd on one thread, so that the number of cores does not change them; `None`
/// without the program.
pub fn zstd(bytes: Vec<u8>) -> anyhow::Result<Option<Vec<u8>>> {
    let mut command = Command::new("zstd");
    command
        .args(["-19", "--single-thread", "--quiet", "--stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return Ok(None) };
    let mut input = child.stdin.take().context("zstd has no input")?;
    let writer = thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("zstd ended with {}", output.status);
    }
    writer.join().map_err(|_| anyhow::anyhow!("writing to zstd panicked"))??;
    Ok(Some(output.stdout))
}

/// Cargo's target folder.
pub fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from)
}

fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
