//! The program of a package: a release build that holds no path of the computer that made it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use super::cargo_home;
use crate::process::{self, repository, target_folder};

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

    /// The emulator that runs its programs on another architecture (Debian's package `qemu-user-static`).
    pub fn emulator(self) -> &'static str {
        match self {
            Self::Amd64 => "qemu-x86_64-static",
            Self::Arm64 => "qemu-aarch64-static",
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

/// Builds the program of this tree and returns its path.
///
/// # Errors
/// As [`program_of`].
pub fn program(architecture: Architecture) -> anyhow::Result<PathBuf> {
    program_of(&repository(), &target_folder(), architecture)
}

/// Builds the program of a tree below `target_folder` and returns its path. A program that holds a path of
/// this computer is an error.
///
/// The build always names its target: dependencies that run on this computer stay those of other release
/// builds.
pub fn program_of(tree: &Path, target_folder: &Path, architecture: Architecture) -> anyhow::Result<PathBuf> {
    let target = architecture.target();
    let arguments = ["--print", "target-libdir", "--target", target];
    let libraries = process::output(Command::new("rustc").current_dir(repository()).args(arguments))?;
    if !Path::new(libraries.trim()).is_dir() {
        bail!("Rust's libraries for {target} are missing; 'rustup target add {target}' installs them");
    }
    let mut build = process::build("flashscope", &["--release", "--target", target]);
    build.current_dir(tree).env("CARGO_TARGET_DIR", target_folder);
    build.env("CARGO_ENCODED_RUSTFLAGS", flags(tree, target_folder, architecture)).env_remove("RUSTFLAGS");
    let program = process::executable(&mut build)?;
    let folders = [Some(tree.as_os_str().to_owned()), Some(target_folder.into()), cargo_home()];
    refuse_paths(&fs::read(&program)?, folders.into_iter().flatten())?;
    Ok(program)
}

/// Refuses a program that names a folder of this computer: another computer would make other bytes.
fn refuse_paths(program: &[u8], folders: impl Iterator<Item = OsString>) -> anyhow::Result<()> {
    for folder in folders {
        let name = folder.as_encoded_bytes();
        if name.len() > 1 && program.windows(name.len()).any(|window| window == name) {
            bail!("the program holds the path {}, which differs on every computer", folder.display());
        }
    }
    Ok(())
}

/// Flags of the compiler: neutral paths, and for a static program the linker that comes with Rust.
fn flags(tree: &Path, target_folder: &Path, architecture: Architecture) -> OsString {
    let mut flags = Vec::new();
    // The last flag that fits wins: cargo's home may be inside the tree.
    // The target directory, too: it holds generated code.
    let folders = [
        (Some(tree.as_os_str().to_owned()), "/flashscope"),
        (cargo_home(), "/cargo"),
        (Some(target_folder.into()), "/target"),
    ];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_with_a_path_of_the_computer_is_refused() {
        let refuse =
            |program: &[u8]| refuse_paths(program, ["/home/me/flashscope".into(), "/".into()].into_iter());
        assert!(refuse(b"\x7fELF\0/flashscope/crates/device/src/lib.rs\0").is_ok());
        let error = refuse(b"\x7fELF\0/home/me/flashscope/crates/device/src/lib.rs\0").unwrap_err();
        assert!(error.to_string().contains("/home/me/flashscope"), "{error}");
    }
}
