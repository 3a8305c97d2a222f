//! The `io_uring` engine for many requests at once, with the file and the small buffers registered.
//!
//! With [`Engine::Best`](crate::Engine::Best), a single request is made with `pread` or `pwrite`. That
//! costs less, and `io_uring` would hand a request that the kernel splits to a worker thread, which adds to
//! its latency.
//!
//! The soundness of the unsafe code rests on three rules. Memory that the kernel may access belongs to a
//! [`Slot`] from before its entry is pushed until its completion is seen. Slots never move and are not
//! touched in between. A dropped engine first waits for all requests in flight.
//!
//! After an error, or when the engine is dropped, queued requests are never submitted. A write that the
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

/// Requests are submitted in batches of more than one eighth of the queue. Larger batches would save system
/// calls but keep the device's queue emptier than requested: submitting can take as long as the device
/// needs for a request, so half of the queue would always be idle.
const BATCHES_PER_QUEUE: usize = 8;

/// Serves as many requests at once as it has slots.
pub struct RingEngine {
    ring: IoUring,
    slots: Box<[Slot]>,
    free: Vec<usize>,
    /// Not yet submitted to the kernel, oldest first.
    queued: VecDeque<usize>,
    /// How many of the queued requests, the oldest, are in the ring.
    pushed: usize,
    /// Completed, and not yet collected.
    ready: VecDeque<Ready>,
    refused: VecDeque<Completion>,
    has_registered_memory: bool,
    /// Whether a single request is made with a system call instead.
    uses_syscall_alone: bool,
    /// The error that ended all work.
    failure: Option<DeviceError>,
    /// Makes the engine `!Send`: the kernel takes requests only from the thread that set the ring up.
    not_send: PhantomData<*const ()>,
}

/// The kernel's result for the request in a slot.
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
    /// An engine for `target` with this queue depth.
    pub fn new(target: &Target, queue_depth: u32, uses_syscall_alone: bool) -> Result<Self, Errno> {
        let ring = set_up(queue_depth).map_err(|error| errno_of(&error))?;
        let mut engine = Self::with_ring(ring, target, queue_depth)?;
        engine.uses_syscall_alone = uses_syscall_alone;
        Ok(engine)
    }

    fn with_ring(ring: IoUring, target: &Target, queue_depth: u32) -> Result<Self, Errno> {
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
            uses_syscall_alone: false,
            failure: None,
            not_send: PhantomData,
        };
        engine.has_registered_memory = engine.register_memory();
        Ok(engine)
    }

    /// Registers the slots' small buffers; false where the limit on locked memory forbids it.
    fn register_memory(&mut self) -> bool {
        let buffers: Vec<libc::iovec> = self.slots.iter_mut().map(Slot::small_memory).collect();
        // SAFETY: the small buffers are never replaced, and live as long as the ring, which is in the same
        // struct and drained before either is dropped.
        unsafe { self.ring.submitter().register_buffers(&buffers) }.is_ok()
    }

    /// Takes a request. It is submitted when the batch exceeds an eighth of the queue, or by the next wait.
    pub fn submit(&mut self, target: &Target, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.check_failure()?;
        if let Err(refusal) = target.capabilities.admit(&op) {
            self.refused.push_back(target.refused(tag, op, refusal));
            return Ok(());
        }
        let queue_depth = target.capabilities.queue_depth;
        let index = self.free.pop().ok_or(DeviceError::QueueFull { queue_depth })?;
        self.slots[index].fill(tag, op);
        self.queued.push_back(index);
        if !self.is_alone() && self.queued.len() * BATCHES_PER_QUEUE > self.slots.len() {
            self.enter(target, 0)?;
        }
        Ok(())
    }

    /// Whether exactly one request is queued and none is in flight, so that no ring is needed.
    fn is_alone(&self) -> bool {
        self.uses_syscall_alone
            && self.queued.len() == 1
            && self.pushed == 0
            && self.free.len() + 1 == self.slots.len()
    }

    /// The next completion.
    pub fn wait(&mut self, target: &Target) -> Result<Option<Completion>, DeviceError> {
        self.check_failure()?;
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

    /// Submits the queued requests, all with one time stamp, and waits for `wanted` completions. Requests
    /// that the kernel leaves in the ring stay queued, and get a new time stamp when they are submitted
    /// again.
    fn enter(&mut self, target: &Target, wanted: usize) -> Result<(), DeviceError> {
        let now = target.now();
        for index in &self.queued {
            self.slots[*index].submitted_at = now;
        }
        for index in self.queued.iter().skip(self.pushed) {
            let entry = self.slots[*index].entry(*index, self.has_registered_memory);
            // SAFETY: the memory of the entry belongs to the slot, which is not touched until its
            // completion.
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
            // "Wait for some completions and try again" (io_uring_enter(2)): submit need not wait, and wait
            // tries again.
            Err(Errno::AGAIN | Errno::BUSY) if wanted == 0 => Ok(()),
            Err(Errno::AGAIN | Errno::BUSY) if self.in_flight() > 0 => {
                self.await_completion().map_err(|errno| self.fail(system(errno)))
            }
            Err(errno) => Err(self.fail(system(errno))),
        }
    }

    /// Waits until a completion can be collected, and submits nothing.
    fn await_completion(&self) -> Result<(), Errno> {
        let (wanted, flags) = (1, EnterFlags::GETEVENTS.bits());
        // SAFETY: no argument is passed, so the kernel reads no memory but the rings.
        let waited = unsafe { self.ring.submitter().enter::<libc::sigset_t>(0, wanted, flags, None) };
        match waited.map_err(|error| errno_of(&error)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// How many requests the kernel has, or has completed and are not collected.
    fn in_flight(&self) -> usize {
        self.checked_in_flight().unwrap_or_default()
    }

    /// The same; `None` if a slot was counted twice.
    fn checked_in_flight(&self) -> Option<usize> {
        let elsewhere = [self.free.len(), self.queued.len(), self.ready.len()];
        elsewhere.into_iter().try_fold(self.slots.len(), usize::checked_sub)
    }

    /// Waits for the requests in flight. Fails if they cannot be waited for or counted.
    fn drain(&mut self) -> Result<(), Errno> {
        let mut in_flight = self.checked_in_flight().ok_or(Errno::OVERFLOW)?;
        while in_flight > 0 {
            self.await_completion()?;
            let completed = self.ring.completion().count();
            in_flight = in_flight.checked_sub(completed).ok_or(Errno::OVERFLOW)?;
        }
        Ok(())
    }

    /// Records the error that ends all work.
    fn fail(&mut self, failure: DeviceError) -> DeviceError {
        self.failure.insert(failure).clone()
    }

    /// The recorded error, if there is one.
    fn check_failure(&self) -> Result<(), DeviceError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Collects and time-stamps the new completions.
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
    /// Waits for the requests in flight, because the kernel writes into memory that this frees. Nothing here
    /// may panic: unwinding would free that memory.
    fn drop(&mut self) {
        if self.drain().is_err() {
            // Requests may still be in flight, so their memory is leaked.
            return mem::forget(mem::take(&mut self.slots));
        }
        // The kernel closes a ring asynchronously, and would keep the target open and claimed until then.
        let _ = self.ring.submitter().unregister_files();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the index that was put into the entry")]
fn slot_of(completion: &cqueue::Entry) -> usize {
    completion.user_data() as usize
}

/// Sets up the ring. Since Linux 6.1 the waiting thread runs completions itself and is woken only for its
/// own (DEFER_TASKRUN); that halves the overhead of a request and makes it constant. Kernels before 5.19
/// lack COOP_TASKRUN too. Those before 5.6 are refused by the probe.
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

    /// A file of 1 MiB, with a queue depth of 16.
    fn target() -> Target {
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
        Target { file: file.into(), capabilities, kind, is_buffered: true, clock: Clock::start() }
    }

    fn read() -> Op {
        Op::read(ByteRange::new(Bytes::ZERO, Bytes::kib(4)))
    }

    /// A queue that is filled with one request after another would measure no queue.
    #[test]
    fn requests_of_a_batch_are_in_flight_together() {
        let target = target();
        let mut engine = RingEngine::new(&target, 16, true).unwrap();
        // Three are more than an eighth of the queue.
        for tag in 0..3 {
            engine.submit(&target, Tag(tag), read()).unwrap();
        }
        let served: Vec<Completion> = std::iter::from_fn(|| engine.wait(&target).unwrap()).collect();
        assert_eq!(served.len(), 3);
        for completion in &served {
            assert_eq!(completion.submitted_at, served[0].submitted_at, "{:?}", completion.tag);
        }
    }

    #[test]
    fn requests_without_space_in_the_ring_are_submitted_later() {
        let target = target();
        // Sixteen slots, and space for one entry.
        let mut engine = RingEngine::with_ring(set_up(1).unwrap(), &target, 16).unwrap();
        for tag in 0..3 {
            engine.submit(&target, Tag(tag), read()).unwrap();
        }
        let served: Vec<Tag> =
            std::iter::from_fn(|| engine.wait(&target).unwrap()).map(|completion| completion.tag).collect();
        assert_eq!(served, [Tag(0), Tag(1), Tag(2)]);
    }
}
