//! A block device over a served file: a loop device with direct I/O.
//!
//! `losetup` (util-linux) attaches and detaches it instead of this process. Both may wait for the disk (a
//! partition table is read, a cache is written back), and a process that waits in the kernel for a file it
//! serves itself cannot be killed. `losetup` also retries when another program takes the free device first.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::{ServeError, ServeRemark, shown};
use crate::mounts;

/// Attaches a loop device to `file`, with direct I/O.
pub fn attach(file: &Path) -> Result<PathBuf, ServeError> {
    let options = ["--find", "--show", "--direct-io=on", "--partscan"].map(OsStr::new);
    let message = losetup(options.into_iter().chain([file.as_os_str()])).map_err(|message| {
        ServeError::Losetup { during: format!("attaching a loop device to {}", shown(file)), message }
    })?;
    Ok(PathBuf::from(message))
}

/// Detaches the block device. The kernel postpones that while it is mounted or open.
pub fn detach(device: &Path) -> Result<Option<ServeRemark>, ServeError> {
    losetup([OsStr::new("--detach"), device.as_os_str()])
        .map_err(|message| ServeError::Losetup { during: format!("detaching {}", shown(device)), message })?;
    let remark =
        || ServeRemark::StillMounted { block_device: device.to_owned(), mounts: mounted_from(device) };
    Ok(backing_file(device).is_some().then(remark))
}

/// The loop devices over `file`, which need not exist any more.
pub fn devices_over(file: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir("/sys/block").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let loops = names.filter(|name| name.to_string_lossy().starts_with("loop"));
    let devices = loops.map(|name| Path::new("/dev").join(name));
    devices.filter(|device| backing_file(device).is_some_and(|backing| backing == file)).collect()
}

/// The backing file of a loop device, if it is attached.
fn backing_file(device: &Path) -> Option<PathBuf> {
    let attribute = Path::new("/sys/block").join(device.file_name()?).join("loop/backing_file");
    let path = fs::read_to_string(attribute).ok()?;
    Some(PathBuf::from(path.trim_end_matches('\n')))
}

/// Where a device or one of its partitions is mounted.
fn mounted_from(device: &Path) -> Vec<String> {
    let device = device.to_string_lossy();
    let is_on_it = |source: &str| {
        source.strip_prefix(&*device).is_some_and(|rest| rest.is_empty() || rest.starts_with('p'))
    };
    let mounts = mounts::read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    mounts.into_iter().filter(|mount| is_on_it(&mount.source)).map(|mount| mount.path).collect()
}

/// The output of losetup, or its error message.
fn losetup<'a>(arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<String, String> {
    let output = Command::new("losetup")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("losetup (package util-linux or mount): {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
