//! Sentences about the activity of a disk.

use std::time::Duration;

use flashscope_device::Instant;
use flashscope_infer::activity::{Activity, Interval, Stall, StallCause, Transfers, UnplugEstimate, Writer};
use flashscope_linux::Disk;
use flashscope_record::activity::{BoundReason, PendingWrites};

/// `8.21 MB/s, 68 IOPS of 120 KiB, 14 ms each`
pub fn moved(moved: &Transfers) -> String {
    let Some(latency) = moved.latency_seconds else { return "nothing".to_owned() };
    let (rate, each) = (rate(moved.requests_per_s), seconds(latency));
    if moved.bytes.is_zero() {
        return format!("no data, {rate} IOPS, {each} each");
    }
    let size = moved.bytes.get() / moved.requests.max(1);
    format!("{}, {rate} IOPS of {:.0} KiB, {each} each", speed(moved.bytes_per_s), size as f64 / 1024.0)
}

/// `68`, `0.4`
fn rate(per_s: f64) -> String {
    if per_s < 10.0 { format!("{per_s:.1}") } else { format!("{per_s:.0}") }
}

/// `8.2 MB/s`
pub fn speed(bytes_per_s: f64) -> String {
    let megabytes = bytes_per_s / 1e6;
    match megabytes {
        _ if megabytes == 0.0 => "0 MB/s".to_owned(),
        _ if megabytes < 1.0 => format!("{megabytes:.3} MB/s"),
        _ if megabytes < 100.0 => format!("{megabytes:.1} MB/s"),
        _ => format!("{megabytes:.0} MB/s"),
    }
}

/// `14 ms`, `3.2 s`, `4 min`
pub fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.01 => format!("{:.1} ms", seconds * 1e3),
        _ if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        _ if seconds < 10.0 => format!("{seconds:.1} s"),
        _ if seconds < 120.0 => format!("{seconds:.0} s"),
        _ if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

/// The data that waits in memory.
pub fn waiting(waiting: PendingWrites) -> String {
    match waiting {
        PendingWrites::Counted { .. } if waiting.is_nothing() => "nothing for this disk".to_owned(),
        PendingWrites::Counted { error, .. } if waiting.is_below_error() => {
            format!("almost nothing for this disk: less than {}", error + error)
        }
        PendingWrites::Counted { dirty, writeback, .. } => {
            format!("{} for this disk, {writeback} of it being written", dirty + writeback)
        }
        PendingWrites::AtMost(bytes, bound) => {
            format!("at most {bytes}, for all disks together; {}", share(bound))
        }
        PendingWrites::Unknown => "unknown: cannot read debugfs or /proc/meminfo".to_owned(),
    }
}

/// Why this disk's share is unknown.
const fn share(bound: BoundReason) -> &'static str {
    match bound {
        BoundReason::Hidden => "only root may read the share of each disk (debugfs)",
        BoundReason::NotMounted => {
            "the share of each disk needs debugfs (sudo mount -t debugfs none /sys/kernel/debug)"
        }
        BoundReason::ControlGroups => "the share of each disk needs Linux 6.10",
    }
}

/// `2.9 requests on average, 1 in flight now; busy 99 % of the time`
pub fn queue(interval: &Interval) -> String {
    let average = interval
        .queue
        .map_or_else(|| "none completed".to_owned(), |queue| format!("{queue:.1} requests on average"));
    let (now, busy) = (interval.in_flight[1], interval.busy * 100.0);
    format!("{average}, {now} in flight now; busy {busy:.0} % of the time")
}

/// When the disk can be unplugged.
pub fn unplug(unplug: UnplugEstimate, disk: &Disk) -> String {
    match unplug {
        UnplugEstimate::Now if disk.mounts.is_empty() => {
            "now: no data waits, and it is not mounted".to_owned()
        }
        UnplugEstimate::Now => "after unmounting it: no data waits".to_owned(),
        UnplugEstimate::AlmostNow if disk.mounts.is_empty() => "after sync, which writes the rest".to_owned(),
        UnplugEstimate::AlmostNow => "after unmounting it, which writes the rest".to_owned(),
        UnplugEstimate::In { low, high } => {
            format!("not yet: in {} at its recent speed, if nothing more is written", span(low, high))
        }
        UnplugEstimate::Unknown(unclear) => format!("unknown: {}", unclear.as_str()),
    }
}

/// `12 s to 15 s`, `at most 15 s`, `less than 1 s`
pub fn span(low: Option<Duration>, high: Option<Duration>) -> String {
    let second = Duration::from_secs(1);
    if high.is_some_and(|high| high < second) {
        return "less than 1 s".to_owned();
    }
    match [low.filter(|low| *low >= second), high].map(|time| time.map(|time| seconds(time.as_secs_f64()))) {
        [None, None] => "an unknown time".to_owned(),
        [None, Some(high)] => format!("at most {high}"),
        [Some(low), None] => format!("at least {low}"),
        [Some(low), Some(high)] if low == high => format!("about {high}"),
        [Some(low), Some(high)] => format!("{low} to {high}"),
    }
}

/// Whether the counters suggest merges.
pub fn merges(activity: &Activity) -> String {
    match activity.merges_suspected {
        None => "too little was written to tell".to_owned(),
        Some(0) => "none suspected".to_owned(),
        Some(times) => {
            let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
            format!("suspected {times}: busy with writes only, but slow for a moment")
        }
    }
}

/// `at 12 s for 1.4 s: the disk was busy and completed no request`
pub fn stall(stall: &Stall) -> String {
    let cause = match stall.cause {
        StallCause::Device => "the disk was busy and completed no request",
        StallCause::Flush => "a flush of the disk's write cache",
        StallCause::Writeback => {
            "data was being written back, but the disk had no request (the kernel held it, or a flush)"
        }
    };
    let at = stall.started_at.since(Instant::ZERO).as_secs_f64();
    format!("at {} for {}: {cause}", seconds(at), seconds(stall.duration.as_secs_f64()))
}

/// `cp (4711) 8.2 MB/s to any disk, 1 of 2 files open to write`
pub fn writer(writer: &Writer) -> String {
    let process = &writer.process;
    let speed = writer
        .bytes_per_s
        .map_or_else(|| "speed unknown".to_owned(), |rate| format!("{} to any disk", speed(rate)));
    let files = match (process.files_to_write, process.files) {
        (0, _) => "reading only".to_owned(),
        (1, 1) => "1 file open to write".to_owned(),
        (some, all) if some == all => format!("{all} files open to write"),
        (some, all) => format!("{some} of {all} files open to write"),
    };
    format!("{} ({}) {speed}, {files}", process.name, process.pid)
}

/// One line for a log.
pub fn line(disk: &Disk, activity: &Activity) -> String {
    let interval = &activity.interval;
    let at = interval.ended_at().since(Instant::ZERO).as_secs_f64();
    let waits = match activity.pending {
        PendingWrites::Counted { dirty, writeback, .. } => format!("waiting {}", dirty + writeback),
        PendingWrites::AtMost(bytes, _) => format!("waiting at most {bytes} (all disks)"),
        PendingWrites::Unknown => "waiting unknown".to_owned(),
    };
    let then = match activity.unplug {
        UnplugEstimate::Now => ", nothing waits".to_owned(),
        UnplugEstimate::AlmostNow => ", almost nothing waits".to_owned(),
        UnplugEstimate::In { low, high } => format!(", {}", span(low, high)),
        UnplugEstimate::Unknown(_) => String::new(),
    };
    format!(
        "{at:7.1} s {} write {} read {} in flight {} {waits}{then}{}",
        disk.name,
        speed(interval.written.bytes_per_s),
        speed(interval.read.bytes_per_s),
        interval.in_flight[1],
        stalled_now(activity).map_or("", |_| " STALLED")
    )
}

/// The stall that has not ended.
pub fn stalled_now(activity: &Activity) -> Option<&Stall> {
    let now = activity.interval.ended_at();
    activity.stalls.last().filter(|stall| stall.ended_at() == now && stall.cause != StallCause::Flush)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_digits_below_ten_and_the_unit_that_fits_them() {
        for (time, text) in [
            (0.0099, "9.9 ms"),
            (0.01, "10 ms"),
            (0.99, "990 ms"),
            (1.0, "1.0 s"),
            (9.9, "9.9 s"),
            (10.0, "10 s"),
            (119.0, "119 s"),
            (120.0, "2 min"),
            (7140.0, "119 min"),
            (7200.0, "2 h"),
        ] {
            assert_eq!(seconds(time), text);
        }
    }

    #[test]
    fn speeds_and_rates_have_more_digits_below_their_limits() {
        for (bytes_per_s, text) in [
            (0.0, "0 MB/s"),
            (999_000.0, "0.999 MB/s"),
            (1e6, "1.0 MB/s"),
            (99.9e6, "99.9 MB/s"),
            (100e6, "100 MB/s"),
        ] {
            assert_eq!(speed(bytes_per_s), text);
        }
        assert_eq!([9.9, 10.0].map(rate), ["9.9", "10"]);
    }
}
