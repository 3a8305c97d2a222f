//! Debian's kernel with its modules, and busybox: packages that are downloaded once and stored below the
//! target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::process;

/// The files that the machine boots.
#[derive(Debug)]
pub struct Kernel {
    /// The kernel image.
    pub image: PathBuf,
    /// The folder with its modules.
    pub modules: PathBuf,
    /// The static busybox, the machine's only own program.
    pub busybox: PathBuf,
}

impl Kernel {
    /// Its release, such as 6.1.0-56-amd64.
    pub fn release(&self) -> anyhow::Result<String> {
        let folder = only_entry(&self.modules)?;
        let name = folder.file_name().unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }
}

/// The package that depends on the newest kernel.
const KERNEL_PACKAGE: &str = "linux-image-amd64";

/// The files of the kernel's package that are stored: USB, SCSI, device mapper, RAID, 9p, filesystems, and
/// their dependencies.
const KERNEL_FILES: [&str; 11] = [
    "./boot/vmlinuz-*",
    "./lib/modules/*/kernel/block/*",
    "./lib/modules/*/kernel/crypto/*",
    "./lib/modules/*/kernel/drivers/block/virtio_blk.ko",
    "./lib/modules/*/kernel/drivers/md/*",
    "./lib/modules/*/kernel/drivers/scsi/*",
    "./lib/modules/*/kernel/drivers/usb/*",
    "./lib/modules/*/kernel/drivers/virtio/*",
    "./lib/modules/*/kernel/fs/*",
    "./lib/modules/*/kernel/lib/*",
    "./lib/modules/*/kernel/net/9p/*",
];

/// The kernel of Debian's packages, stored in `store`.
pub fn of_debian(store: &Path) -> anyhow::Result<Kernel> {
    for program in ["qemu-system-x86_64", "apt-get", "dpkg-deb"] {
        let found = Command::new(program).arg("--version").output();
        found.with_context(|| {
            format!("the lab needs {program} (Debian's packages qemu-system-x86, apt, dpkg)")
        })?;
    }
    let dependencies = process::output(Command::new("apt-cache").args(["depends", KERNEL_PACKAGE]))?;
    let name = newest(&dependencies)
        .with_context(|| format!("the lab needs Debian's package {KERNEL_PACKAGE}; run apt-get update"))?;
    let kernel = store.join(stored_as(&name));
    if !kernel.is_dir() {
        fetch(&[&name, "busybox-static"], &kernel)?;
    }
    Ok(Kernel {
        image: only_entry(&kernel.join("boot"))?,
        modules: kernel.join("lib/modules"),
        busybox: kernel.join("bin/busybox"),
    })
}

/// The folder's name, which changes with the list of stored files: an older folder lacks some of them.
fn stored_as(package: &str) -> String {
    format!("{package}-{:.8}", format!("{:x}", md5::compute(KERNEL_FILES.join(" "))))
}

/// The package name in the line `  Depends: linux-image-6.1.0-56-amd64`.
fn newest(dependencies: &str) -> Option<String> {
    let name = dependencies.lines().find_map(|line| line.trim().strip_prefix("Depends: "))?;
    name.starts_with("linux-image-").then(|| name.to_owned())
}

/// Downloads and unpacks `packages`, then renames the folder to `destination`, so that it is never
/// incomplete.
fn fetch(packages: &[&str], destination: &Path) -> anyhow::Result<()> {
    let store = destination.parent().unwrap_or(destination);
    fs::create_dir_all(store)?;
    let folder = tempfile::tempdir_in(store)?;
    let unpacked = folder.path().join("unpacked");
    fs::create_dir(&unpacked)?;
    for package in packages {
        process::output(Command::new("apt-get").args(["download", "--quiet", package]).current_dir(&folder))
            .with_context(|| format!("the lab needs Debian's package {package}"))?;
        unpack(&folder.path().join(archive(folder.path(), package)?), &unpacked)?;
    }
    match fs::rename(&unpacked, destination) {
        // Another lab has created it in the meantime.
        Err(_) if destination.is_dir() => Ok(()),
        renamed => Ok(renamed?),
    }
}

/// The file name of `package`: `NAME_VERSION_ARCHITECTURE.deb`.
fn archive(folder: &Path, package: &str) -> anyhow::Result<String> {
    let names = fs::read_dir(folder)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let prefix = format!("{package}_");
    names
        .into_iter()
        .find(|name| name.starts_with(&prefix))
        .with_context(|| format!("apt-get did not download {package}"))
}

/// Unpacks a package; of the kernel's package only the files that the machine needs.
fn unpack(archive: &Path, destination: &Path) -> anyhow::Result<()> {
    let mut unpack = Command::new("sh");
    let is_kernel = archive.to_string_lossy().contains("linux-image");
    let files: &[&str] = if is_kernel { &KERNEL_FILES } else { &[] };
    unpack.args(["-c", "archive=$1 folder=$2; shift 2; dpkg-deb --fsys-tarfile \"$archive\" | tar -x -C \"$folder\" --wildcards \"$@\""]);
    process::output(unpack.arg("sh").args([archive, destination]).args(files)).map(|_| ())
}

fn only_entry(folder: &Path) -> anyhow::Result<PathBuf> {
    match fs::read_dir(folder)?.flatten().next() {
        Some(entry) => Ok(entry.path()),
        None => bail!("{} is empty; remove it and try again", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_is_read_from_the_dependencies() {
        assert_eq!(
            newest("linux-image-amd64\n  Depends: linux-image-6.1.0-56-amd64\n").unwrap(),
            "linux-image-6.1.0-56-amd64"
        );
        assert_eq!((newest(""), newest("  Depends: bash")), (None, None));
    }
}
