//! The extents of a file, as its filesystem tells them (FIEMAP).

use std::fs::File;
use std::os::fd::AsRawFd as _;

use flashscope_device::{ByteRange, Bytes, FileExtent};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// `FS_IOC_FIEMAP`: `_IOWR('f', 11, struct fiemap)` (Linux, include/uapi/linux/fs.h).
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
/// Write out what waits in memory before answering.
const FIEMAP_FLAG_SYNC: u32 = 1;
/// The last extent of the file.
const FIEMAP_EXTENT_LAST: u32 = 1;
/// Extents whose place is unknown, encoded, inside metadata or shared (same file: UNKNOWN, DELALLOC, ENCODED,
/// DATA_ENCRYPTED, NOT_ALIGNED, DATA_INLINE, DATA_TAIL, SHARED).
const FIEMAP_EXTENT_UNPLACED: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400 | 0x2000;
/// `FIBMAP`, `FIGETBSZ`: `_IO(0, 1)`, `_IO(0, 2)` (Linux, include/uapi/linux/fs.h).
const FIBMAP: libc::c_ulong = 1;
const FIGETBSZ: libc::c_ulong = 2;
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
    for extent in mapped(file)? {
        let range = ByteRange::new(Bytes::new(extent.logical), Bytes::new(extent.length));
        match ranges.last_mut() {
            Some(last) if last.end() >= range.offset => {
                last.length = range.end().saturating_sub(last.offset).max(last.length);
            }
            _ => ranges.push(range),
        }
    }
    Ok(ranges)
}

/// Where `file` lies on the block device of its filesystem, as the filesystem tells.
///
/// # Errors
/// The system's, e.g. `ENOTSUP` where the filesystem does not tell, `EPERM` where it tells only root.
pub fn places(file: &File) -> std::io::Result<Vec<FileExtent>> {
    let found = match mapped(file) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return by_blocks(file),
        other => other?,
    };
    let is_placed = |extent: &&Extent| extent.flags & FIEMAP_EXTENT_UNPLACED == 0;
    Ok(found
        .iter()
        .filter(is_placed)
        .map(|extent| place(extent.logical, extent.physical, extent.length))
        .collect())
}

fn place(in_file: u64, on_device: u64, length: u64) -> FileExtent {
    let in_file = ByteRange::new(Bytes::new(in_file), Bytes::new(length));
    FileExtent { in_file, on_device: Bytes::new(on_device) }
}

/// Where `file` lies, cluster by cluster. FAT and exFAT tell it only so, and only to root.
fn by_blocks(file: &File) -> std::io::Result<Vec<FileExtent>> {
    let cluster = rustix::fs::fstatfs(file)?.f_bsize.unsigned_abs();
    let mut block_size: libc::c_int = 0;
    // SAFETY: the call writes one int, which lives until it returns.
    if unsafe { libc::ioctl(file.as_raw_fd(), FIGETBSZ as _, &raw mut block_size) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    let block_size = u64::from(block_size.unsigned_abs()).max(1);
    let (size, cluster) = (file.metadata()?.len(), cluster.max(block_size));
    let mut found = Vec::new();
    for start in (0..size).step_by(usize::try_from(cluster).unwrap_or(usize::MAX)) {
        let Ok(mut block) = libc::c_int::try_from(start / block_size) else { break };
        // SAFETY: the call reads and writes one int, which lives until it returns.
        if unsafe { libc::ioctl(file.as_raw_fd(), FIBMAP as _, &raw mut block) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        // Zero stands for a hole, and for a number that does not fit.
        if block != 0 {
            found.push(place(start, u64::from(block.unsigned_abs()) * block_size, cluster.min(size - start)));
        }
    }
    Ok(found)
}

fn mapped(file: &File) -> std::io::Result<Vec<Extent>> {
    let mut all = Vec::new();
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
        let mut is_last = request.mapped_extents == 0;
        for extent in request.extents.iter().take(request.mapped_extents as usize) {
            start = extent.logical.saturating_add(extent.length);
            is_last |= extent.flags & FIEMAP_EXTENT_LAST != 0;
            all.push(*extent);
        }
        if is_last {
            return Ok(all);
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
    fn places_cover_what_was_written_or_are_refused() {
        let file = tempfile::tempfile_in(std::env::temp_dir()).unwrap();
        file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
        file.sync_all().unwrap();
        match places(&file) {
            Ok(found) => {
                let length: u64 = found.iter().map(|extent| extent.in_file.length.get()).sum();
                assert!(length >= 1 << 20 && found[0].in_file.offset.is_zero(), "{found:?}");
            }
            Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
        }
    }

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

    /// Only root may ask for clusters, and not every filesystem has an answer.
    #[test]
    fn last_cluster_of_a_file_ends_with_the_file() {
        let file = tempfile::tempfile_in(std::env::temp_dir()).unwrap();
        let size = 10_000;
        file.write_all_at(&vec![1; size], 0).unwrap();
        file.sync_all().unwrap();
        match by_blocks(&file) {
            Ok(found) => {
                let end = found.last().map(|extent| extent.in_file.end());
                assert!(end.is_none_or(|end| end == Bytes::new(size as u64)), "{found:?}");
                let touches = |pair: &[FileExtent]| pair[0].in_file.end() == pair[1].in_file.offset;
                assert!(found.windows(2).all(touches), "{found:?}");
            }
            Err(error) if error.raw_os_error() == Some(libc::ENOTTY) => {
                crate::testing::skip("this kernel does not know the request for the blocks of a file");
            }
            Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
        }
    }
}
