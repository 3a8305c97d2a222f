//! Speeds of equal requests: the rows of the speed table.

use std::cmp::Reverse;

use flashscope_device::Bytes;
use flashscope_infer::streams::speed::{Speed, speed_of};
use flashscope_record::observation::{Data, Direction, Order, SpeedCase, SpeedCell, SpeedData};
use flashscope_record::run_file::RunFile;

use crate::chart::Table;
use crate::quantity;
use crate::terms::order_name;

/// Every request kind of a run with its speed, in the order measured; `None` where no speed follows from its
/// requests.
#[must_use]
pub fn speeds(run: &RunFile) -> Vec<(SpeedCase, Option<Speed>)> {
    cells(run).map(|(data, cell)| (cell.case, speed_of(data, cell))).collect()
}

fn cells(run: &RunFile) -> impl Iterator<Item = (&SpeedData, &SpeedCell)> {
    let data = run.observations.iter().filter_map(|observations| match &observations.data {
        Data::Speed(data) => Some(data),
        _ => None,
    });
    data.flat_map(|data| data.cells.iter().map(move |cell| (data, cell)))
}

/// The speed of the largest sequential requests at the lowest queue depth: close to the copy of a large file.
pub fn large_sequential(speeds: &[(SpeedCase, Option<Speed>)], direction: Direction) -> Option<&Speed> {
    let is_sequential = |(case, speed): &&(SpeedCase, Option<Speed>)| {
        (case.direction, case.order) == (direction, Order::Linear) && speed.is_some()
    };
    let rank = |(case, _): &&(SpeedCase, Option<Speed>)| (case.request, Reverse(case.queue_depth));
    speeds.iter().filter(is_sequential).max_by_key(rank).and_then(|(_, speed)| speed.as_ref())
}

/// The speed of the smallest random requests at the lowest queue depth: decisive for a system that runs from
/// the device.
pub fn small_random(speeds: &[(SpeedCase, Option<Speed>)], direction: Direction) -> Option<&Speed> {
    let is_random = |(case, speed): &&(SpeedCase, Option<Speed>)| {
        (case.direction, case.order) == (direction, Order::Random) && speed.is_some()
    };
    let rank = |(case, _): &&(SpeedCase, Option<Speed>)| (case.queue_depth, case.request);
    speeds.iter().filter(is_random).min_by_key(rank).and_then(|(_, speed)| speed.as_ref())
}

/// The name of a request kind: `sequential write, 1 MiB`, `random read, 4 KiB, queue depth 8`.
pub fn case_name(case: SpeedCase) -> String {
    let (order, direction) = (order_name(case.order), case.direction.as_str());
    format!("{order} {direction}, {}{}", case.request, queue_depth_suffix(case.queue_depth))
}

/// `, queue depth 8`; empty for 1.
pub fn queue_depth_suffix(queue_depth: u32) -> String {
    if queue_depth == 1 { String::new() } else { format!(", queue depth {queue_depth}") }
}

/// One row per request kind: its speed with interval, IOPS, and latency percentiles.
pub fn table(run: &RunFile) -> Table {
    let header = ["requests", "MB/s", "interval", "IOPS", "median", "90 %", "99 %", "longest"];
    let rows = speeds(run).into_iter().map(|(case, speed)| row(case, speed.as_ref())).collect();
    Table { header: header.map(str::to_owned).to_vec(), rows }
}

fn row(case: SpeedCase, speed: Option<&Speed>) -> Vec<String> {
    let Some(speed) = speed else {
        let unknown = ["unknown", "", "", "", "", "", ""].map(str::to_owned);
        return std::iter::once(case_name(case)).chain(unknown).collect();
    };
    let mark = if speed.cached.is_some() { " (cached)" } else { "" };
    let latency = &speed.latency;
    let percentiles = [latency.p50, latency.p90, latency.p99, latency.max].map(quantity::seconds);
    let figures = [
        case_name(case),
        format!("{}{mark}", quantity::three_digits(speed.bytes_per_s / 1e6)),
        quantity::interval_ends(speed.bytes_per_s_low / 1e6, speed.bytes_per_s_high / 1e6).join(" to "),
        quantity::three_digits(speed.requests_per_s()),
    ];
    figures.into_iter().chain(percentiles).collect()
}

/// A measured size rounded to three significant digits.
pub fn rounded(bytes: Bytes) -> Bytes {
    let step = match bytes {
        _ if bytes <= Bytes::mib(4) => return bytes,
        _ if bytes < Bytes::mib(100) => Bytes::mib(1) / 10,
        _ => Bytes::mib(1),
    };
    let whole_mib = nearest(bytes, Bytes::mib(1));
    let near = nearest(bytes, step);
    // Within a twentieth of a MiB, 16.0 MiB is written as 16 MiB.
    if bytes.get().abs_diff(whole_mib.get()) * 20 < Bytes::mib(1).get() { whole_mib } else { near }
}

fn nearest(bytes: Bytes, step: Bytes) -> Bytes {
    (bytes + step / 2).round_down(step)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_infer::streams::speed::speed;
    use flashscope_record::finding::Cached;

    use super::*;

    /// Sequential writes of 1 MiB, which take 10 and 11 ms.
    #[test]
    fn row_says_whether_its_speed_is_that_of_a_cache() {
        let case = SpeedCase {
            direction: Direction::Write,
            order: Order::Linear,
            request: Bytes::mib(1),
            queue_depth: 1,
        };
        let mut cell = SpeedCell::new(case);
        let mut ended = Duration::ZERO;
        for index in 0..400 {
            let took = Duration::from_millis(10 + index % 2);
            ended += took;
            cell.keep(took, ended);
        }
        let mut speed = speed(&cell, None).unwrap();
        let figure = |speed: Option<&Speed>| row(case, speed)[1].clone();
        assert_eq!(figure(Some(&speed)), "99.9");
        speed.cached = Some(Cached::PageCache);
        assert_eq!(figure(Some(&speed)), "99.9 (cached)");
        assert_eq!(figure(None), "unknown");
    }

    #[test]
    fn sizes_are_rounded_to_three_digits() {
        let text = |mib: f64| rounded(Bytes::new((mib * 1_048_576.0) as u64)).to_string();
        assert_eq!([15.84, 16.16, 16.01, 5.0].map(text), ["15.8 MiB", "16.2 MiB", "16 MiB", "5 MiB"]);
        assert_eq!([701.6, 1023.7, 0.25].map(text), ["702 MiB", "1 GiB", "256 KiB"]);
    }
}
