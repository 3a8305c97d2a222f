//! Who has files open on a disk, and what they write: `/proc/PID/fd`, `fdinfo` and `io`.
//!
//! Files are told by the paths of their links; the files themselves are not touched, since a stick that hangs would hang
//! whoever looks at it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::disk::Disk;
use crate::mounts::Mount;
use crate::printable::printable;
use crate::roots::Roots;
use crate::sysfs::read_start;

/// So many open files of one process are looked at.
const FILES_MAX: usize = 4096;

/// The files of `/proc/PID` are a few lines.
const FACT_BYTES_MAX: u64 = 4096;

/// The bits of open(2)'s flags that are not zero for a file that may be written.
const MAY_WRITE: u32 = 0o3;

/// A process with files open on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, printable.
    pub name: String,
    /// How many files it has open there.
    pub files: u32,
    /// How many of them it may write.
    pub files_to_write: u32,
    /// What it has written so far, to any disk; `None` where only root or its owner may know.
    pub written_bytes: Option<u64>,
}

/// All of them.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Processes {
    /// Those with files open on the disk, by number.
    pub seen: Vec<Process>,
    /// How many processes could not be looked into: they belong to others.
    pub hidden: u32,
}

impl Processes {
    /// Those with files open on `disk`; `mounts` are all there are.
    pub(super) fn read(disk: &Disk, mounts: &[Mount], roots: &Roots) -> Self {
        let mut processes = Self::default();
        for pid in numbers(&roots.proc) {
            match process(pid, disk, mounts, &roots.proc.join(pid.to_string())) {
                Ok(process) => processes.seen.extend(process),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => processes.hidden += 1,
                // It has ended.
                Err(_) => {}
            }
        }
        processes
    }
}

/// The numbered folders of `/proc`, in order.
fn numbers(proc: &Path) -> Vec<u32> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn process(pid: u32, disk: &Disk, mounts: &[Mount], folder: &Path) -> std::io::Result<Option<Process>> {
    let (mut files, mut files_to_write) = (0, 0);
    for entry in fs::read_dir(folder.join("fd"))?.take(FILES_MAX).flatten() {
        let Ok(file) = fs::read_link(entry.path()) else { continue };
        if is_on(&printable(&file.to_string_lossy()), disk, mounts) {
            files += 1;
            files_to_write += u32::from(may_write(&folder.join("fdinfo").join(entry.file_name())));
        }
    }
    Ok((files > 0).then(|| Process {
        pid,
        name: text(&folder.join("comm")).map_or_else(String::new, |name| printable(&name)),
        files,
        files_to_write,
        written_bytes: text(&folder.join("io")).and_then(|io| field(&io, "write_bytes:")?.parse().ok()),
    }))
}

/// Whether the file at `path` lies on the disk, or is the disk: the mount with the longest path above it decides.
fn is_on(path: &str, disk: &Disk, mounts: &[Mount]) -> bool {
    let name = path.strip_prefix("/dev/");
    if name.is_some_and(|name| name == disk.name || disk.partitions.iter().any(|part| part.name == name)) {
        return true;
    }
    let over = mounts.iter().filter(|mount| is_below(path, &mount.path));
    over.max_by_key(|mount| mount.path.len()).is_some_and(|mount| disk.mounts.contains(mount))
}

fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn may_write(fdinfo: &Path) -> bool {
    let flags = text(fdinfo).and_then(|info| u32::from_str_radix(field(&info, "flags:")?, 8).ok());
    flags.is_some_and(|flags| flags & MAY_WRITE != 0)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn text(path: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&read_start(path, FACT_BYTES_MAX).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_whole_folders_only() {
        assert!(is_below("/media/stick/a", "/media/stick") && is_below("/media/stick", "/media/stick"));
        assert!(is_below("/anything", "/"));
        assert!(!is_below("/media/stick2/a", "/media/stick") && !is_below("pipe:[7]", "/"));
    }
}
