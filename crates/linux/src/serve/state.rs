//! What a serving process has mounted, written down so that the next one can clean up if it dies.
//!
//! One file per process, in a directory that only its user can write to. The process holds a lock on its file for as long as
//! it lives; the kernel takes the lock away when it dies, however it dies. So a file that can be locked belongs to a dead
//! process. A process number would not say that: it may have been given to another process since.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, RenameFlags};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use serde::{Deserialize, Serialize};

use super::error::{ServeError, ServeRemark, shown};
use super::filesystem::{CALIBRATION_NAME, FILE_NAME};
use super::loop_device;
use super::mount::{self, MountPoint};

/// What one process has mounted.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    pid: u32,
    mount: PathBuf,
    is_mount_ours: bool,
}

/// The directory of these files.
#[derive(Debug, Clone)]
pub struct RuntimeFolder(PathBuf);

impl RuntimeFolder {
    /// `/run/flashscope` for root, `$XDG_RUNTIME_DIR/flashscope` for others, and where that is not set, a directory of
    /// theirs in `/tmp`.
    pub fn of_this_user() -> Result<Self, ServeError> {
        let user = rustix::process::geteuid();
        let runtime =
            std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        Self::at(match runtime {
            _ if user.is_root() => PathBuf::from("/run/flashscope"),
            Some(runtime) => runtime.join("flashscope"),
            None => PathBuf::from(format!("/tmp/flashscope-{}", user.as_raw())),
        })
    }

    /// The directory at `path`, made if it is not there. One that belongs to somebody else is refused.
    pub fn at(path: PathBuf) -> Result<Self, ServeError> {
        let problem = |problem: String| ServeError::Runtime { path: shown(&path), problem };
        let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(&path);
        let found = made.and_then(|()| fs::symlink_metadata(&path));
        let found = found.map_err(|error| problem(error.to_string()))?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err(problem("is no directory of this user's".to_owned()));
        }
        Ok(Self(path))
    }

    /// Where this process mounts if it is not told.
    pub fn mount_path(&self) -> PathBuf {
        self.0.join(format!("serve-{}", std::process::id()))
    }

    /// Cleans up after processes that died.
    pub fn clean_up(&self) -> Vec<ServeRemark> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten().map(|entry| entry.path());
        let states = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        states.filter_map(|path| clean_up_after(&path)).collect()
    }
}

/// Detaches, unmounts and removes what the owner of this file left; `None` if it lives, or left nothing.
fn clean_up_after(path: &Path) -> Option<ServeRemark> {
    let mut file = File::options().read(true).write(true).open(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    if file.metadata().ok()?.nlink() == 0 {
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let remark = serde_json::from_str(&text).ok().map(|record| clear_away(&record));
    // It stays if it cannot be removed; then the next start looks at it again.
    let _ = fs::remove_file(path);
    remark
}

fn clear_away(record: &Record) -> ServeRemark {
    let files = [FILE_NAME, CALIBRATION_NAME].map(|name| record.mount.join(name));
    let block_devices: Vec<PathBuf> = files.iter().flat_map(|file| loop_device::devices_over(file)).collect();
    for device in &block_devices {
        // One that is still mounted goes when it is unmounted; there is nothing else to do about it.
        let _ = loop_device::detach(device);
    }
    if mount::is_ours_mounted(&record.mount) {
        let _ = mount::unmount(&record.mount, UnmountFlags::DETACH);
    }
    MountPoint { path: record.mount.clone(), is_ours: record.is_mount_ours }.remove();
    ServeRemark::CleanedUp { mount: record.mount.clone(), block_devices }
}

/// This process's file. It is removed, and its lock given up, when dropped.
#[derive(Debug)]
pub struct State {
    path: PathBuf,
    _locked: File,
}

impl State {
    /// Writes down that this process is going to mount here.
    pub fn write(folder: &RuntimeFolder, mount_point: &MountPoint) -> Result<Self, ServeError> {
        let pid = std::process::id();
        let path = folder.0.join(format!("serve-{pid}.json"));
        let record = Record { pid, mount: mount_point.path.clone(), is_mount_ours: mount_point.is_ours };
        let written = Self::write_locked(&folder.0, &path, &record);
        written.map_err(|error| ServeError::Runtime { path: shown(&path), problem: error.to_string() })
    }

    /// The lock is there before the name is, so that nobody finds the file without it.
    fn write_locked(folder: &Path, path: &Path, record: &Record) -> std::io::Result<Self> {
        let new = folder.join(format!("serve-{}.new", record.pid));
        let mut file = File::create(&new)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        let named =
            rustix::fs::renameat_with(rustix::fs::CWD, &new, rustix::fs::CWD, path, RenameFlags::NOREPLACE);
        if named == Err(Errno::INVAL) {
            // A filesystem without that flag.
            fs::rename(&new, path)?;
        } else {
            named?;
        }
        Ok(Self { path: path.to_owned(), _locked: file })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // If it stays, the next start finds nothing mounted and removes it.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, RuntimeFolder) {
        let folder = tempfile::tempdir().unwrap();
        let runtime = RuntimeFolder::at(folder.path().join("flashscope")).unwrap();
        (folder, runtime)
    }

    #[test]
    fn what_a_living_process_has_is_left_alone_and_what_a_dead_one_left_is_removed() {
        let (_folder, runtime) = folder();
        let mount_point = MountPoint::at(&runtime.mount_path()).unwrap();
        let state = State::write(&runtime, &mount_point).unwrap();
        assert_eq!(runtime.clean_up(), []);
        assert!(mount_point.path.exists() && state.path.exists());

        // As if it had been killed: the lock goes, the file stays.
        let path = state.path.clone();
        let text = fs::read(&path).unwrap();
        drop(state);
        fs::write(&path, text).unwrap();
        let cleaned = ServeRemark::CleanedUp { mount: mount_point.path.clone(), block_devices: vec![] };
        assert_eq!(runtime.clean_up(), [cleaned]);
        assert!(!mount_point.path.exists() && !path.exists());
    }

    #[test]
    fn a_directory_that_was_there_before_stays() {
        let (folder, runtime) = folder();
        let given = folder.path().join("given");
        fs::create_dir(&given).unwrap();
        let mount_point = MountPoint::at(&given).unwrap();
        assert!(!mount_point.is_ours);
        mount_point.remove();
        assert!(given.exists());
        fs::write(given.join("file"), "").unwrap();
        assert!(MountPoint::at(&given).unwrap_err().to_string().contains("is not empty"));
        assert!(MountPoint::at(&given.join("file")).is_err());
        drop(runtime);
    }

    #[test]
    fn a_runtime_folder_that_is_no_directory_is_refused() {
        let (folder, _runtime) = folder();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert!(RuntimeFolder::at(link).is_err());
    }
}
