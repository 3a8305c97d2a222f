//! The processes with files open on a disk, and what they write: `/proc/PID/fd`, `fdinfo` and `io`.
//!
//! Files are identified by the paths of their links. The files themselves are not opened: a stick that
//! hangs would hang the reader.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use flashscope_record::activity::{Process, Processes};

use crate::disk::Disk;
use crate::mounts::Mount;
use crate::printable::printable;
use crate::roots::Roots;
use crate::sysfs::read_start;

/// The open files of one process that are inspected. Guess: no ordinary program opens more.
const FILES_MAX: usize = 4096;

/// The limit for the other files of `/proc/PID`, which have a few lines.
const FACT_BYTES_MAX: u64 = 4096;

/// The access-mode bits of open(2)'s flags. They are not zero for a writable file.
const MAY_WRITE: u32 = 0o3;

/// The processes with files open on `disk`; `mounts` is the complete list of mounts.
pub fn read(disk: &Disk, mounts: &[Mount], roots: &Roots) -> Processes {
    let mut processes = Processes::default();
    for pid in numbers(&roots.proc) {
        match process(pid, disk, mounts, &roots.proc.join(pid.to_string())) {
            Ok(process) => processes.seen.extend(process),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => processes.hidden += 1,
            // The process has ended.
            Err(_) => {}
        }
    }
    processes
}

/// The process ids in `/proc`, sorted.
fn numbers(proc: &Path) -> Vec<u32> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn process(pid: u32, disk: &Disk, mounts: &[Mount], directory: &Path) -> std::io::Result<Option<Process>> {
    let (mut files, mut files_to_write) = (0, 0);
    for entry in fs::read_dir(directory.join("fd"))?.take(FILES_MAX).flatten() {
        let Ok(file) = fs::read_link(entry.path()) else { continue };
        if is_on(&printable(&file.to_string_lossy()), disk, mounts) {
            files += 1;
            files_to_write += u32::from(may_write(&directory.join("fdinfo").join(entry.file_name())));
        }
    }
    Ok((files > 0).then(|| Process {
        pid,
        name: text(&directory.join("comm")).map_or_else(String::new, |name| printable(&name)),
        files,
        files_to_write,
        written_bytes: text(&directory.join("io")).and_then(|io| field(&io, "write_bytes:")?.parse().ok()),
    }))
}

/// Whether the file at `path` is on the disk, or is the disk. The longest mount path above it decides.
fn is_on(path: &str, disk: &Disk, mounts: &[Mount]) -> bool {
    let name = path.strip_prefix("/dev/");
    if name.is_some_and(|name| name == disk.name || disk.partitions.iter().any(|part| part.name == name)) {
        return true;
    }
    let over = mounts.iter().filter(|mount| is_below(path, &mount.path));
    over.max_by_key(|mount| mount.path.len()).is_some_and(|mount| disk.mounts.contains(mount))
}

fn is_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory.trim_end_matches('/'));
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
    use crate::describe::describe;
    use crate::sysfs::Sysfs;

    #[test]
    fn path_prefixes_match_whole_components_only() {
        assert!(is_below("/media/stick/a", "/media/stick") && is_below("/media/stick", "/media/stick"));
        assert!(is_below("/anything", "/"));
        assert!(!is_below("/media/stick2/a", "/media/stick") && !is_below("pipe:[7]", "/"));
    }

    /// A process of this number and name, with these open files: path, and flags as in `fdinfo`.
    fn add_process(proc: &Path, pid: u32, name: &str, files: &[(&str, &str)]) {
        let directory = proc.join(pid.to_string());
        for folder in ["fd", "fdinfo"] {
            fs::create_dir_all(directory.join(folder)).unwrap();
        }
        fs::write(directory.join("comm"), format!("{name}\n")).unwrap();
        fs::write(directory.join("io"), "rchar: 9\nwrite_bytes: 4096\n").unwrap();
        for ((path, flags), number) in files.iter().zip(3..) {
            std::os::unix::fs::symlink(path, directory.join(format!("fd/{number}"))).unwrap();
            let info = format!("pos:\t0\nflags:\t{flags}\n");
            fs::write(directory.join(format!("fdinfo/{number}")), info).unwrap();
        }
    }

    #[test]
    fn only_processes_with_files_on_the_disk_are_listed() {
        let proc = tempfile::tempdir().unwrap();
        let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
        let roots = Roots { proc: proc.path().to_owned(), ..Roots::copy(&machine) };
        let mount = |source: &str, path: &str| Mount {
            device: String::new(),
            source: source.to_owned(),
            path: path.to_owned(),
            filesystem: "vfat".to_owned(),
            options: "rw".to_owned(),
        };
        let mounts = [mount("/dev/nvme0n1p2", "/"), mount("/dev/sdb1", "/media/stick")];
        let node = Sysfs::at(&roots.sysfs).disk("sdb").unwrap();
        let disk = describe(&node, &mounts, &roots);
        let (read_only, writable) = ("0100000", "0100001");
        let files = [("/media/stick/a", writable), ("/dev/sdb1", read_only), ("/home/b", writable)];
        add_process(proc.path(), 12, "cp", &files);
        add_process(proc.path(), 7, "cat", &[("/media/stick/a", read_only)]);
        add_process(proc.path(), 8, "editor", &[("/home/b", writable), ("/media/stick2/a", writable)]);
        add_process(proc.path(), 9, "daemon", &[]);
        // This one ends meanwhile. It is not hidden from this user.
        fs::create_dir(proc.path().join("10")).unwrap();
        let process = |pid, name: &str, files, files_to_write| Process {
            pid,
            name: name.to_owned(),
            files,
            files_to_write,
            written_bytes: Some(4096),
        };
        let seen = vec![process(7, "cat", 1, 0), process(12, "cp", 2, 1)];
        assert_eq!(read(&disk, &mounts, &roots), Processes { seen, hidden: 0 });
    }
}
