//! The package as a person meets it: installed in a root directory that holds only what it depends on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rustix::time::{ClockId, clock_gettime};

use super::build::{self, Architecture};
use super::{Runner, contents, deb_path, origin, package};
use crate::output::{print, progress};
use crate::process;

/// How long the two commands from the package to the first verdict may take.
const LIMIT: Duration = Duration::from_secs(10);

/// The program that the package holds. Other checks use it as well, so that it is built once.
pub fn program() -> anyhow::Result<PathBuf> {
    build::program(Architecture::native()?)
}

/// Packs the program twice, and tries the package.
pub fn check(program: &Path) -> anyhow::Result<()> {
    let native = Architecture::native()?;
    let runner = Runner::native(program);
    package(native, program, &runner)?;
    let deb = deb_path(native);
    let again = contents(native, program, &runner)?.deb(&origin()?)?;
    ensure!(fs::read(&deb)? == again, "two packages of one program differ: {}", deb.display());
    lint(&deb)?;
    if !rustix::process::geteuid().is_root() {
        progress("skipped: a trial of the package needs root");
        return Ok(());
    }
    let root = tempfile::tempdir()?;
    // Every user may enter the root directory of a system.
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755))?;
    install_dependencies(root.path(), &depends(&deb)?)?;
    let start = now();
    install(root.path(), &deb)?;
    first_verdict(root.path())?;
    let taken = now().saturating_sub(start);
    print(&format!("from the package to the first verdict: {:.1} s\n", taken.as_secs_f64()))?;
    ensure!(taken < LIMIT, "that is {} s or more", LIMIT.as_secs());
    pages(root.path())?;
    completion(root.path())
}

fn lint(deb: &Path) -> anyhow::Result<()> {
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"]).arg(deb);
    match lintian.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => bail!("lintian: {}", String::from_utf8_lossy(&output.stdout)),
        Err(_) => {
            progress("skipped: the package is checked by lintian, which is not installed");
            Ok(())
        }
    }
}

/// The names of the packages that a package depends on.
fn depends(deb: &Path) -> anyhow::Result<Vec<String>> {
    let field = process::output(Command::new("dpkg-deb").arg("--field").arg(deb).arg("Depends"))?;
    let names = field.split(',').filter_map(|package| package.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

/// Copies this computer's libraries of the packages into the root directory, and tells dpkg there that it has
/// them.
fn install_dependencies(root: &Path, packages: &[String]) -> anyhow::Result<()> {
    let database = root.join("var/lib/dpkg");
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(database.join(folder))?;
    }
    let mut status = String::new();
    for package in packages {
        status += &process::output(Command::new("dpkg-query").args(["--status", package]))?;
        status.push('\n');
        fs::write(database.join(format!("info/{package}.list")), "")?;
        let files = process::output(Command::new("dpkg-query").args(["--listfiles", package]))?;
        for file in files
            .lines()
            .filter(|file| file.contains("/lib") && file.contains(".so") && !file.contains("/gconv/"))
        {
            let copy = root.join(file.trim_start_matches('/'));
            fs::create_dir_all(copy.parent().unwrap_or(root))?;
            fs::copy(file, copy).with_context(|| format!("cannot copy {file}"))?;
        }
    }
    Ok(fs::write(database.join("status"), status)?)
}

/// Installs the package; dpkg refuses if a dependency is missing or too old.
fn install(root: &Path, deb: &Path) -> anyhow::Result<()> {
    let mut dpkg = Command::new("dpkg");
    dpkg.arg(option("--root", root)).arg(option("--log", "/dev/null".as_ref())).arg("--install").arg(deb);
    process::output(&mut dpkg).map(drop)
}

/// The check of the README, as a user without rights.
fn first_verdict(root: &Path) -> anyhow::Result<()> {
    let check = ["/usr/bin/flashscope", "check", "sim:cheap-usb3-32g"];
    let nobody = "--userspec=65534:65534";
    let output = Command::new("chroot").arg(nobody).arg(root).args(check).env_remove("HOME").output()?;
    ensure!(output.status.success(), "flashscope check ended with {}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(text.contains("Slow: "), "flashscope check gave no verdict: {}", said(&output));
    Ok(())
}

/// Renders every man page, without a warning.
fn pages(root: &Path) -> anyhow::Result<()> {
    let mut count = 0;
    for entry in fs::read_dir(root.join("usr/share/man/man1"))? {
        let path = entry?.path();
        let mut man = Command::new("man");
        man.args(["--warnings", "--local-file"]).arg(&path);
        man.envs([("MANPAGER", "cat"), ("MANWIDTH", "80"), ("LC_ALL", "C.UTF-8")]);
        let output = man.output().context("cannot start man (package man-db)")?;
        let page = String::from_utf8_lossy(&output.stdout);
        ensure!(page.contains("SYNOPSIS"), "{} is no man page: {}", path.display(), said(&output));
        ensure!(output.stderr.is_empty(), "{}: {}", path.display(), said(&output));
        count += 1;
    }
    ensure!(count > 0, "the package has no man pages");
    Ok(print(&format!("{count} man pages\n"))?)
}

/// Completes a command in bash.
fn completion(root: &Path) -> anyhow::Result<()> {
    let script = r#"source "$1"; COMP_WORDS=(flashscope veri); COMP_CWORD=1
        _flashscope flashscope veri flashscope; echo "${COMPREPLY[@]}""#;
    let file = root.join("usr/share/bash-completion/completions/flashscope");
    let words = process::output(Command::new("bash").args(["-euc", script, "bash"]).arg(file))?;
    ensure!(words.trim() == "verify", "bash completes 'flashscope veri' to '{}'", words.trim());
    Ok(())
}

fn option(name: &str, value: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push("=");
    option.push(value);
    option
}

fn said(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())
}

/// The time since the computer started.
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}
