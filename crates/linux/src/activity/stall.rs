//! Times in which nothing ended although something waited.

use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::Instant;

use super::interval::Interval;
use super::sample::Glance;

/// Shorter waits are part of the business: the SD specification lets a card be busy with one write for 250 ms (SDXC:
/// 500 ms; Physical Layer Simplified Specification, 4.6.2.2).
const STALL_MIN: Duration = Duration::from_millis(500);

/// Stalls that are remembered.
const STALLS_MAX: usize = 100;

/// A time in which nothing ended although something waited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// When it began, on the sampler's clock; late by the time between two glances at most.
    pub began_at: Instant,
    /// How long it was, or has been so far.
    pub duration: Duration,
    /// What everything waited for.
    pub cause: Cause,
}

/// What everything waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The disk: it had requests, and ended none.
    Device,
    /// A flush of the disk's own cache, with no data moved meanwhile. Until it ends it looks like one of the others.
    Flush,
    /// The kernel: data was on its way, and the disk had no request.
    Writeback,
}

impl Cause {
    /// In one word, for scripts.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device busy",
            Self::Flush => "flush",
            Self::Writeback => "writeback",
        }
    }
}

impl Stall {
    /// When it ended, or the last glance at it.
    #[must_use]
    pub fn ended_at(&self) -> Instant {
        self.began_at + self.duration
    }

    fn is_long(&self) -> bool {
        self.duration >= STALL_MIN
    }

    /// Whether more than half of `other` lies in it.
    fn covers(&self, other: &Self) -> bool {
        let (from, to) = (self.began_at.max(other.began_at), self.ended_at().min(other.ended_at()));
        to.since(from) * 2 > other.duration
    }
}

/// The stalls so far, and what may become one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stalls {
    past: VecDeque<Stall>,
    /// The end of the last interval in which data was moved. Of the time before the first, nothing is known.
    moved_until: Instant,
}

impl Stalls {
    /// Those of half a second and more, the latest last.
    pub fn long(&self) -> impl Iterator<Item = &Stall> {
        self.past.iter().filter(|stall| stall.is_long())
    }

    /// Takes the next two glances.
    pub fn add(&mut self, before: &Glance, after: &Glance) {
        let interval = Interval::between(before, after);
        if let Some(flush) = self.long_flush(&interval) {
            // While it went on it looked like something else.
            self.past.retain(|stall| !flush.covers(stall));
            self.remember(flush);
        } else if let Some(cause) = cause(&interval, before, after) {
            self.remember(Stall { began_at: interval.began_at, duration: interval.duration, cause });
        }
        if interval.moves_data() {
            self.moved_until = interval.ended_at();
        }
    }

    /// The stall that a flush ends. A flush that waits for writes before it, which go on ending, holds nothing up: only what
    /// is left of it after the last of them counts. What else ended with it, it may have let go.
    fn long_flush(&self, interval: &Interval) -> Option<Stall> {
        let duration = Duration::try_from_secs_f64(interval.flush_seconds?).ok()?;
        if interval.moves_data() && interval.duration >= STALL_MIN {
            // Nobody looked when.
            return None;
        }
        let ended_at = interval.ended_at();
        let asked_at = Instant::ZERO + ended_at.since(Instant::ZERO).saturating_sub(duration);
        let began_at = asked_at.max(self.moved_until);
        Some(Stall { began_at, duration: ended_at.since(began_at), cause: Cause::Flush })
            .filter(Stall::is_long)
    }

    /// Those that follow each other and have the same cause are one.
    fn remember(&mut self, stall: Stall) {
        match self.past.back_mut() {
            Some(last) if last.cause == stall.cause && last.ended_at() == stall.began_at => {
                last.duration += stall.duration;
            }
            Some(last) if !last.is_long() => *last = stall,
            _ => self.past.push_back(stall),
        }
        if self.past.len() > STALLS_MAX {
            self.past.pop_front();
        }
    }
}

/// What stood still, if anything did.
fn cause(interval: &Interval, before: &Glance, after: &Glance) -> Option<Cause> {
    if interval.stands_still() {
        return Some(Cause::Device);
    }
    let is_on_its_way = before.waiting.is_on_its_way() && after.waiting.is_on_its_way();
    let is_idle = interval.ended == 0 && interval.in_flight == [0, 0];
    (is_idle && is_on_its_way).then_some(Cause::Writeback)
}

#[cfg(test)]
mod tests {
    use super::super::canned::{counted, glance, writes};
    use super::*;

    fn stalls(glances: &[Glance]) -> Vec<(Cause, u128, u128)> {
        let mut stalls = Stalls::default();
        glances.windows(2).for_each(|pair| stalls.add(&pair[0], &pair[1]));
        let figures = |stall: &Stall| {
            let began = stall.began_at.since(Instant::ZERO);
            (stall.cause, began.as_millis(), stall.duration.as_millis())
        };
        stalls.long().map(figures).collect()
    }

    #[test]
    fn a_disk_that_ends_nothing_has_stalled_until_it_does() {
        let mut rows = vec![(0, 0, 1), (8, 80, 2)];
        rows.extend([(8, 80, 2); 7]);
        rows.push((9, 900, 2));
        assert_eq!(stalls(&writes(0.1, &rows)), [(Cause::Device, 100, 700)]);
        rows.truncate(5);
        assert_eq!(stalls(&writes(0.1, &rows)), [], "a card may take that long");
        assert_eq!(stalls(&writes(1.0, &[(8, 80, 0), (8, 80, 0), (8, 80, 0)])), [], "an idle disk has not");
        assert_eq!(stalls(&writes(1.0, &[(8, 80, 0), (8, 80, 1)])), [], "when it began is not known");
    }

    #[test]
    fn data_on_its_way_to_a_disk_without_requests_waits_for_the_kernel() {
        let mut glances = writes(0.1, &[(8, 80, 0); 8]);
        for (glance, writeback) in glances.iter_mut().zip([1, 1, 1, 1, 1, 1, 1, 0]) {
            glance.waiting = counted(0, writeback);
        }
        assert_eq!(stalls(&glances), [(Cause::Writeback, 0, 600)]);
        glances.iter_mut().for_each(|glance| glance.waiting = counted(4, 0));
        assert_eq!(stalls(&glances), [], "changes that nobody has asked to be written wait as they should");
    }

    #[test]
    fn what_looked_like_the_kernel_was_the_flush_that_ends_it() {
        let mut glances = writes(0.1, &[(8, 80, 0); 9]);
        glances.iter_mut().for_each(|glance| glance.waiting = counted(0, 1));
        assert_eq!(stalls(&glances), [(Cause::Writeback, 0, 800)]);
        let mut ended = glance(0.9, "0 0 0 0 8 0 16384 80 0 0 80 0 0 0 0 1 850");
        ended.waiting = counted(0, 1);
        glances.push(ended);
        assert_eq!(stalls(&glances), [(Cause::Flush, 50, 850)]);
    }

    /// Figures of a loop device under Linux 6.18 whose file did not answer for a while: a flush alone is in flight as a write
    /// without data.
    #[test]
    fn what_looked_like_the_disk_was_the_flush_that_ends_it() {
        let mut glances: Vec<Glance> =
            (0..16).map(|tenth| glance(f64::from(tenth) / 10.0, "0 0 0 0 7 0 0 80 1 0 80")).collect();
        assert_eq!(stalls(&glances), [(Cause::Device, 0, 1500)]);
        glances.push(glance(1.6, "0 0 0 0 8 0 0 1673 0 1593 3266 0 0 0 0 1 1593"));
        assert_eq!(stalls(&glances), [(Cause::Flush, 7, 1593)]);
    }

    #[test]
    fn a_long_flush_is_a_stall_and_a_short_one_is_none() {
        let with_flush = |ms: u32| {
            let after = format!("0 0 0 0 8 0 8 9 0 0 0 0 0 0 0 1 {ms}");
            [glance(1.0, "0 0 0 0 8 0 8 9 0 0 0"), glance(3.0, &after)]
        };
        assert_eq!(stalls(&with_flush(1500)), [(Cause::Flush, 1500, 1500)]);
        assert_eq!(stalls(&with_flush(100)), []);
    }

    /// Glances while writes of 1 MiB end, two at a time, and then a flush of so many milliseconds.
    fn writes_and_then_a_flush(rows: &[u64], flush_ms: u64) -> Vec<Glance> {
        let (last, rows) = rows.split_last().unwrap();
        let rows: Vec<(u64, u64, u64)> = rows.iter().map(|writes| (*writes, writes * 50, 2)).collect();
        let mut glances = writes(0.1, &rows);
        let at = rows.len() as f64 / 10.0;
        let sectors = last * 2048;
        glances.push(glance(at, &format!("0 0 0 0 {last} 0 {sectors} 0 1 0 0 0 0 0 0 1 {flush_ms}")));
        glances
    }

    /// Watching a copy to a stick told of stalls of 1.5 s although it wrote 13 to 16 MB/s all the time: its flushes waited
    /// behind the writes before them.
    #[test]
    fn a_flush_behind_writes_that_go_on_ending_is_no_stall() {
        let steady: Vec<u64> = (0..20).map(|tenth| tenth * 2).collect();
        assert_eq!(stalls(&writes_and_then_a_flush(&steady, 1500)), []);
        let after_them: Vec<u64> = (0..20_u64).map(|tenth| tenth.min(10) * 2).collect();
        assert_eq!(stalls(&writes_and_then_a_flush(&after_them, 1500)), [(Cause::Flush, 1000, 900)]);
        let let_go: Vec<u64> = after_them.into_iter().take(19).chain([24]).collect();
        assert_eq!(stalls(&writes_and_then_a_flush(&let_go, 1500)), [(Cause::Flush, 1000, 900)]);
    }

    #[test]
    fn a_flush_among_writes_that_nobody_looked_at_in_between_is_not_known_to_be_a_stall() {
        let apart = |writes: u64| {
            let after = format!("0 0 0 0 {writes} 0 {} 9 0 0 0 0 0 0 0 1 1500", writes * 2048);
            [glance(1.0, "0 0 0 0 8 0 16384 9 2 0 0"), glance(3.0, &after)]
        };
        assert_eq!(stalls(&apart(40)), []);
        assert_eq!(stalls(&apart(8)), [(Cause::Flush, 1500, 1500)]);
    }

    #[test]
    fn short_waits_do_not_push_out_the_long_ones() {
        let mut rows = vec![(0, 0, 1); 8];
        for write in 1..400 {
            rows.extend([(write, 100, 1); 3]);
        }
        assert_eq!(stalls(&writes(0.1, &rows)), [(Cause::Device, 0, 700)]);
    }
}
