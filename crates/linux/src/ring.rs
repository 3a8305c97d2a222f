//! Many requests at once: `io_uring`, with the file and the small buffers registered.
//!
//! Unless every request is to go this way, one that is alone when its completion is waited for is made with `pread` or `pwrite`:
//! that costs less, and what the kernel cuts into several commands it hands to a worker thread if it comes through
//! `io_uring`, which shows in how long it takes.
//!
//! All unsafe code of flashscope is here. What makes it sound: memory that the kernel may read or write belongs to a
//! [`Slot`] from before its entry is pushed until its completion is seen; slots never move and are not touched in
//! between; and an engine that is dropped first waits for what is in flight.
//!
//! Nothing that is still queued is handed over once an error was reported or the engine is dropped: a write that the
//! caller believes failed must not happen later.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::{fmt, io, mem};

use flashscope_device::{Completion, DeviceError, Instant, Op, Tag};
use io_uring::{EnterFlags, IoUring, Probe, cqueue};
use rustix::io::Errno;

use crate::slot::Slot;
use crate::target::Target;

/// Requests are handed to the kernel once more than one in so many of the queue has gathered. Gathering more would save calls, and
/// leave the device with less in its queue than was asked for: handing over may take as long as the device takes for a request,
/// so that as many have completed by then, and ever the same half of the queue is under way.
const GATHERED_OF_QUEUE: usize = 8;

/// Serves as many requests at once as it has slots.
pub struct RingEngine {
    ring: IoUring,
    slots: Box<[Slot]>,
    free: Vec<usize>,
    /// Not yet handed to the kernel, oldest first.
    queued: VecDeque<usize>,
    /// So many of them, the oldest, are in the ring.
    pushed: usize,
    /// Completed, and not yet collected.
    ready: VecDeque<Ready>,
    refused: VecDeque<Completion>,
    has_registered_memory: bool,
    /// Whether a request that is alone is made with a system call of its own.
    calls_alone: bool,
    /// The error that ended all work.
    failure: Option<DeviceError>,
    /// The kernel takes requests from the thread that set the ring up, and from no other.
    stays_in_thread: PhantomData<*const ()>,
}

/// What the kernel said of the request in a slot.
struct Ready {
    slot: usize,
    result: i32,
    completed_at: Instant,
}

impl fmt::Debug for RingEngine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RingEngine of {} slots, {} free", self.slots.len(), self.free.len())
    }
}

impl RingEngine {
    /// An engine for `target` that takes `queue_depth` requests.
    pub fn new(target: &Target, queue_depth: u32, calls_alone: bool) -> Result<Self, Errno> {
        let ring = set_up(queue_depth).map_err(|error| errno_of(&error))?;
        let mut engine = Self::over(ring, target, queue_depth)?;
        engine.calls_alone = calls_alone;
        Ok(engine)
    }

    fn over(ring: IoUring, target: &Target, queue_depth: u32) -> Result<Self, Errno> {
        let register_file = ring.submitter().register_files(&[target.file.as_raw_fd()]);
        register_file.map_err(|error| errno_of(&error))?;
        let depth = queue_depth as usize;
        let mut engine = Self {
            ring,
            slots: (0..depth).map(|_| Slot::new()).collect(),
            free: (0..depth).rev().collect(),
            queued: VecDeque::with_capacity(depth),
            pushed: 0,
            ready: VecDeque::with_capacity(depth),
            refused: VecDeque::new(),
            has_registered_memory: false,
            calls_alone: false,
            failure: None,
            stays_in_thread: PhantomData,
        };
        engine.has_registered_memory = engine.register_memory();
        Ok(engine)
    }

    /// Pins the slots' small buffers; false where the limit on locked memory forbids it.
    fn register_memory(&mut self) -> bool {
        let buffers: Vec<libc::iovec> = self.slots.iter_mut().map(Slot::small_memory).collect();
        // SAFETY: the small buffers are never replaced, and live as long as the ring, which is in the same struct and
        // drained before either is dropped.
        unsafe { self.ring.submitter().register_buffers(&buffers) }.is_ok()
    }

    /// Takes a request. It is handed to the kernel once more than an eighth of a queue has gathered, or by the
    /// next wait.
    pub fn submit(&mut self, target: &Target, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.go_on()?;
        if let Err(refusal) = target.capabilities.admit(&op) {
            self.refused.push_back(target.refused(tag, op, refusal));
            return Ok(());
        }
        let queue_depth = target.capabilities.queue_depth;
        let index = self.free.pop().ok_or(DeviceError::QueueFull { queue_depth })?;
        self.slots[index].fill(tag, op);
        self.queued.push_back(index);
        if !self.is_alone() && self.queued.len() * GATHERED_OF_QUEUE > self.slots.len() {
            self.enter(target, 0)?;
        }
        Ok(())
    }

    /// Whether one request is all that there is to do, and needs no ring.
    fn is_alone(&self) -> bool {
        self.calls_alone
            && self.queued.len() == 1
            && self.pushed == 0
            && self.free.len() + 1 == self.slots.len()
    }

    /// The next completion.
    pub fn wait(&mut self, target: &Target) -> Result<Option<Completion>, DeviceError> {
        self.go_on()?;
        if let Some(refused) = self.refused.pop_front() {
            return Ok(Some(refused));
        }
        if self.is_alone()
            && let Some(slot) = self.queued.pop_front()
        {
            self.free.push(slot);
            return self.slots[slot].serve(target).map(Some).map_err(|failure| self.fail(failure));
        }
        self.collect(target);
        while self.ready.is_empty() {
            if self.free.len() == self.slots.len() {
                return Ok(None);
            }
            self.enter(target, 1)?;
            self.collect(target);
        }
        self.ready.pop_front().map(|ready| self.finish(target, ready)).transpose()
    }

    /// Hands what is queued to the kernel, all with one time stamp, and waits for `wanted` completions. What the kernel
    /// leaves in the ring stays queued, and is stamped anew when it is handed over again.
    fn enter(&mut self, target: &Target, wanted: usize) -> Result<(), DeviceError> {
        let now = target.now();
        for index in &self.queued {
            self.slots[*index].submitted_at = now;
        }
        for index in self.queued.iter().skip(self.pushed) {
            let entry = self.slots[*index].entry(*index, self.has_registered_memory);
            // SAFETY: what the entry points to belongs to the slot, which is left alone until its completion.
            if unsafe { self.ring.submission().push(&entry) }.is_err() {
                break;
            }
            self.pushed += 1;
        }
        let entered = self.ring.submit_and_wait(wanted);
        let left = self.ring.submission().len();
        self.queued.drain(..self.pushed - left);
        self.pushed = left;
        match entered.map_err(|error| errno_of(&error)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            // "Wait for some completions and try again" (io_uring_enter(2)): submit need not wait, and wait tries again.
            Err(Errno::AGAIN | Errno::BUSY) if wanted == 0 => Ok(()),
            Err(Errno::AGAIN | Errno::BUSY) if self.in_flight() > 0 => {
                self.await_completion().map_err(|errno| self.fail(system(errno)))
            }
            Err(errno) => Err(self.fail(system(errno))),
        }
    }

    /// Waits until a completion can be collected, and hands nothing over.
    fn await_completion(&self) -> Result<(), Errno> {
        let (wanted, flags) = (1, EnterFlags::GETEVENTS.bits());
        // SAFETY: no argument is passed, so the kernel reads no memory but the rings.
        let waited = unsafe { self.ring.submitter().enter::<libc::sigset_t>(0, wanted, flags, None) };
        match waited.map_err(|error| errno_of(&error)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// How many requests the kernel has, or has completed uncollected.
    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len() - self.queued.len() - self.ready.len()
    }

    /// The end of all work.
    fn fail(&mut self, failure: DeviceError) -> DeviceError {
        self.failure.insert(failure).clone()
    }

    /// Refuses to work on after an error.
    fn go_on(&self) -> Result<(), DeviceError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Stamps what the kernel has completed since the last look.
    fn collect(&mut self, target: &Target) {
        let mut completions = self.ring.completion();
        if completions.is_empty() {
            return;
        }
        let completed_at = target.now();
        self.ready.extend(completions.by_ref().map(|completion| Ready {
            slot: slot_of(&completion),
            result: completion.result(),
            completed_at,
        }));
    }

    fn finish(&mut self, target: &Target, ready: Ready) -> Result<Completion, DeviceError> {
        self.free.push(ready.slot);
        let finished = self.slots[ready.slot].finish(target, ready.result, ready.completed_at);
        finished.map_err(|failure| self.fail(failure))
    }
}

impl Drop for RingEngine {
    /// Waits for what is in flight: the kernel writes into memory that goes away with this.
    fn drop(&mut self) {
        let mut in_flight = self.in_flight();
        while in_flight > 0 {
            if self.await_completion().is_err() {
                // It cannot be waited for, so its memory must stay for good.
                return mem::forget(mem::take(&mut self.slots));
            }
            in_flight -= self.ring.completion().count();
        }
        // The kernel closes a ring in its own time, and would keep the target open, and claimed, until then.
        let _ = self.ring.submitter().unregister_files();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the index that was put into the entry")]
fn slot_of(completion: &cqueue::Entry) -> usize {
    completion.user_data() as usize
}

/// The rings themselves. Since Linux 6.1 whoever waits runs completions itself, and is woken for what it waits for alone: on a disk
/// that answers at its leisure that halves the time a request costs, and makes it the same every time. Kernels before 5.19 do
/// not know the next best either; those before 5.6 know too little and are refused by the probe.
fn set_up(queue_depth: u32) -> io::Result<IoUring> {
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(queue_depth)
        .or_else(|_| IoUring::builder().setup_coop_taskrun().build(queue_depth))
        .or_else(|_| IoUring::builder().build(queue_depth))?;
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    Ok(ring)
}

fn system(errno: Errno) -> DeviceError {
    DeviceError::System { during: "io_uring".to_owned(), errno: errno.raw_os_error() }
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, Bytes, Capabilities};

    use super::*;
    use crate::clock::Clock;
    use crate::target::TargetKind;

    #[test]
    fn requests_that_find_no_room_in_the_ring_are_handed_over_later() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(Bytes::mib(1).get()).unwrap();
        let capabilities = Capabilities {
            capacity: Bytes::mib(1),
            logical_block: Bytes::kib(4),
            physical_block: Bytes::kib(4),
            max_request: Bytes::mib(1),
            queue_depth: 16,
            writable: false,
            discard: false,
        };
        let kind = TargetKind::File;
        let target =
            Target { file: file.into(), capabilities, kind, is_buffered: true, clock: Clock::start() };
        let read = || Op::read(ByteRange::new(Bytes::ZERO, Bytes::kib(4)));
        // Sixteen slots, and room for one entry.
        let mut engine = RingEngine::over(set_up(1).unwrap(), &target, 16).unwrap();
        for tag in 0..3 {
            engine.submit(&target, Tag(tag), read()).unwrap();
        }
        let served: Vec<Tag> =
            std::iter::from_fn(|| engine.wait(&target).unwrap()).map(|completion| completion.tag).collect();
        assert_eq!(served, [Tag(0), Tag(1), Tag(2)]);
    }
}
