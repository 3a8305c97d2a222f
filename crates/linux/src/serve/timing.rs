//! When an answer is due: the device's clock laid over the host's, and a wait that ends on time.

use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use flashscope_device::Instant;

use crate::clock::Clock;

/// How fast a served device answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// So many times as fast as the device says; 1 for real time.
    Speed(f64),
    /// At once. The device's clock then counts only the time it worked.
    AtOnce,
}

/// The device's clock laid over the host's: both run from the moment this was made.
#[derive(Debug, Clone, Copy)]
pub struct Timetable {
    pace: Pace,
    device_zero: Instant,
    host_zero: Instant,
}

impl Timetable {
    /// Lays `device_now` over `host_now`.
    pub const fn new(pace: Pace, device_now: Instant, host_now: Instant) -> Self {
        Self { pace, device_zero: device_now, host_zero: host_now }
    }

    /// The host time at which the device's clock shows `device`; its zero if answers are given at once.
    pub fn host_time(&self, device: Instant) -> Instant {
        match self.pace {
            Pace::Speed(speed) => self.host_zero + scaled(device.since(self.device_zero), speed.recip()),
            Pace::AtOnce => Instant::ZERO,
        }
    }

    /// What the device's clock shows at the host time `host`; `None` if answers are given at once.
    pub fn device_time(&self, host: Instant) -> Option<Instant> {
        match self.pace {
            Pace::Speed(speed) => Some(self.device_zero + scaled(host.since(self.host_zero), speed)),
            Pace::AtOnce => None,
        }
    }
}

/// Times beyond what a clock can hold end there.
fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::from_nanos(u64::MAX))
}

/// What a wait ended with.
#[derive(Debug)]
pub enum Woken<T> {
    /// Something arrived.
    By(T),
    /// It is time.
    OnTime,
    /// Nobody is left who could send anything.
    Alone,
}

/// The least and the most that is spun instead of slept: below, a timer's own resolution counts; above, a processor
/// would be kept busy for nothing.
const SPIN_MIN: Duration = Duration::from_micros(60);
const SPIN_MAX: Duration = Duration::from_millis(1);

/// Waits that end within microseconds of their time: a timer until shortly before, then spinning. How long before
/// follows from how late the timer has been lately.
#[derive(Debug)]
pub struct PunctualWait {
    clock: Clock,
    spin: Duration,
}

impl PunctualWait {
    /// Waits by this clock, in the calling thread.
    pub fn new(clock: Clock) -> Self {
        // Without this the kernel may fire a timer 50 us late to save power (PR_SET_TIMERSLACK, prctl(2)). Where it is
        // refused, the spinning grows by as much.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Self { clock, spin: SPIN_MIN * 3 }
    }

    /// Waits until `time`, or until something arrives.
    pub fn until<T>(&mut self, time: Instant, arrivals: &Receiver<T>) -> Woken<T> {
        let left = time.since(self.clock.now());
        if let Some(nap) = left.checked_sub(self.spin) {
            match arrivals.recv_timeout(nap) {
                Ok(arrival) => return Woken::By(arrival),
                Err(RecvTimeoutError::Disconnected) => return Woken::Alone,
                Err(RecvTimeoutError::Timeout) => self.learn(left.saturating_sub(nap), time),
            }
        }
        self.spin_until(time, arrivals)
    }

    fn spin_until<T>(&self, time: Instant, arrivals: &Receiver<T>) -> Woken<T> {
        while self.clock.now() < time {
            match arrivals.try_recv() {
                Ok(arrival) => return Woken::By(arrival),
                Err(TryRecvError::Disconnected) => return Woken::Alone,
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
            }
        }
        Woken::OnTime
    }

    /// A timer was to ring `margin` before `time`, and has just rung: spin twice as long as it was late, and forget that
    /// slowly.
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
    fn ten_times_as_fast_is_a_tenth_of_the_time() {
        let timetable = Timetable::new(Pace::Speed(10.0), micros(500), micros(20_000));
        assert_eq!(timetable.host_time(micros(1500)), micros(20_100));
        assert_eq!(timetable.device_time(micros(20_100)), Some(micros(1500)));
        assert_eq!(timetable.device_time(micros(3)), Some(micros(500)), "before it began nothing had passed");
    }

    #[test]
    fn at_once_is_never_later() {
        let timetable = Timetable::new(Pace::AtOnce, micros(0), micros(7));
        assert_eq!(timetable.host_time(micros(u64::MAX / 1000)), Instant::ZERO);
        assert_eq!(timetable.device_time(micros(9)), None);
    }

    #[test]
    fn a_speed_near_zero_ends_at_the_last_instant() {
        let timetable = Timetable::new(Pace::Speed(1e-12), micros(0), micros(0));
        assert_eq!(timetable.host_time(micros(1 << 40)), Instant::from_nanos(u64::MAX));
    }

    #[test]
    fn an_arrival_ends_a_wait_and_so_does_the_last_senders_end() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut wait = PunctualWait::new(Clock::start());
        sender.send(7).unwrap();
        let far = Instant::from_nanos(u64::MAX);
        assert!(matches!(wait.until(far, &receiver), Woken::By(7)));
        assert!(matches!(wait.until(Instant::ZERO, &receiver), Woken::OnTime));
        drop(sender);
        assert!(matches!(wait.until(far, &receiver), Woken::Alone));
    }
}
