//! `cargo xtask dist`: a Debian package and a plain archive. The same commit gives the same bytes, in any
//! directory.

mod again;
mod archive;
mod binary;
mod build;
mod contents;
mod control;
mod licences;
pub mod trial;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

pub use build::Architecture;
use contents::{Completions, Contents};
use control::{Origin, VERSION};

use crate::output::{print, progress};
use crate::process::{self, repository, target_folder};

/// What to make.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The architecture of the packages; default: this computer's.
    #[arg(long, value_enum)]
    arch: Option<Architecture>,
    /// Also try this computer's package: the same bytes twice, lintian, a first verdict in a bare root
    /// directory
    #[arg(long, conflicts_with = "arch")]
    trial: bool,
    /// Also build the last commit in another directory, and compare the programs; takes as long as the first
    /// build
    #[arg(long)]
    again: bool,
}

/// Makes both archives and prints their paths and sizes.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let native = Architecture::native()?;
    let architecture = arguments.arch.unwrap_or(native);
    let program = build::program(architecture)?;
    for path in package(architecture, &program, &Runner::of(architecture, native, &program)?)? {
        print(&format!("{}  {} bytes\n", path.display(), fs::metadata(&path)?.len()))?;
    }
    if arguments.trial {
        trial::check(&program)?;
    }
    if arguments.again { again::check(architecture, &program) } else { Ok(()) }
}

/// How a program is run that prints man pages and completions, which are the same for every architecture.
#[derive(Debug)]
struct Runner {
    /// An emulator, if the program is for another architecture.
    emulator: Option<&'static str>,
    program: PathBuf,
}

impl Runner {
    /// A program of this computer's architecture.
    fn native(program: &Path) -> Self {
        Self { emulator: None, program: program.to_owned() }
    }

    /// The program itself, in an emulator if it needs one. Without the emulator, this computer's program is
    /// built.
    fn of(architecture: Architecture, native: Architecture, program: &Path) -> anyhow::Result<Self> {
        if architecture == native {
            return Ok(Self::native(program));
        }
        let emulated = Self { emulator: Some(architecture.emulator()), program: program.to_owned() };
        let is_found =
            emulated.command().arg("--version").output().is_ok_and(|output| output.status.success());
        Ok(if is_found { emulated } else { Self::native(&build::program(native)?) })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.emulator.map_or(self.program.as_os_str(), AsRef::as_ref));
        command.args(self.emulator.map(|_| &self.program));
        command
    }
}

/// Packs a program; the runner prints its pages. Returns the paths of the archives.
fn package(architecture: Architecture, program: &Path, runner: &Runner) -> anyhow::Result<Vec<PathBuf>> {
    let folder = target_folder().join("dist");
    fs::create_dir_all(&folder)?;
    let origin = origin()?;
    let contents = contents(architecture, program, runner)?;
    let deb = deb_path(architecture);
    fs::write(&deb, contents.deb(&origin)?)?;
    let mut paths = vec![deb];
    let (name, bytes) = contents.tar(architecture.machine(), &origin)?;
    match process::zstd(bytes)? {
        Some(compressed) => {
            let path = folder.join(format!("{name}.tar.zst"));
            fs::write(&path, compressed)?;
            paths.push(path);
        }
        None => progress(&format!("skipped: {name}.tar.zst needs the program zstd (package zstd)")),
    }
    Ok(paths)
}

/// Where the Debian package is written.
fn deb_path(architecture: Architecture) -> PathBuf {
    target_folder().join("dist").join(format!("flashscope_{VERSION}_{}.deb", architecture.debian()))
}

fn contents(architecture: Architecture, program: &Path, runner: &Runner) -> anyhow::Result<Contents> {
    let generate = |name: &str| process::output(runner.command().args(["generate", name]));
    let names = process::output(runner.command().arg("generate"))?;
    let pages = names.lines().filter(|name| name.ends_with(".1"));
    let read = |name: &str| fs::read_to_string(repository().join(name)).with_context(|| name.to_owned());
    Ok(Contents {
        architecture: architecture.debian().to_owned(),
        program: fs::read(program)?,
        pages: pages.map(|name| Ok((name.to_owned(), generate(name)?))).collect::<anyhow::Result<_>>()?,
        completions: Completions { bash: generate("bash")?, zsh: generate("zsh")?, fish: generate("fish")? },
        readme: read("README.md")?,
        changelog: read("CHANGELOG.md")?,
        mit: read("LICENSE-MIT")?,
        apache: read("LICENSE-APACHE")?,
        licences: licences::of_linked_crates(architecture.target())?,
    })
}

/// Who made the last commit, and when; `SOURCE_DATE_EPOCH` replaces the time.
fn origin() -> anyhow::Result<Origin> {
    let log = |format: &str| {
        let text = process::output(Command::new("git").current_dir(repository()).args([
            "log",
            "-1",
            "--no-show-signature",
            format,
        ]));
        text.context("the package takes its time and its maintainer from the last commit")
    };
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds,
        Err(_) => log("--format=%ct")?,
    };
    let seconds = seconds.trim().parse().context("SOURCE_DATE_EPOCH is no number of seconds")?;
    Ok(Origin { email: log("--format=%ae")?.trim().to_owned(), seconds })
}

/// Cargo's home, where the sources of the dependencies are.
fn cargo_home() -> Option<OsString> {
    std::env::var_os("CARGO_HOME").or_else(|| {
        let home = std::env::var_os("HOME")?;
        Some(PathBuf::from(home).join(".cargo").into_os_string())
    })
}
