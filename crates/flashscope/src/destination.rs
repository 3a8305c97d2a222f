//! Where an output goes. Its name may lead through symbolic links to a disk, which must not be overwritten.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use rustix::fs::{major, minor};
use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure, OrExit};

/// What is at an output's name, after following links.
#[derive(Debug, PartialEq, Eq)]
pub enum Destination {
    /// A file, or nothing yet. It is replaced atomically.
    File(PathBuf),
    /// A pipe, a terminal or a null device.
    Stream(PathBuf),
}

/// The longest chain of links, as in the kernel (path_resolution(7)).
const LINKS_MAX: u32 = 40;

impl Destination {
    /// What is at `file` now.
    ///
    /// # Errors
    /// Exit code 4 for a disk or any other device that may be storage, 2 if no file can be there.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let cannot = || format!("cannot write {}; does its directory exist?", file.display());
        match fs::metadata(file) {
            Ok(metadata) if metadata.is_file() => fs::canonicalize(file).map(Self::File),
            Ok(metadata) if is_stream(&metadata) => Ok(Self::Stream(file.to_owned())),
            Ok(metadata) => return Err(refusal(file, &metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                resolved(file.to_owned(), LINKS_MAX).map(Self::File)
            }
            Err(error) => Err(error),
        }
        .or_exit(Exit::Usage, cannot())
    }

    /// Whether writing would replace the file `input`. A stream is read completely before it is written.
    pub fn replaces(&self, input: &Path) -> bool {
        let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
        match self {
            Self::File(path) => {
                identity(path).is_ok_and(|ours| identity(input).is_ok_and(|theirs| ours == theirs))
            }
            Self::Stream(_) => false,
        }
    }

    /// Tests whether a file can be created there; removes it again.
    ///
    /// # Errors
    /// The error of the system.
    pub fn try_out(&self) -> io::Result<()> {
        match self {
            Self::File(path) => partial(path).map(drop),
            Self::Stream(_) => Ok(()),
        }
    }

    /// Writes `text`. A file then holds all of it, or its old content.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&self, text: &str) -> io::Result<()> {
        match self {
            Self::File(path) => replace(path, text),
            Self::Stream(path) => write_stream(path, text),
        }
    }
}

/// The path of `file` after following links. The last link may lead to a file that does not exist yet.
fn resolved(file: PathBuf, links_left: u32) -> io::Result<PathBuf> {
    let parent = file.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let parent = parent.canonicalize()?;
    let path = parent.join(file.file_name().ok_or(ErrorKind::IsADirectory)?);
    match fs::read_link(&path) {
        Ok(_) if links_left == 0 => Err(io::Error::other("too many links")),
        Ok(next) => resolved(parent.join(next), links_left - 1),
        Err(_) => Ok(path),
    }
}

fn is_stream(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_fifo() || (kind.is_char_device() && holds_no_data(metadata.rdev()))
}

/// Whether a character device holds no data. Others may: raw flash (/dev/mtd0) and SCSI commands (/dev/sg0)
/// are character devices too. Numbers: the kernel's admin-guide/devices.txt.
fn holds_no_data(device: u64) -> bool {
    const NULL_ZERO_FULL: [u32; 3] = [3, 5, 7];
    match major(device) {
        1 => NULL_ZERO_FULL.contains(&minor(device)),
        // Virtual consoles and serial lines, /dev/tty, pseudo-terminals.
        4 | 5 | 136..=143 => true,
        _ => false,
    }
}

fn refusal(file: &Path, metadata: &Metadata) -> Failure {
    let (kind, name) = (metadata.file_type(), file.display());
    if kind.is_block_device() {
        let error = anyhow!("{name} is a disk, and the output would overwrite its data; name a file");
        return Failure { exit: Exit::Refused, error };
    }
    if kind.is_char_device() {
        let error = anyhow!("{name} is a device that may be storage, such as raw flash; name a file");
        return Failure { exit: Exit::Refused, error };
    }
    let what = if kind.is_dir() { "directory" } else { "socket" };
    Failure { exit: Exit::Usage, error: anyhow!("{name} is a {what}; name a file") }
}

/// A temporary file in the same directory, removed unless it is renamed.
fn partial(path: &Path) -> io::Result<NamedTempFile> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    // The permissions of a new file, which the umask limits. A temporary file would be private.
    let permissions = Permissions::from_mode(0o666);
    tempfile::Builder::new()
        .prefix(".flashscope-")
        .suffix(".partial")
        .permissions(permissions)
        .tempfile_in(directory)
}

/// Writes a temporary file and renames it, so that a full disk leaves the old file unchanged.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut partial = partial(path)?;
    partial.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(path) {
        partial.as_file().set_permissions(old.permissions())?;
    }
    partial.as_file().sync_all()?;
    partial.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes to a pipe or device. Fails if it is no longer one.
fn write_stream(path: &Path, text: &str) -> io::Result<()> {
    let mut stream = File::options().write(true).open(path)?;
    if !is_stream(&stream.metadata()?) {
        return Err(io::Error::other("it was replaced by something else while it was opened"));
    }
    stream.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use rustix::fs::makedev;

    use super::*;

    #[test]
    fn only_devices_without_data_are_written() {
        let (null, terminal) = (makedev(1, 3), makedev(136, 0));
        assert!(holds_no_data(null) && holds_no_data(terminal));
        let (memory, scsi_generic, raw_flash) = (makedev(1, 1), makedev(21, 0), makedev(90, 0));
        assert!(![memory, scsi_generic, raw_flash].into_iter().any(holds_no_data));
    }

    /// Any disk of this machine will do: it is looked at, and not opened.
    #[test]
    fn disk_is_no_destination() {
        let entries = fs::read_dir("/dev").unwrap().flatten();
        let is_disk =
            |path: &PathBuf| fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device());
        for disk in entries.map(|entry| entry.path()).filter(is_disk) {
            let refused = Destination::of(&disk).unwrap_err();
            assert_eq!(refused.exit, Exit::Refused, "{}", disk.display());
        }
    }

    #[test]
    fn link_to_a_missing_file_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (link, file) = (directory.path().join("link.html"), directory.path().join("page.html"));
        std::os::unix::fs::symlink("page.html", &link).unwrap();
        let found = Destination::of(&link).unwrap();
        assert_eq!(
            found,
            Destination::File(file.parent().unwrap().canonicalize().unwrap().join("page.html"))
        );
        found.write("once").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "once");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn replaced_file_keeps_its_permissions_and_no_temporary_file_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("page.html");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let destination = Destination::of(&file).unwrap();
        destination.try_out().unwrap();
        destination.write("new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn stream_replaced_by_a_file_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("page.html");
        fs::write(&file, "kept").unwrap();
        assert!(Destination::Stream(file.clone()).write("lost").is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    }
}
