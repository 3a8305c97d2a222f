//! One request in flight: its submission entry, its memory, and the decoding of the kernel's result.

use flashscope_device::{ByteRange, Bytes, Completion, DeviceError, Instant, Op, Tag};
use io_uring::{opcode, squeue, types};
use rustix::io::Errno;

use crate::failure::Failure;
use crate::scratch::{Scratch, uses_scratch};
use crate::target::{SystemCall, Target, punch_hole};

/// Requests up to this size use registered memory. Above it, pinning pages is a small part of the cost.
const REGISTERED: Bytes = Bytes::kib(64);

/// The target's index among the registered files.
const FILE: types::Fixed = types::Fixed(0);

/// One request in flight, with the memory it uses.
#[derive(Debug, Default)]
pub struct Slot {
    request: Option<(Tag, Op)>,
    /// When the kernel received it.
    pub submitted_at: Instant,
    small: Scratch,
    large: Scratch,
    pause: types::Timespec,
}

impl Slot {
    /// An empty slot.
    pub fn new() -> Self {
        Self { small: Scratch::of(REGISTERED), ..Self::default() }
    }

    /// The memory to register. It is never replaced.
    pub fn small_memory(&mut self) -> libc::iovec {
        let memory = self.small.whole();
        libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() }
    }

    /// Stores a request in the slot.
    pub fn fill(&mut self, tag: Tag, op: Op) {
        self.scratch(&op).prepare(&op);
        self.request = Some((tag, op));
    }

    /// The submission entry of the stored request.
    pub fn entry(&mut self, index: usize, has_registered_memory: bool) -> squeue::Entry {
        let Some((_, op)) = &mut self.request else { return opcode::Nop::new().build() };
        let is_registered = has_registered_memory && uses_scratch(op) && is_small(op);
        let scratch = if is_small(op) { &mut self.small } else { &mut self.large };
        let call = SystemCall::from(&*op);
        let entry = match call {
            SystemCall::Read { offset } if is_registered => {
                read_registered(scratch.payload(op), offset, index)
            }
            SystemCall::Write { offset } if is_registered => {
                write_registered(scratch.payload(op), offset, index)
            }
            SystemCall::Read { offset } => read(scratch.payload(op), offset),
            SystemCall::Write { offset } => write(scratch.payload(op), offset),
            SystemCall::Flush => opcode::Fsync::new(FILE).flags(types::FsyncFlags::DATASYNC).build(),
            SystemCall::Discard { range } => discard(range),
            SystemCall::Pause { duration } => {
                self.pause = duration.into();
                opcode::Timeout::new(&raw const self.pause).build()
            }
        };
        entry.user_data(index as u64)
    }

    /// Serves the stored request with a system call and empties the slot. Only the call lies between the
    /// two time stamps.
    pub fn serve(&mut self, target: &Target) -> Result<Completion, DeviceError> {
        self.end(target, |slot, op| {
            let call = SystemCall::from(&*op);
            let payload = slot.scratch(op).payload(op);
            let submitted_at = target.now();
            let transferred = target.transfer(call, payload, 0);
            let completed_at = target.now();
            slot.submitted_at = submitted_at;
            (transferred, completed_at)
        })
    }

    /// Completes the stored request with the kernel's result and empties the slot.
    pub fn finish(
        &mut self,
        target: &Target,
        result: i32,
        completed_at: Instant,
    ) -> Result<Completion, DeviceError> {
        self.end(target, |slot, op| slot.complete(target, op, result, completed_at))
    }

    /// Empties the slot; `transfer` completes the request.
    fn end(
        &mut self,
        target: &Target,
        transfer: impl FnOnce(&mut Self, &mut Op) -> (Result<(), Failure>, Instant),
    ) -> Result<Completion, DeviceError> {
        let Some((tag, mut op)) = self.request.take() else {
            return Err(DeviceError::System {
                during: "io_uring".to_owned(),
                errno: Errno::BADF.raw_os_error(),
            });
        };
        let (transferred, completed_at) = transfer(self, &mut op);
        target.forget(&op);
        let outcome = match transferred {
            Ok(()) => Ok(self.scratch(&op).verdict(&op)),
            Err(failure) => Err(target.error(&op, failure)?),
        };
        Ok(Completion::new(tag, (self.submitted_at, completed_at), outcome, op.into_buffer()))
    }

    /// Decodes the kernel's result. A transfer that stopped early is completed here, and time-stamped then.
    fn complete(
        &mut self,
        target: &Target,
        op: &mut Op,
        result: i32,
        completed_at: Instant,
    ) -> (Result<(), Failure>, Instant) {
        let call = SystemCall::from(&*op);
        let payload = self.scratch(op).payload(op);
        let done = match answer(call, result) {
            Ok(done) if done >= payload.len() => return (Ok(()), completed_at),
            Ok(done) => done,
            Err(Errno::INTR | Errno::AGAIN) => 0,
            Err(errno) => return (Err(Failure::Errno(errno)), completed_at),
        };
        (target.transfer(call, payload, done), target.now())
    }

    fn scratch(&mut self, op: &Op) -> &mut Scratch {
        if is_small(op) { &mut self.small } else { &mut self.large }
    }
}

fn is_small(op: &Op) -> bool {
    op.range().is_none_or(|range| range.length <= REGISTERED)
}

/// How many bytes the kernel transferred. For a pause, an expired timer is success.
fn answer(call: SystemCall, result: i32) -> Result<usize, Errno> {
    match usize::try_from(result) {
        Ok(bytes) => Ok(bytes),
        Err(_) if matches!(call, SystemCall::Pause { .. }) && -result == Errno::TIME.raw_os_error() => Ok(0),
        Err(_) => Err(Errno::from_raw_os_error(-result)),
    }
}

fn read(payload: &mut [u8], offset: u64) -> squeue::Entry {
    opcode::Read::new(FILE, payload.as_mut_ptr(), length(payload)).offset(offset).build()
}

fn write(payload: &mut [u8], offset: u64) -> squeue::Entry {
    opcode::Write::new(FILE, payload.as_ptr(), length(payload)).offset(offset).build()
}

fn read_registered(payload: &mut [u8], offset: u64, buffer: usize) -> squeue::Entry {
    let (pointer, length) = (payload.as_mut_ptr(), length(payload));
    opcode::ReadFixed::new(FILE, pointer, length, number(buffer)).offset(offset).build()
}

fn write_registered(payload: &mut [u8], offset: u64, buffer: usize) -> squeue::Entry {
    let (pointer, length) = (payload.as_ptr(), length(payload));
    opcode::WriteFixed::new(FILE, pointer, length, number(buffer)).offset(offset).build()
}

fn discard(range: ByteRange) -> squeue::Entry {
    let mode = punch_hole().bits().cast_signed();
    opcode::Fallocate::new(FILE, range.length.get()).offset(range.offset.get()).mode(mode).build()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a request is at most 64 MiB (Capabilities::max_request)"
)]
const fn length(payload: &[u8]) -> u32 {
    payload.len() as u32
}

#[expect(clippy::cast_possible_truncation, reason = "there are at most 1024 slots")]
const fn number(slot: usize) -> u16 {
    slot as u16
}
