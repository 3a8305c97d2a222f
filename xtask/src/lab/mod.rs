//! `cargo xtask lab`: runs a command in a virtual machine with emulated USB sticks and this host's programs.
//!
//! QEMU emulates the machine, which boots Debian's kernel. It sees the host's files read-only over 9p, and
//! image files as its disks. The kernel's view of the sticks is real; measured times are not.

mod guest;
mod initramfs;
mod kernel;
mod machine;
mod modules;
mod record;
mod sticks;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use self::machine::{Disks, Machine};
use self::sticks::Link;
use crate::process;

/// The command, and the sticks of the machine.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    task: Option<LabTask>,
    /// Link speed of a stick, Mbit/s: 5000, 480 or 12; repeat for more sticks; default: one stick at 5000
    #[arg(long = "link", value_name = "MBIT_PER_S")]
    links: Vec<Link>,
    /// Use sticks with UAS (several commands at a time); not at 12 Mbit/s
    #[arg(long)]
    uas: bool,
    /// Image file of the first stick, writable; other sticks have an empty image of 64 MiB
    #[arg(long, value_name = "FILE")]
    disk: Option<PathBuf>,
    /// The flashscope in the path of the machine; default: build it
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Time limit, seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    time_limit: u32,
    /// Command and arguments, run in the current folder; a single argument is a shell command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Tasks with a machine of their own.
#[derive(Debug, clap::Subcommand)]
enum LabTask {
    /// Record the requests of filesystems at work
    Record(record::Arguments),
}

/// The memory of the machine that runs a command, MiB. Guess: enough for the kernel, the tools, and files.
const MEMORY_MIB: u64 = 512;

/// The size of the default image. Guess: large enough for FAT, and quick to create.
const IMAGE_BYTES: u64 = 64 << 20;

/// Runs the command. The task fails if the command fails.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(LabTask::Record(arguments)) = &arguments.task {
        return record::run(arguments);
    }
    let links = if arguments.links.is_empty() { &[Link::Super][..] } else { &arguments.links };
    let folder = tempfile::tempdir().context("cannot create a folder for the machine")?;
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
    let initramfs = initramfs::build(&kernel, &[], &guest::init(links.len()), &script)?;
    let initramfs_path = folder.path().join("initramfs");
    std::fs::write(&initramfs_path, initramfs)?;
    let machine = Machine {
        kernel: &kernel.image,
        initramfs: &initramfs_path,
        disks: Disks { sticks, source: None },
        memory_mib: MEMORY_MIB,
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
    let chosen = arguments.disk.iter().map(|disk| image_file(disk)).collect::<anyhow::Result<Vec<_>>>()?;
    let created = (chosen.len()..count).map(|number| {
        let path = folder.join(format!("stick{number}.img"));
        File::create(&path)?.set_len(IMAGE_BYTES)?;
        Ok(path)
    });
    chosen.into_iter().map(Ok).chain(created).collect()
}

/// Checks that an image is a regular file: the machine must never write to a disk of this host.
fn image_file(path: &Path) -> anyhow::Result<PathBuf> {
    let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    if !path.is_file() {
        bail!(
            "{} is not a file; the machine uses only image files, never a disk of this host",
            path.display()
        );
    }
    // QEMU separates options with commas.
    if path.to_string_lossy().contains(',') {
        bail!("the name of {} has a comma, which QEMU does not accept; rename the file", path.display());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_accepted_as_images() {
        let folder = tempfile::tempdir().unwrap();
        let error = image_file(folder.path()).unwrap_err().to_string();
        assert!(error.contains("never a disk"), "{error}");
        assert!(image_file(&folder.path().join("missing.img")).is_err());
        let file = folder.path().join("a,b.img");
        File::create(&file).unwrap();
        assert!(image_file(&file).unwrap_err().to_string().contains("comma"));
    }
}
