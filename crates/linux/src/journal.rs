//! Journals of original data as files on the host.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use flashscope_device::Bytes;
use flashscope_device::layer::JournalStore;

use crate::printable::printable;
use crate::sysfs::{Node, Sysfs};

/// The folder of root's journals (Filesystem Hierarchy Standard: state of programs).
pub const ROOT_JOURNALS: &str = "/var/lib/flashscope";
/// Every user sees the names of root's journals, so that nobody overwrites a stick whose data is in one.
const ROOT_FOLDER_MODE: u32 = 0o755;
/// A user's journals are of no concern to others.
const USER_FOLDER_MODE: u32 = 0o700;
/// The extension of a journal.
const EXTENSION: &str = "journal";
/// Volumes on volumes on a disk: no machine has more levels.
const LEVELS_MAX: u32 = 16;

/// Why a journal cannot be kept in a folder.
#[derive(Debug, thiserror::Error)]
pub enum JournalFileError {
    /// The folder cannot be made or written.
    #[error("cannot keep a journal in {folder}: {error}; name another folder (FLASHSCOPE_JOURNALS=DIR)")]
    Folder {
        /// The folder.
        folder: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The folder lies on the target.
    #[error(
        "the folder of the journal, {folder}, lies on {target} itself; name a folder on another disk (FLASHSCOPE_JOURNALS=DIR)"
    )]
    OnTarget {
        /// The folder.
        folder: String,
        /// The target.
        target: String,
    },
    /// The disk with the folder has too little space.
    #[error(
        "the journal may need {needed} in {folder}, and {free} are free; free some space, name another folder \
         (FLASHSCOPE_JOURNALS=DIR), or write less (--write-budget)"
    )]
    NoSpace {
        /// The folder.
        folder: String,
        /// The largest size of the journal.
        needed: Bytes,
        /// The free space.
        free: Bytes,
    },
}

/// A journal in a file. Only its owner may read it: it holds data of the stick.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    length: u64,
}

impl JournalFile {
    /// A new journal in `folder`, which is made if it is missing. Its name is durable when this returns.
    ///
    /// # Errors
    /// [`JournalFileError`] if the folder lies on `target`, has less than `needed` free, or cannot be
    /// written.
    pub fn create(folder: &Path, name: &str, target: &Path, needed: Bytes) -> Result<Self, JournalFileError> {
        let shown = printable(&folder.to_string_lossy());
        let failed = |error: io::Error| JournalFileError::Folder { folder: shown.clone(), error };
        make_journal_folder(folder).map_err(failed)?;
        if lies_on(folder, target) {
            let target = printable(&target.to_string_lossy());
            return Err(JournalFileError::OnTarget { folder: shown, target });
        }
        let space = rustix::fs::statvfs(folder).map_err(|errno| failed(errno.into()))?;
        let free = Bytes::new(space.f_bavail.saturating_mul(space.f_frsize));
        if free < needed {
            return Err(JournalFileError::NoSpace { folder: shown, needed, free });
        }
        let path = folder.join(format!("{name}.{EXTENSION}"));
        let options = || OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path);
        let file = options().map_err(failed)?;
        sync_folder(&path).map_err(failed)?;
        Ok(Self { path, file, length: 0 })
    }

    /// An existing journal, to restore from and remove.
    ///
    /// # Errors
    /// That of the system.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::opened(path, OpenOptions::new().read(true).append(true))
    }

    /// An existing journal, to read only.
    ///
    /// # Errors
    /// That of the system.
    pub fn open_read_only(path: &Path) -> io::Result<Self> {
        Self::opened(path, OpenOptions::new().read(true))
    }

    fn opened(path: &Path, options: &OpenOptions) -> io::Result<Self> {
        let file = options.open(path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self { path: path.to_owned(), file, length: found.len() })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl JournalStore for JournalFile {
    fn length(&mut self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn make_durable(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, position)
    }

    fn remove(&mut self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        sync_folder(&self.path)
    }
}

/// A name is durable once its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// Makes a folder for journals, unless it is there. Every user may list [`ROOT_JOURNALS`], but read no file
/// in it.
///
/// # Errors
/// That of the system.
pub fn make_journal_folder(folder: &Path) -> io::Result<()> {
    let is_of_root = folder == Path::new(ROOT_JOURNALS);
    let mode = if is_of_root { ROOT_FOLDER_MODE } else { USER_FOLDER_MODE };
    DirBuilder::new().recursive(true).mode(mode).create(folder)?;
    // The umask may have taken the right to list it.
    if is_of_root { fs::set_permissions(folder, fs::Permissions::from_mode(mode)) } else { Ok(()) }
}

/// The journals in a folder, sorted by name; none if the folder is missing, or is no folder.
///
/// # Errors
/// That of the system.
pub fn journals(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new(EXTENSION)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Whether the filesystem of `folder` lies on the disk of `target`, directly, or through device mapper, RAID
/// or loop devices.
fn lies_on(folder: &Path, target: &Path) -> bool {
    let sysfs = Sysfs::default();
    let device = fs::metadata(folder).map(|folder| folder.dev());
    let filesystem =
        device.ok().and_then(|device| sysfs.node_of(rustix::fs::major(device), rustix::fs::minor(device)));
    let disk = sysfs.node_at(target);
    filesystem.zip(disk).is_some_and(|(filesystem, disk)| stands_on(&filesystem, &disk, &sysfs, LEVELS_MAX))
}

fn stands_on(node: &Node, disk: &Node, sysfs: &Sysfs, levels: u32) -> bool {
    if node.whole_disk().relative_path() == disk.whole_disk().relative_path() {
        return true;
    }
    let backing = node.whole_disk().loop_file().map(|file| file.dev());
    let backing =
        backing.and_then(|device| sysfs.node_of(rustix::fs::major(device), rustix::fs::minor(device)));
    let below = node.entries("slaves").into_iter().chain(backing);
    levels > 0 && below.into_iter().any(|below| stands_on(&below, disk, sysfs, levels - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_new_private_and_lists_until_removed() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("state/flashscope");
        assert!(journals(&folder).unwrap().is_empty());
        let target = Path::new("/nowhere");
        let mut journal = JournalFile::create(&folder, "a", target, Bytes::kib(1)).unwrap();
        assert_eq!(fs::metadata(journal.path()).unwrap().mode() & 0o777, 0o600);
        journal.append(b"some bytes").unwrap();
        journal.make_durable().unwrap();
        let error = JournalFile::create(&folder, "a", target, Bytes::kib(1)).unwrap_err();
        assert!(matches!(error, JournalFileError::Folder { .. }), "{error}");
        let mut read = [0; 5];
        let mut again = JournalFile::open(&journals(&folder).unwrap()[0]).unwrap();
        again.read_at(5, &mut read).unwrap();
        assert_eq!((&read, again.length().unwrap()), (b"bytes", 10));
        again.remove().unwrap();
        assert!(journals(&folder).unwrap().is_empty());
    }

    #[test]
    fn host_without_space_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let needed = Bytes::gib(1 << 30);
        let error = JournalFile::create(directory.path(), "a", Path::new("/nowhere"), needed).unwrap_err();
        assert!(error.to_string().contains("--write-budget"), "{error}");
        assert!(journals(directory.path()).unwrap().is_empty());
    }

    #[test]
    fn folder_on_the_target_is_found_through_partitions_and_volumes() {
        let directory = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
        let copied =
            std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(directory.path()).status();
        assert!(copied.unwrap().success());
        let sysfs = Sysfs::at(directory.path().join("sys"));
        let disk = |name: &str| sysfs.disk(name).unwrap();
        let part = disk("sdb").below("sdb1").unwrap();
        assert!(stands_on(&part, &disk("sdb"), &sysfs, LEVELS_MAX));
        assert!(stands_on(&disk("sdb"), &part, &sysfs, LEVELS_MAX));
        assert!(!stands_on(&disk("sdc"), &disk("sdb"), &sysfs, LEVELS_MAX));
        let volume = directory.path().join("sys/block/dm-0");
        fs::create_dir_all(volume.join("slaves")).unwrap();
        std::os::unix::fs::symlink("../../sdb/sdb1", volume.join("slaves/sdb1")).unwrap();
        assert!(stands_on(&disk("dm-0"), &disk("sdb"), &sysfs, LEVELS_MAX));
        assert!(!stands_on(&disk("dm-0"), &disk("sdc"), &sysfs, LEVELS_MAX));
        // The search ends although this volume is below itself.
        let itself = directory.path().join("sys/block/dm-1");
        fs::create_dir_all(itself.join("slaves")).unwrap();
        std::os::unix::fs::symlink("../../dm-1", itself.join("slaves/dm-1")).unwrap();
        assert_eq!(disk("dm-1").entries("slaves").len(), 1);
        assert!(!stands_on(&disk("dm-1"), &disk("sdb"), &sysfs, LEVELS_MAX));
    }

    #[test]
    fn journal_that_is_named_without_a_folder_lies_in_the_current_one() {
        sync_folder(Path::new("a.journal")).unwrap();
        assert!(sync_folder(Path::new("/nowhere/a.journal")).is_err());
    }
}
