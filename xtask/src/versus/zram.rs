//! Makes a zram disk fit to be read: an empty one has no size, and one that was never written reads without reading.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flashscope_device::{Bytes, Lba, Pattern};

/// How large an unused zram disk is made.
const SIZE: Bytes = Bytes::gib(1);

const CHUNK: Bytes = Bytes::mib(1);

/// Gives a zram disk a size if it has none, and contents if it has none. Whatever holds something, and whatever is no
/// zram disk, is left as it is.
pub fn prepare(device: &Path) -> Result<()> {
    let Some(sysfs) = sysfs_of(device) else { return Ok(()) };
    if number(&sysfs.join("disksize"), 0)? == 0 {
        fs::write(sysfs.join("disksize"), SIZE.get().to_string())
            .with_context(|| format!("cannot give {} a size; try with sudo", device.display()))?;
    }
    // The first figure of mm_stat: bytes stored, before compression (Documentation/admin-guide/blockdev/zram.rst).
    if number(&sysfs.join("mm_stat"), 0)? == 0 {
        fill(device, Bytes::new(number(&sysfs.join("disksize"), 0)?))
            .with_context(|| format!("cannot fill {}; try with sudo", device.display()))?;
    }
    Ok(())
}

/// Its folder in sysfs; `None` for anything but a zram disk.
fn sysfs_of(device: &Path) -> Option<PathBuf> {
    let name = device.strip_prefix("/dev").ok()?.to_str()?;
    let digits = name.strip_prefix("zram")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Path::new("/sys/block").join(name)).filter(|path| path.is_dir())
}

fn number(path: &Path, index: usize) -> Result<u64> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let word = text.split_whitespace().nth(index).unwrap_or_default();
    word.parse().with_context(|| format!("{} does not begin with a number", path.display()))
}

/// Test data does not compress, so that every read copies a page.
fn fill(device: &Path, size: Bytes) -> Result<()> {
    let mut disk = fs::File::options().write(true).open(device)?;
    let mut chunk = vec![0; CHUNK.to_usize()];
    let mut first = Lba(0);
    while first.offset() + CHUNK <= size {
        Pattern::new(0).fill(first, &mut chunk);
        disk.write_all(&chunk)?;
        first.0 += CHUNK.sectors().0;
    }
    Ok(disk.sync_all()?)
}
