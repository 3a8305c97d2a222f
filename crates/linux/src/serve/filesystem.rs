//! The FUSE filesystem: a directory with one file as large as the device.
//!
//! The file is opened with direct I/O, so the kernel caches nothing. Every request arrives as the program
//! made it, up to 1 MiB (`/proc/sys/fs/fuse/max_pages_limit`). The file behaves like a disk: its size is
//! fixed, truncating it does nothing, and closing it is not a flush.

use std::ffi::OsStr;
use std::io;
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};

use flashscope_device::{Buffer, ByteRange, Bytes, Capabilities};
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, TimeOrNow, WriteFlags,
};

use super::overhead::CALIBRATION_FILE;
use super::request::{Message, Operation, Reply, Request};
use crate::clock::Clock;

/// The name of the file that is the device.
pub const FILE_NAME: &str = "stick.img";
/// The name of the file for measuring the host's overhead. It exists, but is not listed.
pub const CALIBRATION_NAME: &str = ".calibration";

const STICK: INodeNo = INodeNo(2);
const CALIBRATION: INodeNo = INodeNo(3);

/// How long the kernel may cache attributes. They never change.
const ATTRIBUTES_LAST: Duration = Duration::from_secs(3600);

/// The kernel's largest request: 256 pages.
const REQUEST_MAX: u32 = 1 << 20;

/// The largest number of background requests: as many as a loop device has in flight.
const BACKGROUND_MAX: u16 = 128;

/// The FUSE filesystem. It forwards every request to the serving thread.
#[derive(Debug)]
pub struct StickFilesystem {
    capabilities: Capabilities,
    clock: Clock,
    serving: Sender<Message>,
    owner: (u32, u32),
    made_at: SystemTime,
}

impl StickFilesystem {
    /// For a device with these capabilities. `made_at` is the time stamp of the files.
    pub fn new(
        capabilities: Capabilities,
        clock: Clock,
        serving: Sender<Message>,
        made_at: SystemTime,
    ) -> Self {
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self { capabilities, clock, serving, owner, made_at }
    }

    /// The largest request, bytes.
    pub fn request_max(capabilities: &Capabilities) -> u32 {
        let device = u32::try_from(capabilities.max_request.get()).unwrap_or(REQUEST_MAX);
        device.clamp(4096, REQUEST_MAX)
    }

    fn size(&self, inode: INodeNo) -> Bytes {
        match inode {
            STICK => self.capabilities.capacity,
            CALIBRATION => CALIBRATION_FILE,
            _ => Bytes::ZERO,
        }
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o700),
            STICK | CALIBRATION => (FileType::RegularFile, 0o600),
            _ => return None,
        };
        let size = self.size(inode).get();
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: self.made_at,
            mtime: self.made_at,
            ctime: self.made_at,
            crtime: self.made_at,
            kind,
            perm,
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn forward(&self, inode: INodeNo, operation: Operation, reply: Reply) {
        let request = Request { arrived_at: self.clock.now(), operation, reply };
        let message =
            if inode == CALIBRATION { Message::Calibration(request) } else { Message::Request(request) };
        // After serving has ended, the message is returned; its dropped reply answers with EIO.
        drop(self.serving.send(message));
    }

    /// The part of a range that lies inside the file.
    fn clip(&self, inode: INodeNo, offset: u64, length: u64) -> ByteRange {
        let offset = Bytes::new(offset);
        let left = self.size(inode).saturating_sub(offset);
        ByteRange::new(offset, Bytes::new(length).min(left))
    }
}

impl Filesystem for StickFilesystem {
    fn init(&mut self, _request: &fuser::Request, config: &mut KernelConfig) -> io::Result<()> {
        let _nearest = config.set_max_write(Self::request_max(&self.capabilities));
        let _nearest = config.set_max_background(BACKGROUND_MAX);
        // Without it, a queue of direct requests is served one by one. Kernels since 3.13 have it.
        let _missing = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _request: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inode = match name.to_str() {
            Some(FILE_NAME) => STICK,
            Some(CALIBRATION_NAME) => CALIBRATION,
            _ => return reply.error(Errno::ENOENT),
        };
        match self.attributes(inode).filter(|_| parent == INodeNo::ROOT) {
            Some(attributes) => reply.entry(&ATTRIBUTES_LAST, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &fuser::Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&ATTRIBUTES_LAST, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// A disk has no owner, times or size to set: the request succeeds without an effect.
    fn setattr(
        &self,
        request: &fuser::Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.getattr(request, inode, handle, reply);
    }

    fn open(&self, _request: &fuser::Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO
            | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
            | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _request: &fuser::Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let range = self.clip(inode, offset, size.into());
        if range.length.is_zero() {
            return reply.data(&[]);
        }
        self.forward(inode, Operation::Read(range), Reply::Data(reply));
    }

    fn write(
        &self,
        _request: &fuser::Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let range = self.clip(inode, offset, data.len() as u64);
        if range.length.is_zero() {
            return reply.error(Errno::ENOSPC);
        }
        // O_SYNC includes the bit of O_DSYNC (open(2)).
        let flush_after = flags.0 & libc::O_DSYNC != 0;
        let data = Buffer::from(&data[..range.length.to_usize()]);
        self.forward(
            inode,
            Operation::Write { offset: range.offset, data, flush_after },
            Reply::Written(reply),
        );
    }

    fn flush(
        &self,
        _request: &fuser::Request,
        _inode: INodeNo,
        _handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fsync(
        &self,
        _request: &fuser::Request,
        inode: INodeNo,
        _handle: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        self.forward(inode, Operation::Flush, Reply::Done(reply));
    }

    fn readdir(
        &self,
        _request: &fuser::Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if inode != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let directory = FileType::Directory;
        let entries = [
            (INodeNo::ROOT, directory, "."),
            (INodeNo::ROOT, directory, ".."),
            (STICK, FileType::RegularFile, FILE_NAME),
        ];
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for ((inode, kind, name), next) in entries.into_iter().zip(1..).skip(from) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    /// Punching a hole is a discard. All space is allocated, so a request for space inside the file
    /// succeeds. Other modes of fallocate(2) are not supported, as on a disk.
    fn fallocate(
        &self,
        _request: &fuser::Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let range = self.clip(inode, offset, length);
        let block = self.capabilities.logical_block;
        let aligned = range.offset.is_multiple_of(block) && range.length.is_multiple_of(block);
        match mode & !libc::FALLOC_FL_KEEP_SIZE {
            0 if range.length == Bytes::new(length) => reply.ok(),
            0 => reply.error(Errno::ENOSPC),
            libc::FALLOC_FL_PUNCH_HOLE if range.length.is_zero() => reply.ok(),
            libc::FALLOC_FL_PUNCH_HOLE if !self.capabilities.discard => reply.error(Errno::EOPNOTSUPP),
            libc::FALLOC_FL_PUNCH_HOLE if !aligned => reply.error(Errno::EINVAL),
            libc::FALLOC_FL_PUNCH_HOLE => self.forward(inode, Operation::Discard(range), Reply::Done(reply)),
            _ => reply.error(Errno::EOPNOTSUPP),
        }
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Device;
    use flashscope_device::memory::MemoryDevice;

    use super::*;

    #[test]
    fn file_has_the_size_of_the_device_and_takes_as_much_space() {
        let capabilities = MemoryDevice::new(Bytes::mib(34)).capabilities();
        let (serving, _requests) = std::sync::mpsc::channel();
        let filesystem = StickFilesystem::new(capabilities, Clock::start(), serving, SystemTime::UNIX_EPOCH);
        let found = |inode| filesystem.attributes(inode).map(|found| (found.kind, found.size, found.blocks));
        // Space is counted in units of 512 bytes: 2048 of them are 1 MiB.
        assert_eq!(found(STICK), Some((FileType::RegularFile, 34 << 20, 34 * 2048)));
        assert_eq!(found(CALIBRATION), Some((FileType::RegularFile, 64 << 20, 64 * 2048)));
        assert_eq!(found(INodeNo::ROOT), Some((FileType::Directory, 0, 0)));
        assert_eq!(found(INodeNo(4)), None);
    }
}
