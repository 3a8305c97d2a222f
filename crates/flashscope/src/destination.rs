//! Where an output really goes. Its name may lead, through links, to a disk that would be overwritten.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use rustix::fs::{major, minor};
use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure, OrExit};

/// What stands where an output goes, links followed.
#[derive(Debug, PartialEq, Eq)]
pub enum Destination {
    /// A file, or nothing yet. It is replaced as a whole.
    File(PathBuf),
    /// A pipe, a terminal or a null device, which takes what is written to it.
    Stream(PathBuf),
}

/// As many links in a row as the kernel follows (path_resolution(7)).
const LINKS_MAX: u32 = 40;

impl Destination {
    /// What stands at `file` now.
    ///
    /// # Errors
    /// Exit code 4 for a disk, and for any other device that may be storage; 2 for what is no place for a file.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let cannot = || format!("cannot write {}; does its folder exist?", file.display());
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

    /// Whether writing would replace the file that `input` names. (A stream has been read when it is written to.)
    pub fn replaces(&self, input: &Path) -> bool {
        let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
        match self {
            Self::File(path) => {
                identity(path).is_ok_and(|ours| identity(input).is_ok_and(|theirs| ours == theirs))
            }
            Self::Stream(_) => false,
        }
    }

    /// Finds out whether a file can be made there; leaves nothing behind.
    ///
    /// # Errors
    /// As the system says.
    pub fn try_out(&self) -> io::Result<()> {
        match self {
            Self::File(path) => partial(path).map(drop),
            Self::Stream(_) => Ok(()),
        }
    }

    /// Writes `text`. A file holds all of it afterwards, or what it held before.
    ///
    /// # Errors
    /// As the system says.
    pub fn write(&self, text: &str) -> io::Result<()> {
        match self {
            Self::File(path) => replace(path, text),
            Self::Stream(path) => pour(path, text),
        }
    }
}

/// The file that `file` names: links are followed, also the last one that leads to nothing yet.
fn resolved(file: PathBuf, links_left: u32) -> io::Result<PathBuf> {
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let folder = folder.canonicalize()?;
    let place = folder.join(file.file_name().ok_or(ErrorKind::IsADirectory)?);
    match fs::read_link(&place) {
        Ok(_) if links_left == 0 => Err(io::Error::other("too many links")),
        Ok(next) => resolved(folder.join(next), links_left - 1),
        Err(_) => Ok(place),
    }
}

fn is_stream(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_fifo() || (kind.is_char_device() && keeps_nothing(metadata.rdev()))
}

/// Whether a character device holds no data that writing could destroy. Others may: raw flash (/dev/mtd0) and SCSI
/// commands (/dev/sg0) are character devices too. Numbers: the kernel's admin-guide/devices.txt.
fn keeps_nothing(device: u64) -> bool {
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
        let error =
            anyhow!("{name} leads to a disk, and a result would overwrite what the disk holds; name a file");
        return Failure { exit: Exit::Refused, error };
    }
    if kind.is_char_device() {
        let error = anyhow!("{name} leads to a device that may be storage, such as raw flash; name a file");
        return Failure { exit: Exit::Refused, error };
    }
    let what = if kind.is_dir() { "directory" } else { "socket" };
    Failure { exit: Exit::Usage, error: anyhow!("{name} is a {what}; name a file") }
}

/// A file of its own beside `path`, which vanishes unless it is renamed.
fn partial(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    // Like any new file, and unlike most temporary ones, it may be read by whom the umask lets.
    let permissions = Permissions::from_mode(0o666);
    tempfile::Builder::new()
        .prefix(".flashscope-")
        .suffix(".partial")
        .permissions(permissions)
        .tempfile_in(folder)
}

/// Writes beside `path` first and then renames, so that a full disk leaves the old file as it was.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut partial = partial(path)?;
    partial.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(path) {
        partial.as_file().set_permissions(old.permissions())?;
    }
    partial.as_file().sync_all()?;
    partial.persist(path).map(drop).map_err(|error| error.error)
}

/// A pipe or a device has no place beside it. Nothing is created, and nothing is written to what is no stream any more.
fn pour(path: &Path, text: &str) -> io::Result<()> {
    let mut stream = File::options().write(true).open(path)?;
    if !is_stream(&stream.metadata()?) {
        return Err(io::Error::other("it became something else while it was opened"));
    }
    stream.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use rustix::fs::makedev;

    use super::*;

    #[test]
    fn only_devices_that_keep_nothing_are_written() {
        let (null, terminal) = (makedev(1, 3), makedev(136, 0));
        assert!(keeps_nothing(null) && keeps_nothing(terminal));
        let (memory, scsi_generic, raw_flash) = (makedev(1, 1), makedev(21, 0), makedev(90, 0));
        assert!(![memory, scsi_generic, raw_flash].into_iter().any(keeps_nothing));
    }

    #[test]
    fn a_link_that_leads_to_nothing_yet_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link.html"), folder.path().join("page.html"));
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
    fn a_replaced_file_keeps_its_permissions_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let destination = Destination::of(&file).unwrap();
        destination.try_out().unwrap();
        destination.write("new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_stream_that_became_a_file_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        fs::write(&file, "kept").unwrap();
        assert!(Destination::Stream(file.clone()).write("lost").is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    }
}
