//! A temporary file as a device, so that people without root can measure a mounted stick.
//!
//! Its name is removed before anything is written, so nothing is left however the measurement ends. Its
//! space is reserved at once where the filesystem can do that without writing. So no allocation happens
//! during timed requests.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use flashscope_device::{Bytes, Capabilities, FileExtent, SECTOR};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::backing_filesystem::{BackingFilesystem, NonStickStorage, Rewriting};
use super::bench_directory::BenchDirectory;
use super::error::FilesError;
use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::engine::{ActiveEngine, Engine};
use crate::extents::places;
use crate::geometry::{self, Geometry};
use crate::open::MAX_REQUEST;
use crate::remark::Remark;
use crate::target::{Target, TargetKind};

/// The reserve for the filesystem's tables and for other programs: a tenth of the free space, and at least
/// 16 MiB. Guess.
const RESERVED: u64 = 10;
const RESERVED_MIN: Bytes = Bytes::mib(16);
/// The file's size is a multiple of the largest usual request.
const STEP: Bytes = Bytes::mib(1);
/// FAT stores the length of a file in 32 bits.
const FAT_FILE_MAX: Bytes = Bytes::mib(4095);
/// Data for the check whether direct I/O works. The measurement overwrites it.
const PROBE: [u8; 4096] = [0xA5; 4096];
const CREATING: &str = "creating a file";

/// The size of a temporary file.
#[derive(Debug, Clone, Copy)]
pub struct FileSize {
    /// The wanted size, reduced to the free space.
    pub wanted: Bytes,
    /// The smallest useful size.
    pub minimum: Bytes,
}

impl LinuxDevice {
    /// Where a temporary file lies on the block device of its filesystem.
    ///
    /// # Errors
    /// The kernel's, where the filesystem does not tell, or tells only root.
    pub fn places(&self) -> std::io::Result<Vec<FileExtent>> {
        places(&File::from(self.file().try_clone()?))
    }
}

impl BenchDirectory {
    /// A temporary file in this directory, readable and writable, with this queue depth. Its contents are
    /// undefined.
    ///
    /// # Errors
    /// [`FilesError`], with what to try.
    pub fn temporary_file(&self, size: FileSize, queue_depth: u32) -> Result<LinuxDevice, FilesError> {
        let size = self.size(size)?;
        let failed = |during| move |errno| FilesError::of(self.display_path(), during, errno, size);
        let created = unnamed_file(self.path()).map_err(failed(CREATING))?;
        let failed_step = |(during, errno)| failed(during)(errno);
        prepare(&created, size, &self.backing_filesystem().filesystem).map_err(failed_step)?;
        let capabilities = Capabilities {
            capacity: size,
            logical_block: SECTOR,
            physical_block: SECTOR,
            max_request: MAX_REQUEST,
            queue_depth,
            writable: true,
            discard: false,
        };
        let remarks = vec![Remark::TemporaryFile { size }];
        // Direct I/O ends at a program, whose own requests go through a page cache.
        let is_program = self.backing_filesystem().non_stick.contains(&NonStickStorage::UserSpace);
        as_device(&created, !is_program, capabilities, Clock::start(), remarks).map_err(failed_step)
    }

    /// The capacity of the filesystem; the stick's is at least as large.
    ///
    /// # Errors
    /// [`FilesError`], if the filesystem does not report it.
    pub fn capacity(&self) -> Result<Bytes, FilesError> {
        let space = self.space()?;
        Ok(Bytes::new(space.f_blocks.saturating_mul(space.f_frsize)))
    }

    /// The wanted size, reduced to the free space without the reserve.
    fn size(&self, size: FileSize) -> Result<Bytes, FilesError> {
        let space = self.space()?;
        let free = Bytes::new(space.f_bavail.saturating_mul(space.f_frsize));
        let available = available(self.backing_filesystem(), free, size.wanted);
        if available < size.minimum {
            let needed = needed(self.backing_filesystem(), size.minimum);
            return Err(FilesError::TooLittleSpace { path: self.display_path().to_owned(), free, needed });
        }
        Ok(available)
    }
}

/// The wanted size of a file, reduced to what this filesystem takes in this free space.
fn available(filesystem: &BackingFilesystem, free: Bytes, wanted: Bytes) -> Bytes {
    let limit = if is_fat(&filesystem.filesystem) { FAT_FILE_MAX } else { wanted };
    wanted.min(usable(free) / copies(filesystem)).min(limit).round_down(STEP)
}

/// How often a file needs its size: data that is written again may need space beside the old data.
fn copies(filesystem: &BackingFilesystem) -> u64 {
    if filesystem.rewriting() == Rewriting::Elsewhere { 2 } else { 1 }
}

/// The free space without the reserve.
fn usable(free: Bytes) -> Bytes {
    free.saturating_sub((free / RESERVED).max(RESERVED_MIN))
}

/// The free space in which this filesystem takes a file of this size: its data, and the reserve.
fn needed(filesystem: &BackingFilesystem, size: Bytes) -> Bytes {
    let data = size.round_up(STEP) * copies(filesystem);
    let with_share = Bytes::new(data.get().saturating_mul(RESERVED).div_ceil(RESERVED - 1));
    with_share.max(data + RESERVED_MIN)
}

/// Creates a file in `directory` and removes its name. The file is gone when it is closed.
pub fn unnamed_file(directory: &Path) -> Result<OwnedFd, Errno> {
    let name = directory.join(format!(".flashscope-bench-{}", std::process::id()));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(&name, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::unlink(&name).map(|()| file)
}

/// Opens an open file again with other flags, also if it has no name (proc(5)).
pub fn reopen(file: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(format!("/proc/self/fd/{}", file.as_raw_fd()), flags, Mode::empty())
}

/// A step that failed, and why.
type FailedStep = (&'static str, Errno);

/// Reserves the space of a new file, and writes to it.
pub(super) fn prepare(created: &OwnedFd, size: Bytes, filesystem: &str) -> Result<(), FailedStep> {
    let failed = |during| move |errno| (during, errno);
    reserve(created, size, filesystem).map_err(failed("reserving space"))?;
    rustix::io::pwrite(created, &PROBE, 0).map_err(failed("writing"))?;
    rustix::fs::fdatasync(created).map_err(failed("flushing"))
}

/// An open file as a device, with direct I/O if that is wanted and the file takes it. It has these
/// capabilities but for its blocks.
pub(super) fn as_device(
    created: &OwnedFd,
    wants_direct: bool,
    capabilities: Capabilities,
    clock: Clock,
    mut remarks: Vec<Remark>,
) -> Result<LinuxDevice, FailedStep> {
    let failed = |during| move |errno| (during, errno);
    let (file, direct_block) = reopen_direct(created, wants_direct).map_err(failed("reopening it"))?;
    let kind = TargetKind::File;
    let geometry = Geometry::of(&file, kind, direct_block).map_err(failed("reading its size"))?;
    let is_buffered = direct_block.is_none();
    if is_buffered {
        geometry::forget_cache(&file);
        remarks.push(Remark::Buffered);
    }
    let capabilities = Capabilities {
        logical_block: geometry.logical_block,
        physical_block: geometry.physical_block,
        ..capabilities
    };
    let mut target = Target { file, capabilities, kind, is_buffered, clock };
    let engine = ActiveEngine::start(Engine::Best, capabilities.queue_depth, &mut target, &mut remarks)
        .map_err(failed("setting up its queue"))?;
    Ok(LinuxDevice::new(target, engine, remarks))
}

/// Reserves the space, where that does not write it. The FAT driver zero-fills a file that grows, so its
/// length is kept there.
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

/// The same file with direct I/O, with the smallest block it takes; or with synchronous buffered I/O if
/// that is not wanted or refused.
fn reopen_direct(file: &OwnedFd, is_wanted: bool) -> Result<(OwnedFd, Option<Bytes>), Errno> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let buffered = || reopen(file, flags | OFlags::DSYNC).map(|file| (file, None));
    if !is_wanted {
        return buffered();
    }
    let direct = match reopen(file, flags | OFlags::DIRECT) {
        Ok(direct) => geometry::direct_block(&direct).map(|block| (direct, Some(block))),
        Err(Errno::INVAL) => None,
        Err(errno) => return Err(errno),
    };
    direct.map_or_else(buffered, Ok)
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, Device, DeviceExt, Op, Pattern, ReadInto, Success};

    use super::*;

    const fn sizes(wanted: u64, minimum: u64) -> FileSize {
        FileSize { wanted: Bytes::mib(wanted), minimum: Bytes::mib(minimum) }
    }

    #[test]
    fn temporary_file_stores_data_and_has_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let directory = BenchDirectory::open(directory.path()).unwrap();
        let mut device = directory.temporary_file(sizes(4, 2), 4).unwrap();
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "the file has no name from the start"
        );
        assert_eq!(device.capabilities().capacity, Bytes::mib(4));
        assert!(device.capabilities().writable);
        let (range, pattern) = (ByteRange::new(Bytes::mib(3), Bytes::mib(1)), Pattern::new(7));
        device.run(Op::write(range, pattern)).unwrap().outcome.unwrap();
        let read = device.run(Op::Read { range, into: ReadInto::Check(pattern) }).unwrap();
        assert_eq!(read.outcome, Ok(Success::AllRight));
        assert!(device.remarks().iter().any(|remark| matches!(remark, Remark::TemporaryFile { .. })));
    }

    #[test]
    fn shortened_file_ends_at_its_new_capacity() {
        let directory = tempfile::tempdir().unwrap();
        let directory = BenchDirectory::open(directory.path()).unwrap();
        let mut device = directory.temporary_file(sizes(4, 2), 1).unwrap();
        device.shorten(Bytes::mib(3)).unwrap();
        assert_eq!(device.capabilities().capacity, Bytes::mib(3));
        assert_eq!(rustix::fs::fstat(device.file()).unwrap().st_size, 3 << 20);
        let beyond_end = ByteRange::new(Bytes::mib(3), Bytes::kib(4));
        assert!(device.run(Op::read(beyond_end)).unwrap().outcome.is_err());
        assert!(
            device.remarks().iter().any(|remark| *remark == Remark::TemporaryFile { size: Bytes::mib(3) })
        );
    }

    #[test]
    fn size_is_reduced_to_free_space_or_refused() {
        let directory = tempfile::tempdir().unwrap();
        let directory = BenchDirectory::open(directory.path()).unwrap();
        let huge = Bytes::new(1 << 60);
        let refused = directory.temporary_file(FileSize { wanted: huge, minimum: huge }, 1).unwrap_err();
        assert!(
            matches!(refused, FilesError::TooLittleSpace { .. }) && refused.to_string().contains("free"),
            "{refused}"
        );
        let space = rustix::fs::statvfs(directory.path()).unwrap();
        let available = directory.size(FileSize { wanted: huge, minimum: Bytes::ZERO }).unwrap();
        assert!(available < Bytes::new(space.f_blocks * space.f_frsize), "{available}");
    }

    /// A stick with this filesystem.
    fn stick_with(filesystem: &str) -> BackingFilesystem {
        BackingFilesystem {
            filesystem: filesystem.to_owned(),
            source: String::new(),
            options: String::new(),
            cluster: Bytes::kib(32),
            non_stick: Vec::new(),
        }
    }

    /// For files of 144 MiB and more, the reserve is a tenth of the free space.
    #[test]
    fn free_space_that_is_named_as_needed_is_enough_and_hardly_more() {
        for filesystem in ["ext4", "vfat", "btrfs"].map(stick_with) {
            for size in [1, 16, 64, 143, 144, 145, 288, 4000].map(Bytes::mib) {
                let needed = needed(&filesystem, size);
                assert!(available(&filesystem, needed, size) == size, "{size}: {needed}");
                assert!(available(&filesystem, needed - STEP * 2, size) < size, "{size}: {needed}");
                // A size that is no whole number of MiB needs the next one.
                let least = size - Bytes::kib(600);
                assert_eq!(self::needed(&filesystem, least), needed, "{least}");
            }
        }
        assert_eq!(needed(&stick_with("ext4"), Bytes::mib(16)), Bytes::mib(32));
        assert_eq!(needed(&stick_with("ext4"), Bytes::mib(288)), Bytes::mib(320));
        assert_eq!(needed(&stick_with("btrfs"), Bytes::mib(16)), Bytes::mib(48));
    }

    #[test]
    fn file_is_as_large_as_wanted_unless_its_filesystem_or_the_free_space_forbids_it() {
        let size =
            |filesystem: &str, free: Bytes, wanted: Bytes| available(&stick_with(filesystem), free, wanted);
        // FAT's lengths end just below 4 GiB.
        for (filesystem, longest) in [
            ("vfat", Bytes::mib(4095)),
            ("msdos", Bytes::mib(4095)),
            ("exfat", Bytes::gib(5)),
            ("ext4", Bytes::gib(5)),
            ("btrfs", Bytes::gib(5)),
        ] {
            assert_eq!(size(filesystem, Bytes::gib(20), Bytes::gib(5)), longest, "{filesystem}");
        }
        assert_eq!(size("vfat", Bytes::gib(20), Bytes::mib(4094)), Bytes::mib(4094));
        // A tenth stays free, and at least 16 MiB. What btrfs writes again lies beside the old data.
        let all = Bytes::gib(1 << 20);
        assert_eq!(size("ext4", Bytes::gib(10), all), Bytes::gib(9));
        assert_eq!(size("btrfs", Bytes::gib(10), all), Bytes::mib(4608));
        assert_eq!(size("vfat", Bytes::mib(100), all), Bytes::mib(84));
        assert_eq!(size("ext4", Bytes::mib(16), all), Bytes::ZERO);
        assert_eq!(size("ext4", Bytes::gib(1), Bytes::mib(5) + Bytes::new(1)), Bytes::mib(5));
    }
}
