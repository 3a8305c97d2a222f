//! Records what a serving process has mounted, so that the next one can clean up if it dies.
//!
//! There is one file per process, in a directory that only its user can write to. The process holds a lock
//! on its file. The kernel releases the lock when the process dies. So a file that can be locked belongs to
//! a dead process. A process id would not prove that, because ids are reused.

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

/// The mount of one process.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    pid: u32,
    mount: PathBuf,
    #[serde(rename = "is_mount_ours")]
    is_mount_own: bool,
}

/// The directory of these files.
#[derive(Debug, Clone)]
pub struct RuntimeDirectory(PathBuf);

impl RuntimeDirectory {
    /// `/run/flashscope` for root, `$XDG_RUNTIME_DIR/flashscope` for other users, or a directory of theirs
    /// in `/tmp` if that is not set.
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

    /// The directory at `path`, created if it is missing. A directory of another user is refused.
    pub fn at(path: PathBuf) -> Result<Self, ServeError> {
        let problem = |problem: String| ServeError::Runtime { path: shown(&path), problem };
        let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(&path);
        let found = made.and_then(|()| fs::symlink_metadata(&path));
        let found = found.map_err(|error| problem(error.to_string()))?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err(problem("is not a directory of this user".to_owned()));
        }
        Ok(Self(path))
    }

    /// The default mount point of this process.
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

/// Detaches, unmounts and removes what the owner of this file left; `None` if the owner lives, or left
/// nothing.
fn clean_up_after(path: &Path) -> Option<ServeRemark> {
    let mut file = File::options().read(true).write(true).open(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    if file.metadata().ok()?.nlink() == 0 {
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let remark = serde_json::from_str(&text).ok().map(|record| clear_away(&record));
    // If it cannot be removed, the next start tries again.
    let _ = fs::remove_file(path);
    remark
}

fn clear_away(record: &Record) -> ServeRemark {
    let files = [FILE_NAME, CALIBRATION_NAME].map(|name| record.mount.join(name));
    let block_devices: Vec<PathBuf> = files.iter().flat_map(|file| loop_device::devices_over(file)).collect();
    for device in &block_devices {
        // A device that is still mounted is detached when it is unmounted.
        let _ = loop_device::detach(device);
    }
    if mount::is_own_mounted(&record.mount) {
        let _ = mount::unmount(&record.mount, UnmountFlags::DETACH);
    }
    MountPoint { path: record.mount.clone(), is_own: record.is_mount_own }.remove();
    ServeRemark::CleanedUp { mount: record.mount.clone(), block_devices }
}

/// This process's file. Dropping it removes the file and releases the lock.
#[derive(Debug)]
pub struct State {
    path: PathBuf,
    _locked: File,
}

impl State {
    /// Records that this process is going to mount here.
    pub fn write(directory: &RuntimeDirectory, mount_point: &MountPoint) -> Result<Self, ServeError> {
        let pid = std::process::id();
        let path = directory.0.join(format!("serve-{pid}.json"));
        let record = Record { pid, mount: mount_point.path.clone(), is_mount_own: mount_point.is_own };
        let written = Self::write_locked(&directory.0, &path, &record);
        written.map_err(|error| ServeError::Runtime { path: shown(&path), problem: error.to_string() })
    }

    /// Locks the file before it gets its name, so that nobody finds it unlocked.
    fn write_locked(directory: &Path, path: &Path, record: &Record) -> std::io::Result<Self> {
        let new = directory.join(format!("serve-{}.new", record.pid));
        let mut file = File::create(&new)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        let named =
            rustix::fs::renameat_with(rustix::fs::CWD, &new, rustix::fs::CWD, path, RenameFlags::NOREPLACE);
        if named == Err(Errno::INVAL) {
            // The filesystem does not support that flag.
            fs::rename(&new, path)?;
        } else {
            named?;
        }
        Ok(Self { path: path.to_owned(), _locked: file })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // If the file stays, the next start finds nothing mounted and removes it.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, RuntimeDirectory) {
        let directory = tempfile::tempdir().unwrap();
        let runtime = RuntimeDirectory::at(directory.path().join("flashscope")).unwrap();
        (directory, runtime)
    }

    #[test]
    fn living_process_is_left_alone_and_dead_process_is_cleaned_up() {
        let (_directory, runtime) = directory();
        let mount_point = MountPoint::at(&runtime.mount_path()).unwrap();
        let state = State::write(&runtime, &mount_point).unwrap();
        assert_eq!(runtime.clean_up(), []);
        assert!(mount_point.path.exists() && state.path.exists());

        // As if it had been killed: the lock is released, the file stays.
        let path = state.path.clone();
        let text = fs::read(&path).unwrap();
        drop(state);
        fs::write(&path, text).unwrap();
        let cleaned = ServeRemark::CleanedUp { mount: mount_point.path.clone(), block_devices: vec![] };
        assert_eq!(runtime.clean_up(), [cleaned]);
        assert!(!mount_point.path.exists() && !path.exists());
    }

    #[test]
    fn existing_directory_is_not_removed() {
        let (directory, runtime) = directory();
        let given = directory.path().join("given");
        fs::create_dir(&given).unwrap();
        let mount_point = MountPoint::at(&given).unwrap();
        assert!(!mount_point.is_own);
        mount_point.remove();
        assert!(given.exists());
        fs::write(given.join("file"), "").unwrap();
        assert!(MountPoint::at(&given).unwrap_err().to_string().contains("is not empty"));
        assert!(MountPoint::at(&given.join("file")).is_err());
        drop(runtime);
    }

    #[test]
    fn runtime_directory_that_is_a_link_is_refused() {
        let (directory, _runtime) = directory();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).unwrap();
        assert!(RuntimeDirectory::at(link).is_err());
    }

    #[test]
    fn runtime_directory_is_made_with_those_above_it_and_may_be_there_already() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run/flashscope");
        for _ in 0..2 {
            RuntimeDirectory::at(path.clone()).unwrap();
            assert!(path.is_dir());
        }
    }
}
