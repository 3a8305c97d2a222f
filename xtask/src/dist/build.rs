//! The program of a package: a release build that holds no path of the computer that made it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use super::cargo_home;
use crate::process::{self, repository};

/// An architecture for which there are packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Architecture {
    /// x86-64, linked to the C library of Debian.
    Amd64,
    /// AArch64 such as a Raspberry Pi; static, so it runs on every Linux.
    Arm64,
}

impl Architecture {
    /// That of this computer.
    pub fn native() -> anyhow::Result<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Self::Amd64),
            "aarch64" => Ok(Self::Arm64),
            other => bail!("there are no packages for {other}"),
        }
    }

    /// Debian's name.
    pub fn debian(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The kernel's name.
    pub fn machine(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// Rust's name of the target.
    pub fn target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-unknown-linux-gnu",
            Self::Arm64 => "aarch64-unknown-linux-musl",
        }
    }
}

/// Builds the program and returns its path.
///
/// The build always names its target: dependencies that run on this computer stay those of other release
/// builds.
pub fn program(architecture: Architecture) -> anyhow::Result<PathBuf> {
    let target = architecture.target();
    let arguments = ["--print", "target-libdir", "--target", target];
    let libraries = process::output(Command::new("rustc").current_dir(repository()).args(arguments))?;
    if !Path::new(libraries.trim()).is_dir() {
        bail!("Rust's libraries for {target} are missing; 'rustup target add {target}' installs them");
    }
    let mut build = process::build("flashscope", &["--release", "--target", target]);
    build.env("CARGO_ENCODED_RUSTFLAGS", flags(architecture)).env_remove("RUSTFLAGS");
    process::executable(&mut build)
}

/// Flags of the compiler: neutral paths, and for a static program the linker that comes with Rust.
fn flags(architecture: Architecture) -> OsString {
    let mut flags = Vec::new();
    // The last flag that fits wins: cargo's home may be inside the tree.
    let folders = [(Some(repository().into_os_string()), "/flashscope"), (cargo_home(), "/cargo")];
    for (folder, neutral) in folders {
        let Some(folder) = folder else { continue };
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(folder);
        flag.push("=");
        flag.push(neutral);
        flags.push(flag);
    }
    if architecture == Architecture::Arm64 {
        flags.push("-Clinker=rust-lld".into());
    }
    flags.join("\x1f".as_ref())
}
