//! Prepares a zram disk for reads: a new one has no size, and reads of unwritten pages touch no memory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flashscope_device::{Bytes, Lba, Pattern};
use rustix::fs::OFlags;

/// The size of a new zram disk.
const SIZE: Bytes = Bytes::gib(1);

const CHUNK: Bytes = Bytes::mib(1);

/// Gives an empty zram disk a size and contents. Leaves a disk with contents and other devices unchanged.
pub fn prepare(device: &Path) -> Result<()> {
    let Some(sysfs) = sysfs_of(device) else { return Ok(()) };
    if number(&sysfs.join("disksize"), 0)? == 0 {
        fs::write(sysfs.join("disksize"), SIZE.get().to_string())
            .with_context(|| format!("cannot give {} a size; try with sudo", device.display()))?;
    }
    if is_empty(&sysfs)? {
        fill(device, &sysfs).with_context(|| {
            format!("cannot fill {}; it must not be in use, and this may take sudo", device.display())
        })?;
    }
    Ok(())
}

/// Whether the first number of `mm_stat` is 0: bytes stored, before compression
/// (Documentation/admin-guide/blockdev/zram.rst).
fn is_empty(sysfs: &Path) -> Result<bool> {
    Ok(number(&sysfs.join("mm_stat"), 0)? == 0)
}

/// Its folder in sysfs; `None` for other devices.
fn sysfs_of(device: &Path) -> Option<PathBuf> {
    let name = device.strip_prefix("/dev").ok()?.to_str()?;
    let digits = name.strip_prefix("zram")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Path::new("/sys/block").join(name)).filter(|path| path.is_dir())
}

fn number(path: &Path, index: usize) -> Result<u64> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let word = text.split_whitespace().nth(index).unwrap_or_default();
    word.parse().with_context(|| format!("{} does not start with a number", path.display()))
}

/// Fills a disk if it is still empty after it was opened exclusively.
fn fill(device: &Path, sysfs: &Path) -> Result<()> {
    let disk = open_exclusively(device)?;
    if is_empty(sysfs)? {
        fill_with_test_data(disk, Bytes::new(number(&sysfs.join("disksize"), 0)?))?;
    }
    Ok(())
}

/// Opens a disk exclusively for writing. With `O_EXCL` the kernel refuses a disk that is mounted or used for
/// swap, and refuses to mount it while it is open (open(2)).
fn open_exclusively(device: &Path) -> io::Result<File> {
    File::options().write(true).custom_flags(OFlags::EXCL.bits().cast_signed()).open(device)
}

/// Fills the disk with the data pattern, which does not compress, so that every read copies a page.
fn fill_with_test_data(mut disk: File, size: Bytes) -> Result<()> {
    let mut chunk = vec![0; CHUNK.to_usize()];
    let mut first = Lba(0);
    while first.offset() + CHUNK <= size {
        Pattern::new(0).fill(first, &mut chunk);
        disk.write_all(&chunk)?;
        first.0 += CHUNK.sectors().0;
    }
    Ok(disk.sync_all()?)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::process::Command;

    use super::*;

    /// A loop device of 1 MiB that disappears with its last descriptor; `None` without loop devices.
    fn disk_in_use() -> Option<(PathBuf, File)> {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(1 << 20).unwrap();
        let attached = Command::new("losetup").args(["--find", "--show"]).arg(image.path()).output();
        let attached = attached.ok().filter(|output| output.status.success())?;
        let path = PathBuf::from(String::from_utf8(attached.stdout).unwrap().trim());
        let user = open_exclusively(&path);
        assert!(Command::new("losetup").arg("--detach").arg(&path).status().unwrap().success());
        Some((path, user.unwrap()))
    }

    #[test]
    fn a_disk_in_use_is_not_opened_for_writing() {
        let Some((path, _user)) = disk_in_use() else { return skip() };
        assert_eq!(open_exclusively(&path).unwrap_err().kind(), ErrorKind::ResourceBusy);
    }

    #[expect(clippy::print_stderr, reason = "a test that did not run says so")]
    fn skip() {
        assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "loop devices need root");
        eprintln!("skipped: loop devices need root");
    }
}
