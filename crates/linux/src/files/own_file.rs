//! One file of our own as a device: what people without root can measure of a stick that is mounted.
//!
//! Its name is removed before anything is written, so nothing is left however the measurement ends. The space is asked for at
//! once where the filesystem can give it without writing, so that it is not handed out while requests are timed.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use flashscope_device::{Bytes, Capabilities};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::error::FilesError;
use super::place::FilesPlace;
use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::engine::{ActiveEngine, Engine};
use crate::geometry::{self, Geometry};
use crate::open::MAX_REQUEST;
use crate::remark::Remark;
use crate::target::{Target, TargetKind};

/// So much of what is free stays so, for the filesystem's tables and for others who write there: one in so many, and at least this.
const RESERVED: u64 = 10;
const RESERVED_MIN: Bytes = Bytes::mib(16);
/// The file grows in steps of the largest usual request.
const STEP: Bytes = Bytes::mib(1);
/// FAT keeps the length of a file in 32 bits.
const FAT_FILE_MAX: Bytes = Bytes::mib(4095);
/// Shows whether requests may go past the page cache; what is measured is written over it.
const PROBE: [u8; 4096] = [0xA5; 4096];
const MAKING: &str = "making a file";

/// How large a file is to be.
#[derive(Debug, Clone, Copy)]
pub struct FileSize {
    /// What is wanted, as far as there is room.
    pub wanted: Bytes,
    /// With less, nothing is to be had.
    pub least: Bytes,
}

impl FilesPlace {
    /// A file of our own in this folder, to be read and written, with so many requests in flight. What it holds is not defined.
    ///
    /// # Errors
    /// [`FilesError`], with what to try.
    pub fn own_file(&self, size: FileSize, queue_depth: u32) -> Result<LinuxDevice, FilesError> {
        let size = self.size(size)?;
        let failed = |during| move |errno| FilesError::of(self.shown(), during, errno, size);
        let named = unnamed_file(self.path()).map_err(failed(MAKING))?;
        reserve(&named, size, &self.ground().filesystem).map_err(failed("reserving space"))?;
        rustix::io::pwrite(&named, &PROBE, 0).map_err(failed("writing"))?;
        rustix::fs::fdatasync(&named).map_err(failed("flushing"))?;
        let (file, direct_block) = past_the_cache(&named).map_err(failed("opening it again"))?;
        let geometry =
            Geometry::of(&file, TargetKind::File, direct_block).map_err(failed("asking for its size"))?;
        let mut remarks = vec![Remark::OwnFile { size }];
        if direct_block.is_none() {
            geometry::forget_cache(&file);
            remarks.push(Remark::Buffered);
        }
        let capabilities = Capabilities {
            capacity: size,
            logical_block: geometry.logical_block,
            physical_block: geometry.physical_block,
            max_request: MAX_REQUEST,
            queue_depth,
            writable: true,
            discard: false,
        };
        let kind = TargetKind::File;
        let mut target =
            Target { file, capabilities, kind, is_buffered: direct_block.is_none(), clock: Clock::start() };
        let engine = ActiveEngine::start(Engine::Best, queue_depth, &mut target, &mut remarks)
            .map_err(failed("setting up its queue"))?;
        Ok(LinuxDevice::new(target, engine, remarks))
    }

    /// What the filesystem holds in all; a stick holds no less.
    ///
    /// # Errors
    /// [`FilesError`], if it does not say.
    pub fn capacity(&self) -> Result<Bytes, FilesError> {
        let space = self.space()?;
        Ok(Bytes::new(space.f_blocks.saturating_mul(space.f_frsize)))
    }

    /// As much as is wanted, of what is free and not reserved.
    fn size(&self, size: FileSize) -> Result<Bytes, FilesError> {
        let space = self.space()?;
        let free = Bytes::new(space.f_bavail.saturating_mul(space.f_frsize));
        let most = if is_fat(&self.ground().filesystem) { FAT_FILE_MAX } else { size.wanted };
        let room = free.saturating_sub((free / RESERVED).max(RESERVED_MIN)).min(most);
        let given = size.wanted.min(room).round_down(STEP);
        if given < size.least {
            let needed = size.least + RESERVED_MIN;
            return Err(FilesError::NoRoom { path: self.shown().to_owned(), free, needed });
        }
        Ok(given)
    }
}

/// A new file in `folder` that has no name any more: when it is closed, it is gone.
pub fn unnamed_file(folder: &Path) -> Result<OwnedFd, Errno> {
    let name = folder.join(format!(".flashscope-bench-{}", std::process::id()));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(&name, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::unlink(&name).map(|()| file)
}

/// Opens an open file once more with other flags, also where it has no name any more (proc(5)).
pub fn again(file: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(format!("/proc/self/fd/{}", file.as_raw_fd()), flags, Mode::empty())
}

/// Asks for the space, where that is known not to write it. The driver of FAT fills a file that is made longer with zeros, unless
/// its length is to stay.
fn reserve(file: &OwnedFd, size: Bytes, filesystem: &str) -> Result<(), Errno> {
    let mode = if is_fat(filesystem) { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() };
    match rustix::fs::fallocate(file, mode, 0, size.get()) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        reserved => reserved,
    }
}

fn is_fat(filesystem: &str) -> bool {
    ["vfat", "msdos"].contains(&filesystem)
}

/// The same file for requests past the page cache, with the smallest block they take; or through it, each until it is on the medium.
fn past_the_cache(file: &OwnedFd) -> Result<(OwnedFd, Option<Bytes>), Errno> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let direct = match again(file, flags | OFlags::DIRECT) {
        Ok(direct) => geometry::direct_block(&direct).map(|block| (direct, Some(block))),
        Err(Errno::INVAL) => None,
        Err(errno) => return Err(errno),
    };
    direct.map_or_else(|| again(file, flags | OFlags::DSYNC).map(|file| (file, None)), Ok)
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, Device, DeviceExt, Op, Pattern, ReadInto, Success};

    use super::*;

    const fn sizes(wanted: u64, least: u64) -> FileSize {
        FileSize { wanted: Bytes::mib(wanted), least: Bytes::mib(least) }
    }

    #[test]
    fn a_file_of_ours_keeps_what_is_written_and_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = FilesPlace::open(folder.path()).unwrap();
        let mut device = place.own_file(sizes(4, 2), 4).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has no name from the start");
        assert_eq!(device.capabilities().capacity, Bytes::mib(4));
        assert!(device.capabilities().writable);
        let (range, pattern) = (ByteRange::new(Bytes::mib(3), Bytes::mib(1)), Pattern::new(7));
        device.run(Op::write(range, pattern)).unwrap().outcome.unwrap();
        let read = device.run(Op::Read { range, into: ReadInto::Check(pattern) }).unwrap();
        assert_eq!(read.outcome, Ok(Success::AllRight));
        assert!(device.remarks().iter().any(|remark| matches!(remark, Remark::OwnFile { .. })));
    }

    #[test]
    fn a_file_that_was_filled_in_part_ends_there() {
        let folder = tempfile::tempdir().unwrap();
        let place = FilesPlace::open(folder.path()).unwrap();
        let mut device = place.own_file(sizes(4, 2), 1).unwrap();
        device.shorten(Bytes::mib(3)).unwrap();
        assert_eq!(device.capabilities().capacity, Bytes::mib(3));
        assert_eq!(rustix::fs::fstat(device.file()).unwrap().st_size, 3 << 20);
        let behind = ByteRange::new(Bytes::mib(3), Bytes::kib(4));
        assert!(device.run(Op::read(behind)).unwrap().outcome.is_err());
        assert!(device.remarks().iter().any(|remark| *remark == Remark::OwnFile { size: Bytes::mib(3) }));
    }

    #[test]
    fn what_does_not_fit_is_cut_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = FilesPlace::open(folder.path()).unwrap();
        let huge = Bytes::new(1 << 60);
        let refused = place.own_file(FileSize { wanted: huge, least: huge }, 1).unwrap_err();
        assert!(
            matches!(refused, FilesError::NoRoom { .. }) && refused.to_string().contains("free"),
            "{refused}"
        );
        let space = rustix::fs::statvfs(folder.path()).unwrap();
        let given = place.size(FileSize { wanted: huge, least: Bytes::ZERO }).unwrap();
        assert!(given < Bytes::new(space.f_blocks * space.f_frsize), "{given}");
    }
}
