//! `cargo xtask lab`: a command in a virtual machine that has USB sticks, with this host's programs.
//!
//! The machine is QEMU's, emulated, with Debian's kernel. It sees the host's files read-only over 9p, and disks of its own: image
//! files. Times inside mean nothing; what the kernel sees and does is real.

mod guest;
mod initramfs;
mod kernel;
mod machine;
mod modules;
mod sticks;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use self::machine::Machine;
use self::sticks::Link;
use crate::process;

/// What to run, on what.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The link of a stick in the machine, Mbit/s: 5000, 480 or 12. Each one given is one stick more; without any, one at 5000.
    #[arg(long = "link", value_name = "MBIT_PER_S")]
    links: Vec<Link>,
    /// Sticks that take several commands at a time (UAS) instead of one. Not at 12 Mbit/s.
    #[arg(long)]
    uas: bool,
    /// The image file of the first stick; the machine writes to it. Without it, and for further sticks, an empty one of 64 MiB.
    #[arg(long, value_name = "FILE")]
    disk: Option<PathBuf>,
    /// The flashscope that the command finds. Without it, one is built.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Give up after so many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    time_limit: u32,
    /// The command and its arguments, run in this folder. One that is alone is a line for the shell.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// What an image that nobody gave holds.
const IMAGE_BYTES: u64 = 64 << 20;

/// Runs the command; its exit code is the task's.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let links = if arguments.links.is_empty() { &[Link::Super][..] } else { &arguments.links };
    let folder = tempfile::tempdir().context("cannot make a folder for the machine")?;
    let images = images(arguments, links.len(), folder.path())?;
    let sticks = sticks::arguments(links, arguments.uas, &images)?;
    let kernel = kernel::of_debian(&process::target_folder().join("lab"))?;
    let program = match &arguments.program {
        Some(program) => {
            program.canonicalize().with_context(|| format!("cannot find {}", program.display()))?
        }
        None => process::built_binary("flashscope", &[])?,
    };
    let script = guest::script(&arguments.command, &program, &std::env::current_dir()?)?;
    let initramfs = initramfs::build(&kernel, &guest::init(links.len()), &script)?;
    let initramfs_path = folder.path().join("initramfs");
    std::fs::write(&initramfs_path, initramfs)?;
    let machine = Machine {
        kernel: &kernel.image,
        initramfs: &initramfs_path,
        sticks,
        time_limit_s: arguments.time_limit,
        folder: folder.path(),
    };
    match machine.run()? {
        0 => Ok(()),
        code => bail!("the command ended with exit code {code}"),
    }
}

/// An image for each stick.
fn images(arguments: &Arguments, count: usize, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let given = arguments.disk.iter().map(|disk| image_file(disk)).collect::<anyhow::Result<Vec<_>>>()?;
    let made = (given.len()..count).map(|number| {
        let path = folder.join(format!("stick{number}.img"));
        File::create(&path)?.set_len(IMAGE_BYTES)?;
        Ok(path)
    });
    given.into_iter().map(Ok).chain(made).collect()
}

/// Only a file is handed to the machine: a disk of this host never is.
fn image_file(path: &Path) -> anyhow::Result<PathBuf> {
    let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    if !path.is_file() {
        bail!("{} is no file; the machine gets image files only, never a disk of this host", path.display());
    }
    // QEMU reads a comma as the end of a name.
    if path.to_string_lossy().contains(',') {
        bail!("{} has a comma in its name, which QEMU cannot take; rename it", path.display());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_become_disks_of_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let error = image_file(folder.path()).unwrap_err().to_string();
        assert!(error.contains("never a disk"), "{error}");
        assert!(image_file(&folder.path().join("missing.img")).is_err());
        let file = folder.path().join("a,b.img");
        File::create(&file).unwrap();
        assert!(image_file(&file).unwrap_err().to_string().contains("comma"));
    }
}
