//! Running the program that flashscope is compared with.

use std::io::ErrorKind;
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

/// The number of rounds of each side. A row shows their median.
pub const ROUNDS: usize = 5;

/// Runs a peer's program. If it is missing, the error names the Debian package that contains it.
pub fn run_peer(command: &mut Command, package: &str) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{program} is not installed; get it with: apt-get install {package}")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot start {program}")),
    };
    if !output.status.success() {
        bail!("{program} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output)
}
