//! Waits for disks to appear and vanish. The kernel reports disks over a socket, and mounts by its list of
//! them.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};

use crate::roots::Roots;

/// The kernel's own events; group 2 is udev's.
const KERNEL_EVENTS: u32 = 1;

/// The time without events after which the list is read again. A stick causes about twenty events over more
/// than half a second.
const SETTLE: Duration = Duration::from_millis(400);

/// The longest wait for that, as a multiple of it.
const SETTLE_ROUNDS_MAX: u32 = 10;

/// The longest wait. Without events, in a copy of sysfs, the list is read this often.
const INTERVAL: Duration = Duration::from_millis(1000);

/// Reports when the list should be read again.
#[derive(Debug)]
pub struct Watch {
    events: Option<OwnedFd>,
    mounts: Option<File>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// The disks may have changed.
    Changed,
    /// The time has passed, or a signal arrived.
    TimedOut,
    /// The reader of the results has gone.
    ReaderGone,
}

impl Watch {
    /// Watches the disks in `roots` from now on.
    #[must_use]
    pub fn start(roots: &Roots) -> Self {
        let events = if roots.are_live() { kernel_events().ok() } else { None };
        Self { events, mounts: File::open(&roots.mounts).ok() }
    }

    /// Waits until the disks may have changed, or the reader of `results` has gone. It returns at the
    /// latest after a second, so that the caller can handle signals.
    pub fn wait(&self, results: impl AsFd) -> WakeReason {
        self.poll(results.as_fd()).unwrap_or(WakeReason::TimedOut)
    }

    /// As [`Watch::wait`]; an error means a signal.
    fn poll(&self, results: BorrowedFd<'_>) -> Result<WakeReason, Errno> {
        // Errors and hang-ups are always reported; a change of the mounts is one.
        let mut waiting = vec![PollFd::from_borrowed_fd(results, PollFlags::empty())];
        waiting.extend(self.mounts.as_ref().map(|mounts| PollFd::new(mounts, PollFlags::PRI)));
        waiting.extend(self.events.as_ref().map(|events| PollFd::new(events, PollFlags::IN)));
        let interval = Timespec::try_from(INTERVAL).ok();
        if poll(&mut waiting, interval.as_ref())? == 0 {
            return Ok(if self.events.is_some() { WakeReason::TimedOut } else { WakeReason::Changed });
        }
        if !waiting[0].revents().is_empty() {
            return Ok(WakeReason::ReaderGone);
        }
        self.settle().map(|()| WakeReason::Changed)
    }

    /// Takes events until none arrives for a while.
    fn settle(&self) -> Result<(), Errno> {
        let Some(events) = &self.events else { return Ok(()) };
        let settle_time = Timespec::try_from(SETTLE).ok();
        for _ in 0..SETTLE_ROUNDS_MAX {
            drain(events);
            if poll(&mut [PollFd::new(events, PollFlags::IN)], settle_time.as_ref())? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// Waits for `duration`, or until a signal arrives or the reader of `results` has gone. A signal is
/// [`WakeReason::TimedOut`]; [`WakeReason::Changed`] means that the time has passed.
pub fn wait_at_most(duration: Duration, results: impl AsFd) -> WakeReason {
    let mut waiting = [PollFd::from_borrowed_fd(results.as_fd(), PollFlags::empty())];
    match poll(&mut waiting, Timespec::try_from(duration).ok().as_ref()) {
        Ok(0) => WakeReason::Changed,
        Ok(_) => WakeReason::ReaderGone,
        Err(_) => WakeReason::TimedOut,
    }
}

fn kernel_events() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        flags,
        Some(netlink::KOBJECT_UEVENT),
    )?;
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, KERNEL_EVENTS))?;
    Ok(socket)
}

/// Discards the events, because sysfs has better information. An event that was lost for lack of space is
/// an error once.
fn drain(events: &OwnedFd) {
    let mut event = [0; 8192];
    loop {
        match rustix::net::recv(events, &mut event[..], RecvFlags::empty()) {
            Ok(_) | Err(Errno::NOBUFS | Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
