//! An open file descriptor, and the properties of the storage behind it.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::time::Duration;

use flashscope_device::{
    ByteRange, Bytes, Capabilities, Completion, DeviceError, FailureCause, Instant, Op, RequestError, Tag,
};
use rustix::fs::{Advice, FallocateFlags, SeekFrom};
use rustix::io::Errno;

use crate::clock::Clock;
use crate::failure::{Failure, cause, means_full, means_gone};

/// The kind of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A block device: a whole disk or a partition.
    Disk,
    /// An image file.
    File,
}

/// The open target of all requests, with its clock.
#[derive(Debug)]
pub struct Target {
    /// The descriptor.
    pub file: OwnedFd,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Its kind.
    pub kind: TargetKind,
    /// Whether requests pass through the page cache.
    pub is_buffered: bool,
    /// Its clock.
    pub clock: Clock,
}

impl Target {
    /// The time on its clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Makes `call` with `payload`, of which `done` bytes are already transferred, and returns when it is
    /// complete. An incomplete block is transferred again, because direct I/O continues at whole blocks
    /// only.
    pub fn transfer(&self, call: SystemCall, payload: &mut [u8], done: usize) -> Result<(), Failure> {
        let done = self.whole_blocks(done);
        match call {
            SystemCall::Read { offset } => self.read(offset, payload, done),
            SystemCall::Write { offset } => self.write(offset, payload, done),
            SystemCall::Flush => rustix::fs::fdatasync(&self.file).map_err(Failure::Errno),
            SystemCall::Discard { range } => self.discard(range),
            SystemCall::Pause { duration } => {
                Clock::sleep(duration);
                Ok(())
            }
        }
    }

    fn read(&self, offset: u64, payload: &mut [u8], mut done: usize) -> Result<(), Failure> {
        while done < payload.len() {
            let read = rustix::io::pread(&self.file, &mut payload[done..], offset + done as u64);
            if let ControlFlow::Break(failure) = self.advance(&mut done, read) {
                return Err(failure);
            }
        }
        Ok(())
    }

    fn write(&self, offset: u64, payload: &[u8], mut done: usize) -> Result<(), Failure> {
        while done < payload.len() {
            let written = rustix::io::pwrite(&self.file, &payload[done..], offset + done as u64);
            if let ControlFlow::Break(failure) = self.advance(&mut done, written) {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Adds the whole blocks that one call transferred. An interrupted call is repeated. A call without a
    /// whole block ends the transfer.
    fn advance(&self, done: &mut usize, transferred: Result<usize, Errno>) -> ControlFlow<Failure> {
        match transferred.map(|bytes| self.whole_blocks(bytes)) {
            Ok(0) => return ControlFlow::Break(Failure::Short),
            Ok(bytes) => *done += bytes,
            Err(Errno::INTR) => {}
            Err(errno) => return ControlFlow::Break(Failure::Errno(errno)),
        }
        ControlFlow::Continue(())
    }

    fn whole_blocks(&self, bytes: usize) -> usize {
        Bytes::new(bytes as u64).round_down(self.capabilities.logical_block).to_usize()
    }

    fn discard(&self, range: ByteRange) -> Result<(), Failure> {
        let (offset, length) = (range.offset.get(), range.length.get());
        rustix::fs::fallocate(&self.file, punch_hole(), offset, length).map_err(Failure::Errno)
    }

    /// Drops the range of `op` from the page cache, so that its next read reaches the storage. Direct I/O
    /// caches nothing.
    pub fn forget(&self, op: &Op) {
        if let Some(range) = op.range().filter(|_| self.is_buffered) {
            // Advice only: Remark::Buffered notes that the kernel may keep the pages.
            let length = NonZeroU64::new(range.length.get());
            let _ = rustix::fs::fadvise(&self.file, range.offset.get(), length, Advice::DontNeed);
        }
    }

    /// The completion of a request that cannot be served, with its buffer.
    pub fn refused(&self, tag: Tag, op: Op, refusal: RequestError) -> Completion {
        let now = self.now();
        Completion::new(tag, (now, now), Err(refusal), op.into_buffer())
    }

    /// The meaning of a failed transfer: this request's error, or the loss of the device.
    pub fn error(&self, op: &Op, failure: Failure) -> Result<RequestError, DeviceError> {
        let size = self.size();
        let is_gone = matches!(failure, Failure::Errno(errno) if means_gone(errno))
            || (self.kind == TargetKind::Disk && size.is_some_and(Bytes::is_zero));
        if is_gone {
            return Err(DeviceError::Gone { during: op.kind().to_string() });
        }
        let cause = match failure {
            Failure::Errno(errno) if means_full(errno) && self.kind == TargetKind::File => {
                return Err(DeviceError::NoSpace { during: op.kind().to_string() });
            }
            Failure::Errno(errno) => cause(errno),
            Failure::Short => {
                FailureCause::OutOfRange { capacity: size.unwrap_or(self.capabilities.capacity) }
            }
        };
        Ok(RequestError::new(op.kind(), op.range(), cause))
    }

    /// The current size; an unplugged disk has none.
    fn size(&self) -> Option<Bytes> {
        rustix::fs::seek(&self.file, SeekFrom::End(0)).ok().map(Bytes::new)
    }
}

/// A request without its payload, which is passed beside it.
#[derive(Debug, Clone, Copy)]
pub enum SystemCall {
    /// Read from this offset.
    Read {
        /// In bytes.
        offset: u64,
    },
    /// Write from this offset.
    Write {
        /// In bytes.
        offset: u64,
    },
    /// Make all writes durable.
    Flush,
    /// Discard this range.
    Discard {
        /// The range.
        range: ByteRange,
    },
    /// Let time pass.
    Pause {
        /// How long.
        duration: Duration,
    },
}

impl From<&Op> for SystemCall {
    fn from(op: &Op) -> Self {
        match op {
            Op::Read { range, .. } => Self::Read { offset: range.offset.get() },
            Op::Write { range, .. } => Self::Write { offset: range.offset.get() },
            Op::Flush => Self::Flush,
            Op::Discard { range } => Self::Discard { range: *range },
            Op::Pause { duration } => Self::Pause { duration: *duration },
        }
    }
}

/// The fallocate mode of a discard: the blocks are freed, the size stays.
pub const fn punch_hole() -> FallocateFlags {
    FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE)
}

#[cfg(test)]
mod tests {
    use flashscope_device::Buffer;
    use rustix::fs::{Mode, OFlags};

    use super::*;

    /// A block that direct I/O takes on every filesystem.
    const BLOCK: Bytes = Bytes::kib(4);

    /// Four blocks of ones, for direct I/O where the filesystem takes it.
    fn target() -> Target {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [1; 16384]).unwrap();
        let open = |flags| rustix::fs::open(file.path(), OFlags::RDWR | flags, Mode::empty());
        let capabilities = Capabilities {
            capacity: BLOCK * 4,
            logical_block: BLOCK,
            physical_block: BLOCK,
            max_request: Bytes::mib(1),
            queue_depth: 1,
            writable: true,
            discard: false,
        };
        let file = open(OFlags::DIRECT).or_else(|_| open(OFlags::empty())).unwrap();
        Target { file, capabilities, kind: TargetKind::File, is_buffered: false, clock: Clock::start() }
    }

    /// A filesystem that writes data elsewhere needs space; the device is not to blame.
    #[test]
    fn no_space_is_no_failed_request() {
        let target = target();
        let write = || Op::write(ByteRange::new(Bytes::ZERO, BLOCK), flashscope_device::Pattern::new(1));
        for errno in [Errno::NOSPC, Errno::DQUOT] {
            let ended = target.error(&write(), Failure::Errno(errno));
            assert!(matches!(ended, Err(DeviceError::NoSpace { .. })), "{ended:?}");
        }
        let failed = target.error(&write(), Failure::Errno(Errno::IO)).unwrap();
        assert_eq!(failed.cause, FailureCause::Medium);
    }

    #[test]
    fn interrupted_transfer_continues_at_the_start_of_the_incomplete_block() {
        let target = target();
        let mut payload = Buffer::zeroed(BLOCK * 4);
        assert_eq!(target.transfer(SystemCall::Read { offset: 0 }, &mut payload, 4800), Ok(()));
        assert!(payload[..4096].iter().all(|byte| *byte == 0), "the first block was already transferred");
        assert!(payload[4096..].iter().all(|byte| *byte == 1));
        payload.fill(2);
        assert_eq!(target.transfer(SystemCall::Write { offset: 0 }, &mut payload, 8193), Ok(()));
        assert_eq!(target.transfer(SystemCall::Read { offset: 0 }, &mut payload, 0), Ok(()));
        assert!(
            payload[..8192].iter().all(|byte| *byte == 1),
            "the first two blocks were already transferred"
        );
        assert!(payload[8192..].iter().all(|byte| *byte == 2));
    }

    #[test]
    fn call_without_a_whole_block_ends_the_transfer() {
        let (target, mut done) = (target(), 4096);
        assert_eq!(target.advance(&mut done, Ok(4096 + 700)), ControlFlow::Continue(()));
        assert_eq!(target.advance(&mut done, Err(Errno::INTR)), ControlFlow::Continue(()));
        for nothing in [0, 700] {
            assert_eq!(target.advance(&mut done, Ok(nothing)), ControlFlow::Break(Failure::Short));
        }
        assert_eq!(done, 8192);
    }
}
