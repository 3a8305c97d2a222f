//! The disks to watch.

use std::path::Path;

use anyhow::anyhow;
use flashscope_linux::{Disk, Roots, list};
use flashscope_report::printable;

use crate::exit::{Exit, Failure, OrExit};

/// The named disk; without a name, every stick and card.
///
/// # Errors
/// Exit code 2 if there is none, 3 if the system has no list of disks.
pub fn disks(device: Option<&Path>, roots: &Roots) -> Result<Vec<Disk>, Failure> {
    let exit = if roots.are_live() { Exit::Failed } else { Exit::Usage };
    let mut disks = list(roots).or_exit_bare(exit)?.disks;
    disks.retain(|disk| match device {
        Some(device) => is_named(disk, device, roots),
        None => disk.is_stick_or_card() && !disk.is_empty(),
    });
    if disks.is_empty() {
        return Err(Failure { exit: Exit::Usage, error: nothing_to_watch(device) });
    }
    Ok(disks)
}

/// Whether `device` names this disk: by its device file (also a link such as /dev/disk/by-id), its kernel
/// name, one of its partitions, or a directory where it is mounted.
fn is_named(disk: &Disk, device: &Path, roots: &Roots) -> bool {
    let canonical = device.canonicalize().ok().filter(|_| roots.are_live());
    let device = canonical.as_deref().unwrap_or(device);
    let name = device.strip_prefix("/dev").unwrap_or(device);
    let is_called = |own: &str| name == Path::new(&own.replace('!', "/"));
    is_called(&disk.name)
        || disk.partitions.iter().any(|partition| is_called(&partition.name))
        || disk.mounts.iter().any(|mount| device == Path::new(&mount.path))
}

fn nothing_to_watch(device: Option<&Path>) -> anyhow::Error {
    match device {
        None => anyhow!("no stick or card found; plug one in, or name a disk (flashscope list --all)"),
        Some(device) => anyhow!(
            "{} is not a disk, partition or mounted directory (flashscope list --all shows the disks)",
            printable(&device.to_string_lossy())
        ),
    }
}
