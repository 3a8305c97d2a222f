//! When a reply is due: the mapping from the device's clock to the host's, and a precise wait.

use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use flashscope_device::Instant;

use crate::clock::Clock;

/// The speed of a served device's replies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServeSpeed {
    /// A multiple of the device's own speed; 1 for real time.
    Factor(f64),
    /// Immediate replies. The device's clock then counts only the time it worked.
    Immediate,
}

/// The mapping between the device's clock and the host's, from the moment of its creation.
#[derive(Debug, Clone, Copy)]
pub struct ClockMapping {
    speed: ServeSpeed,
    device_zero: Instant,
    host_zero: Instant,
}

impl ClockMapping {
    /// Maps `device_now` to `host_now`.
    pub const fn new(speed: ServeSpeed, device_now: Instant, host_now: Instant) -> Self {
        Self { speed, device_zero: device_now, host_zero: host_now }
    }

    /// The host time for the device time `device`; zero for immediate replies.
    pub fn host_time(&self, device: Instant) -> Instant {
        match self.speed {
            ServeSpeed::Factor(speed) => {
                self.host_zero + scaled(device.since(self.device_zero), speed.recip())
            }
            ServeSpeed::Immediate => Instant::ZERO,
        }
    }

    /// The device time for the host time `host`; `None` for immediate replies.
    pub fn device_time(&self, host: Instant) -> Option<Instant> {
        match self.speed {
            ServeSpeed::Factor(speed) => Some(self.device_zero + scaled(host.since(self.host_zero), speed)),
            ServeSpeed::Immediate => None,
        }
    }
}

/// Scales a duration. Overflows saturate.
fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::from_nanos(u64::MAX))
}

/// Why a wait ended.
#[derive(Debug)]
pub enum WaitEnd<T> {
    /// A message arrived.
    Arrival(T),
    /// The time was reached.
    OnTime,
    /// All senders are gone.
    Disconnected,
}

/// The bounds of the time that is spun instead of slept. Below the minimum a timer's resolution counts;
/// above the maximum a processor would be busy for nothing.
const SPIN_MIN: Duration = Duration::from_micros(60);
const SPIN_MAX: Duration = Duration::from_millis(1);

/// Waits that end within microseconds of their time: a timer until shortly before, then spinning. The
/// spinning time follows from how late the timer was recently.
#[derive(Debug)]
pub struct PreciseWait {
    clock: Clock,
    spin: Duration,
}

impl PreciseWait {
    /// Waits by this clock, in the calling thread.
    pub fn new(clock: Clock) -> Self {
        // Otherwise the kernel may fire a timer 50 us late to save power (PR_SET_TIMERSLACK, prctl(2)).
        // Where it is refused, the spinning time grows by that much.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Self { clock, spin: SPIN_MIN * 3 }
    }

    /// Waits until `time`, or until a message arrives.
    pub fn until<T>(&mut self, time: Instant, arrivals: &Receiver<T>) -> WaitEnd<T> {
        let left = time.since(self.clock.now());
        if let Some(nap) = left.checked_sub(self.spin) {
            match arrivals.recv_timeout(nap) {
                Ok(arrival) => return WaitEnd::Arrival(arrival),
                Err(RecvTimeoutError::Disconnected) => return WaitEnd::Disconnected,
                Err(RecvTimeoutError::Timeout) => self.learn(left.saturating_sub(nap), time),
            }
        }
        self.spin_until(time, arrivals)
    }

    fn spin_until<T>(&self, time: Instant, arrivals: &Receiver<T>) -> WaitEnd<T> {
        while self.clock.now() < time {
            match arrivals.try_recv() {
                Ok(arrival) => return WaitEnd::Arrival(arrival),
                Err(TryRecvError::Disconnected) => return WaitEnd::Disconnected,
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
            }
        }
        WaitEnd::OnTime
    }

    /// A timer that was set to `margin` before `time` has just fired. Spins twice as long as it was late,
    /// and decays that slowly.
    fn learn(&mut self, margin: Duration, time: Instant) {
        let late = margin.saturating_sub(time.since(self.clock.now()));
        self.spin = (self.spin * 63 / 64).max(late * 2).clamp(SPIN_MIN, SPIN_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(microseconds: u64) -> Instant {
        Instant::from_nanos(microseconds * 1000)
    }

    #[test]
    fn factor_ten_takes_a_tenth_of_the_time() {
        let clock_mapping = ClockMapping::new(ServeSpeed::Factor(10.0), micros(500), micros(20_000));
        assert_eq!(clock_mapping.host_time(micros(1500)), micros(20_100));
        assert_eq!(clock_mapping.device_time(micros(20_100)), Some(micros(1500)));
        assert_eq!(
            clock_mapping.device_time(micros(3)),
            Some(micros(500)),
            "device time does not run before the start"
        );
    }

    #[test]
    fn at_once_is_never_later() {
        let clock_mapping = ClockMapping::new(ServeSpeed::Immediate, micros(0), micros(7));
        assert_eq!(clock_mapping.host_time(micros(u64::MAX / 1000)), Instant::ZERO);
        assert_eq!(clock_mapping.device_time(micros(9)), None);
    }

    #[test]
    fn factor_near_zero_saturates() {
        let clock_mapping = ClockMapping::new(ServeSpeed::Factor(1e-12), micros(0), micros(0));
        assert_eq!(clock_mapping.host_time(micros(1 << 40)), Instant::from_nanos(u64::MAX));
    }

    #[test]
    fn wait_ends_on_arrival_and_when_all_senders_are_gone() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut wait = PreciseWait::new(Clock::start());
        sender.send(7).unwrap();
        let far = Instant::from_nanos(u64::MAX);
        assert!(matches!(wait.until(far, &receiver), WaitEnd::Arrival(7)));
        assert!(matches!(wait.until(Instant::ZERO, &receiver), WaitEnd::OnTime));
        drop(sender);
        assert!(matches!(wait.until(far, &receiver), WaitEnd::Disconnected));
    }
}
