//! How long until nothing waits in memory any more.

use std::time::Duration;

use flashscope_device::Bytes;

use super::interval::Interval;
use super::waiting::Waiting;

/// The speed over the last so many intervals of work, for each of these: a stick's speed comes in bursts, and the spread between
/// a short and a long look is how far it may be trusted.
const WINDOWS: [usize; 3] = [3, 10, 30];

/// A shorter look than the shortest of these may be off by so much: that was seen in the first seconds of work.
const FEW_SPREAD: f64 = 2.0;

/// Where the disk had work for a smaller share of an interval, that interval's speed is the programs', not the disk's.
const BUSY_MIN: f64 = 0.5;

/// When everything that was written will have reached the disk, if nobody writes more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unplug {
    /// It has: nothing waits and nothing is in flight.
    Now,
    /// Next to nothing waits: less than the kernel's count can tell from nothing.
    Nearly,
    /// In so long, at the speeds of the last intervals of work, stalls included.
    In {
        /// At the fastest; `None` where what waits is only bounded from above.
        low: Option<Duration>,
        /// At the slowest; `None` where the disk has ended nothing for some intervals.
        high: Option<Duration>,
    },
    /// Not to be said.
    Unknown(Unclear),
}

/// Why it is not to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unclear {
    /// Data waits, and the disk has not had to write for long enough to know how fast it is.
    NothingWritten,
    /// Data waits on this machine, and the disk is idle: it may be all for other disks.
    MaybeOthers,
    /// Nothing waits in memory any more, but the disk has requests.
    InFlight,
    /// The disk has requests, and has ended none for some intervals.
    StandsStill,
    /// What waits cannot be read.
    NoCount,
}

impl Unclear {
    /// The reason, for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NothingWritten => {
                "it had too little to write so far; the kernel goes on within half a minute, or at once with sync"
            }
            Self::MaybeOthers => "what waits may all be for other disks; sync waits until all is written",
            Self::InFlight => "nothing waits in memory any more, but the disk still has requests",
            Self::StandsStill => "it has requests, and has ended none of late",
            Self::NoCount => "what waits in memory cannot be read",
        }
    }
}

/// From what waits after the last of `intervals`.
pub(super) fn of<'a>(
    waiting: Waiting,
    intervals: impl DoubleEndedIterator<Item = &'a Interval> + Clone,
) -> Unplug {
    let last = intervals.clone().next_back();
    let in_flight = last.map_or(0, |last| last.in_flight[1]);
    let is_idle = in_flight == 0 && last.is_none_or(|last| last.written.bytes.is_zero());
    let Some(bytes) = waiting.bytes_max() else { return Unplug::Unknown(Unclear::NoCount) };
    match (waiting.is_nothing(), waiting.is_next_to_nothing()) {
        (true, _) if in_flight == 0 => return Unplug::Now,
        (_, true) if in_flight == 0 => return Unplug::Nearly,
        // How long the last requests take, no speed says.
        (true, _) | (_, true) => return Unplug::Unknown(Unclear::InFlight),
        (false, false) => {}
    }
    let is_bound = matches!(waiting, Waiting::AtMost(..));
    if is_bound && is_idle {
        return Unplug::Unknown(Unclear::MaybeOthers);
    }
    let Some([slowest, fastest]) = speeds(intervals) else {
        return Unplug::Unknown(Unclear::NothingWritten);
    };
    if fastest == 0.0 || is_bound && slowest == 0.0 {
        return Unplug::Unknown(Unclear::StandsStill);
    }
    // A duration too long to be held, and one at no speed at all, are none.
    let seconds = |bytes: Bytes, speed: f64| Duration::try_from_secs_f64(bytes.as_f64() / speed).ok();
    let (low, high) = (seconds(bytes, fastest), seconds(bytes + waiting.error(), slowest));
    Unplug::In { low: low.filter(|_| !is_bound), high }
}

/// The slowest and the fastest, bytes per second, over the windows of intervals of work; `None` without any.
fn speeds<'a>(intervals: impl DoubleEndedIterator<Item = &'a Interval> + Clone) -> Option<[f64; 2]> {
    let before = std::iter::once(None).chain(intervals.clone().map(Some));
    let mut working: Vec<&Interval> =
        before.zip(intervals).filter(|(before, this)| works(*before, this)).map(|(_, this)| this).collect();
    working.reverse();
    let windows = WINDOWS.into_iter().filter_map(|length| working.get(..length.min(working.len())));
    let speeds: Vec<f64> = windows.filter(|window| !window.is_empty()).map(speed).collect();
    let (slowest, fastest) =
        (speeds.iter().copied().reduce(f64::min)?, speeds.iter().copied().reduce(f64::max)?);
    let spread = if working.len() < WINDOWS[0] { FEW_SPREAD } else { 1.0 };
    Some([slowest / spread, fastest * spread])
}

/// Whether the disk had enough to write from beginning to end, and so its speed shows: a small write in an idle second says
/// nothing of what it can do, the second in which work began too little, and while it only reads nothing at all.
fn works(before: Option<&Interval>, this: &Interval) -> bool {
    let goes_on = this.in_flight[0] > 0 || before.is_some_and(|before| before.busy >= BUSY_MIN);
    this.stands_still() || goes_on && this.busy >= BUSY_MIN && !this.written.bytes.is_zero()
}

fn speed(window: &[&Interval]) -> f64 {
    let bytes: f64 = window.iter().map(|interval| interval.written.bytes.as_f64()).sum();
    let seconds: f64 = window.iter().map(|interval| interval.duration.as_secs_f64()).sum();
    if seconds > 0.0 { bytes / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::canned::{counted, glance, writes};
    use super::super::sample::Glance;
    use super::super::waiting::Bound;
    use super::*;

    fn when(waiting: Waiting, glances: &[Glance]) -> Unplug {
        let intervals = glances.windows(2).map(|pair| Interval::between(&pair[0], &pair[1]));
        of(waiting, intervals.collect::<Vec<_>>().iter())
    }

    /// Writes of 1 MiB in each second.
    fn work(writes_each: &[u64]) -> Vec<Glance> {
        let sums = writes_each.iter().scan(0, |sum, writes| {
            *sum += writes;
            Some((*sum, *sum, 1))
        });
        writes(1.0, &std::iter::once((0, 0, 1)).chain(sums).collect::<Vec<_>>())
    }

    const fn seconds(seconds: u64) -> Option<Duration> {
        Some(Duration::from_secs(seconds))
    }

    #[test]
    fn what_waits_takes_as_long_as_the_last_speeds_say() {
        let steady = work(&[8, 8, 8]);
        assert_eq!(when(counted(24, 8), &steady), Unplug::In { low: seconds(4), high: seconds(4) });
        let slower = work(&[8, 8, 8, 8, 8, 8, 8, 4, 4, 4]);
        let (low, high) = (Duration::from_secs_f64(32.0 / 6.8), seconds(8));
        assert_eq!(when(counted(24, 8), &slower), Unplug::In { low: Some(low), high });
        let bound = Waiting::AtMost(Bytes::mib(32), Bound::Hidden);
        assert_eq!(when(bound, &slower), Unplug::In { low: None, high });
        assert_eq!(when(Waiting::Unknown, &slower), Unplug::Unknown(Unclear::NoCount));
    }

    #[test]
    fn a_short_look_may_be_off_by_twice_and_the_first_second_of_work_by_more() {
        let short = work(&[8, 8]);
        assert_eq!(when(counted(24, 8), &short), Unplug::In { low: seconds(2), high: seconds(8) });
        let mut begins = work(&[1, 8, 8, 8]);
        begins[0].counters.in_flight = 0;
        assert_eq!(when(counted(24, 8), &begins), Unplug::In { low: seconds(4), high: seconds(4) });
    }

    #[test]
    fn stalls_count_and_a_long_one_leaves_the_end_open() {
        let stalled = work(&[8, 0, 8]);
        assert_eq!(when(counted(16, 0), &stalled), Unplug::In { low: seconds(3), high: seconds(3) });
        let stands = work(&[8, 8, 0, 0, 0]);
        assert_eq!(when(counted(16, 0), &stands), Unplug::In { low: seconds(5), high: None });
        let never = work(&[0, 0]);
        assert_eq!(when(counted(16, 0), &never), Unplug::Unknown(Unclear::StandsStill));
        let bound = Waiting::AtMost(Bytes::mib(32), Bound::Groups);
        assert_eq!(when(bound, &stands), Unplug::Unknown(Unclear::StandsStill));
    }

    #[test]
    fn a_small_write_in_an_idle_second_says_nothing_of_the_disks_speed() {
        let glances = [
            glance(0.0, "0 0 0 0 0 0 0 0 0 0 0"),
            glance(1.0, "0 0 0 0 1 0 8 1 1 2 2"),
            glance(2.0, "0 0 0 0 9 0 16392 90 1 990 990"),
        ];
        assert_eq!(when(counted(32, 0), &glances), Unplug::In { low: seconds(2), high: seconds(8) });
        assert_eq!(when(counted(32, 0), &glances[..2]), Unplug::Unknown(Unclear::NothingWritten));
    }

    #[test]
    fn reading_does_not_slow_down_what_is_to_be_written() {
        let mut glances = work(&[8, 8, 8]);
        glances.push(glance(4.0, "900 0 8000 900 24 0 49152 24 1 4000 924"));
        assert_eq!(when(counted(32, 0), &glances), Unplug::In { low: seconds(4), high: seconds(4) });
    }

    #[test]
    fn nothing_waits_only_when_nothing_is_in_flight_either() {
        assert_eq!(when(counted(0, 0), &writes(1.0, &[(0, 0, 0), (8, 80, 0)])), Unplug::Now);
        let busy = writes(1.0, &[(0, 0, 1), (8, 80, 1), (16, 160, 1)]);
        assert_eq!(when(counted(0, 0), &busy), Unplug::Unknown(Unclear::InFlight));
        assert_eq!(when(Waiting::AtMost(Bytes::ZERO, Bound::Hidden), &[]), Unplug::Now);
        let (dirty, writeback, error) = (Bytes::kib(8), Bytes::ZERO, Bytes::kib(64));
        let little = Waiting::Counted { dirty, writeback, error };
        assert_eq!(when(little, &writes(1.0, &[(0, 0, 0), (8, 80, 0)])), Unplug::Nearly);
        let in_flight = Unplug::Unknown(Unclear::InFlight);
        assert_eq!(when(little, &writes(1.0, &[(0, 0, 0), (8, 80, 1)])), in_flight);
    }

    #[test]
    fn an_idle_disk_is_not_said_to_need_time_for_the_data_of_others() {
        let idle = writes(1.0, &[(8, 80, 0), (8, 80, 0)]);
        let bound = Waiting::AtMost(Bytes::mib(32), Bound::Hidden);
        assert_eq!(when(bound, &idle), Unplug::Unknown(Unclear::MaybeOthers));
        assert_eq!(when(counted(32, 0), &idle), Unplug::Unknown(Unclear::NothingWritten));
    }
}
