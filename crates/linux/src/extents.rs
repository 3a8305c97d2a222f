//! The extents of a file, as its filesystem tells them (FIEMAP).

use std::fs::File;
use std::os::fd::AsRawFd as _;

use flashscope_device::{ByteRange, Bytes};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// `FS_IOC_FIEMAP`: `_IOWR('f', 11, struct fiemap)` (Linux, include/uapi/linux/fs.h).
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
/// Write out what waits in memory before answering.
const FIEMAP_FLAG_SYNC: u32 = 1;
/// The last extent of the file.
const FIEMAP_EXTENT_LAST: u32 = 1;
/// Extents in one call.
const EXTENTS: usize = 128;

/// One extent (include/uapi/linux/fiemap.h, `struct fiemap_extent`).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// The request (same file, `struct fiemap`), with space for the answer.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS],
}

/// The ranges of `file` that have space, ascending: written data and preallocated zeros.
///
/// # Errors
/// The system's, e.g. `ENOTSUP` where the filesystem does not tell.
pub fn extents(file: &File) -> std::io::Result<Vec<ByteRange>> {
    let mut ranges: Vec<ByteRange> = Vec::new();
    let mut start = 0;
    loop {
        let mut request = Request {
            start,
            length: u64::MAX - start,
            flags: FIEMAP_FLAG_SYNC,
            mapped_extents: 0,
            extent_count: 128,
            reserved: 0,
            extents: [Extent::default(); EXTENTS],
        };
        // SAFETY: the request is as large as `extent_count` says, and lives until the call returns.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut request) };
        if result != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let mapped = request.extents.iter().take(request.mapped_extents as usize);
        let mut is_last = request.mapped_extents == 0;
        for extent in mapped {
            let range = ByteRange::new(Bytes::new(extent.logical), Bytes::new(extent.length));
            match ranges.last_mut() {
                Some(last) if last.end() >= range.offset => {
                    last.length = range.end().saturating_sub(last.offset).max(last.length);
                }
                _ => ranges.push(range),
            }
            start = extent.logical.saturating_add(extent.length);
            is_last |= extent.flags & FIEMAP_EXTENT_LAST != 0;
        }
        if is_last {
            return Ok(ranges);
        }
    }
}

/// The ranges of `file` that have space, also where the filesystem has no FIEMAP (tmpfs): there, what is no
/// hole.
///
/// # Errors
/// The system's.
pub fn allocated(file: &File) -> std::io::Result<Vec<ByteRange>> {
    match extents(file) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => data_ranges(file),
        other => other,
    }
}

/// The ranges of `file` that are no holes (lseek(2), `SEEK_DATA`).
fn data_ranges(file: &File) -> std::io::Result<Vec<ByteRange>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    loop {
        let start = match seek(file, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => return Ok(ranges),
            other => other?,
        };
        let end = seek(file, SeekFrom::Hole(start))?;
        ranges.push(ByteRange::new(Bytes::new(start), Bytes::new(end - start)));
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn written_zeros_are_extents_and_holes_are_not() {
        let file = tempfile::tempfile_in(std::env::temp_dir()).unwrap();
        file.set_len(64 << 20).unwrap();
        file.write_all_at(&[0; 4096], 8 << 20).unwrap();
        file.write_all_at(&[1; 8192], 32 << 20).unwrap();
        for found in [allocated(&file).unwrap(), data_ranges(&file).unwrap()] {
            let starts: Vec<u64> = found.iter().map(|range| range.offset.get() >> 20).collect();
            assert_eq!(starts, [8, 32]);
        }
    }
}
