//! Waiting for disks to come and go: the kernel tells over a socket, and of mounts by its list of them.

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

/// A stick makes some twenty events, over half a second and more; the list is worth reading when so long none has come.
const QUIET: Duration = Duration::from_millis(400);

/// But no longer than so many times that.
const QUIETS_MAX: u32 = 10;

/// So long a wait takes at most. Where nobody tells, in a copy of sysfs, the list is read as often.
const INTERVAL: Duration = Duration::from_millis(1000);

/// Tells when it is worth reading the list again.
#[derive(Debug)]
pub struct Watch {
    events: Option<OwnedFd>,
    mounts: Option<File>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Something may have changed.
    Look,
    /// Some time has passed, or a signal came.
    Nothing,
    /// Whoever read the results has gone.
    Alone,
}

impl Watch {
    /// Of the disks in `roots`, from now on.
    #[must_use]
    pub fn start(roots: &Roots) -> Self {
        let events = if roots.are_live() { kernel_events().ok() } else { None };
        Self { events, mounts: File::open(&roots.mounts).ok() }
    }

    /// Waits until something may have changed, or nobody is left to read from `results`; or for a while, so that the caller
    /// can see to signals.
    pub fn wait(&self, results: impl AsFd) -> Woken {
        self.poll(results.as_fd()).unwrap_or(Woken::Nothing)
    }

    /// An error is an interruption.
    fn poll(&self, results: BorrowedFd<'_>) -> Result<Woken, Errno> {
        // Errors and hang-ups are reported unasked; a change of the mounts is one.
        let mut waiting = vec![PollFd::from_borrowed_fd(results, PollFlags::empty())];
        waiting.extend(self.mounts.as_ref().map(|mounts| PollFd::new(mounts, PollFlags::PRI)));
        waiting.extend(self.events.as_ref().map(|events| PollFd::new(events, PollFlags::IN)));
        let interval = Timespec::try_from(INTERVAL).ok();
        if poll(&mut waiting, interval.as_ref())? == 0 {
            return Ok(if self.events.is_some() { Woken::Nothing } else { Woken::Look });
        }
        if !waiting[0].revents().is_empty() {
            return Ok(Woken::Alone);
        }
        self.settle().map(|()| Woken::Look)
    }

    /// Takes events until none has come for a while.
    fn settle(&self) -> Result<(), Errno> {
        let Some(events) = &self.events else { return Ok(()) };
        let quiet = Timespec::try_from(QUIET).ok();
        for _ in 0..QUIETS_MAX {
            drain(events);
            if poll(&mut [PollFd::new(events, PollFlags::IN)], quiet.as_ref())? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// Waits for `duration`, or less if a signal comes or nobody is left to read from `results`. An interruption is
/// [`Woken::Nothing`]; [`Woken::Look`] means that the time has passed.
pub fn wait_at_most(duration: Duration, results: impl AsFd) -> Woken {
    let mut waiting = [PollFd::from_borrowed_fd(results.as_fd(), PollFlags::empty())];
    match poll(&mut waiting, Timespec::try_from(duration).ok().as_ref()) {
        Ok(0) => Woken::Look,
        Ok(_) => Woken::Alone,
        Err(_) => Woken::Nothing,
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

/// What the events say is not looked at: sysfs says it better. One that was lost for want of room is an error once.
fn drain(events: &OwnedFd) {
    let mut event = [0; 8192];
    loop {
        match rustix::net::recv(events, &mut event[..], RecvFlags::empty()) {
            Ok(_) | Err(Errno::NOBUFS | Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
