//! Says that a request takes long, while it does.

use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use flashscope_device::layer::Pending;

use crate::printer;

/// A request that takes this long is a stall. Guess: the longest merges that were published take a second, so
/// nobody expects it, and sooner nobody worries.
pub const STALL_MIN: Duration = Duration::from_secs(10);
/// How often it is looked for.
const TICK: Duration = Duration::from_secs(1);

/// What is pending on the device of this process.
pub fn pending() -> &'static Pending {
    static PENDING: OnceLock<Pending> = OnceLock::new();
    PENDING.get_or_init(Pending::default)
}

/// Prints a line when a request has been pending for 10 s, and again each time this has doubled. Ends when it
/// is dropped.
pub struct StallWatch {
    /// Closing it ends the thread.
    _stop: Option<Sender<()>>,
}

impl StallWatch {
    /// Starts to watch; does nothing if the system has no thread left.
    pub fn start() -> Self {
        let (sender, receiver) = mpsc::channel::<()>();
        let watch = move || {
            let mut stall = Stall::default();
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(TICK) {
                if let Some(lasted) = stall.tick(pending().call()) {
                    printer::notice(&format!(
                        "stalled for {} s, still waiting for the device",
                        lasted.as_secs()
                    ));
                }
            }
        };
        let started = thread::Builder::new().name("stall-watch".to_owned()).spawn(watch);
        Self { _stop: started.ok().map(|_| sender) }
    }

    /// Watches nothing.
    pub const fn none() -> Self {
        Self { _stop: None }
    }
}

/// How long the same call has been pending.
#[derive(Debug, Default)]
struct Stall {
    call: Option<u64>,
    ticks: u32,
    next: u32,
}

impl Stall {
    /// After another tick: how long this call has been pending, if that is to be said now.
    fn tick(&mut self, call: Option<u64>) -> Option<Duration> {
        if call.is_none() || call != self.call {
            *self = Self { call, ticks: 0, next: u32::try_from(STALL_MIN.as_secs()).unwrap_or(u32::MAX) };
            return None;
        }
        self.ticks += 1;
        if self.ticks < self.next {
            return None;
        }
        self.next *= 2;
        Some(TICK * self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_said_after_ten_seconds_and_each_time_it_doubled() {
        let mut stall = Stall::default();
        let said: Vec<u64> =
            (0..=45).filter_map(|_| stall.tick(Some(7))).map(|lasted| lasted.as_secs()).collect();
        assert_eq!(said, [10, 20, 40]);
        assert_eq!(stall.tick(Some(9)), None, "another request");
        assert!((0..9).all(|_| stall.tick(Some(9)).is_none()));
        assert_eq!(stall.tick(None), None, "nothing is pending");
        assert!((0..10).all(|_| stall.tick(Some(9)).is_none()), "counted from the start again");
    }
}
