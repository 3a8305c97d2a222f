//! Speeds of equal requests, as a run's observations tell them: the rows of a table.

use std::cmp::Reverse;

use flashscope_device::Bytes;
use flashscope_infer::streams::speed::{Speed, speed_of};
use flashscope_record::observation::{Data, Direction, Order, SpeedCase, SpeedCell, SpeedData};
use flashscope_record::run_file::RunFile;

use crate::chart::Table;
use crate::quantity;

/// Every kind of request of a run, in the order in which they were made, with its speed; `None` where they do not tell one.
#[must_use]
pub fn speeds(run: &RunFile) -> Vec<(SpeedCase, Option<Speed>)> {
    cells(run).map(|(data, cell)| (cell.case, speed_of(data, cell))).collect()
}

fn cells(run: &RunFile) -> impl Iterator<Item = (&SpeedData, &SpeedCell)> {
    let data = run.observations.iter().filter_map(|seen| match &seen.data {
        Data::Speed(data) => Some(data),
        _ => None,
    });
    data.flat_map(|data| data.cells.iter().map(move |cell| (data, cell)))
}

/// The speed of large requests in order: what a copy of a large file comes close to.
pub fn in_order(speeds: &[(SpeedCase, Option<Speed>)], direction: Direction) -> Option<&Speed> {
    let of = |(case, speed): &&(SpeedCase, Option<Speed>)| {
        (case.direction, case.order) == (direction, Order::Linear) && speed.is_some()
    };
    let plainest = |(case, _): &&(SpeedCase, Option<Speed>)| (case.request, Reverse(case.queue_depth));
    speeds.iter().filter(of).max_by_key(plainest).and_then(|(_, speed)| speed.as_ref())
}

/// The speed of the smallest requests here and there, one at a time: what a system that runs from the device depends on.
pub fn here_and_there(speeds: &[(SpeedCase, Option<Speed>)], direction: Direction) -> Option<&Speed> {
    let of = |(case, speed): &&(SpeedCase, Option<Speed>)| {
        let kind = (case.direction, case.order, case.queue_depth);
        kind == (direction, Order::Random, 1) && speed.is_some()
    };
    speeds.iter().filter(of).min_by_key(|(case, _)| case.request).and_then(|(_, speed)| speed.as_ref())
}

/// A kind of request in words: `write, in order, 1 MiB`, `read, random, 4 KiB, 8 in flight`.
pub fn name(case: SpeedCase) -> String {
    let order = match case.order {
        Order::Linear => "in order",
        Order::Random => "random",
    };
    format!("{}, {order}, {}{}", case.direction.as_str(), case.request, in_flight(case.queue_depth))
}

/// `, 8 in flight`; nothing for one.
pub fn in_flight(queue_depth: u32) -> String {
    if queue_depth == 1 { String::new() } else { format!(", {queue_depth} in flight") }
}

/// One row per kind of request: its speed and interval, requests a second, and percentiles of their times.
pub fn table(run: &RunFile) -> Table {
    let header = ["requests", "MB/s", "between", "a second", "median", "90 %", "99 %", "longest"];
    let rows = speeds(run).into_iter().map(|(case, speed)| row(case, speed.as_ref())).collect();
    Table { header: header.map(str::to_owned).to_vec(), rows }
}

fn row(case: SpeedCase, speed: Option<&Speed>) -> Vec<String> {
    let Some(speed) = speed else {
        let unknown = ["unknown", "", "", "", "", "", ""].map(str::to_owned);
        return std::iter::once(name(case)).chain(unknown).collect();
    };
    let megabytes = |bytes_per_s: f64| quantity::three_digits(bytes_per_s / 1e6);
    let mark = if speed.cached.is_some() { " (cached)" } else { "" };
    let latency = &speed.latency;
    let times = [latency.p50, latency.p90, latency.p99, latency.max].map(quantity::seconds);
    let figures = [
        name(case),
        format!("{}{mark}", megabytes(speed.bytes_per_s)),
        quantity::apart(speed.bytes_per_s_low / 1e6, speed.bytes_per_s_high / 1e6).join(" to "),
        quantity::three_digits(speed.requests_per_s()),
    ];
    figures.into_iter().chain(times).collect()
}

/// A place in a stream or a size of a start-up, to three digits: what is measured is known no better.
pub fn about(bytes: Bytes) -> Bytes {
    let step = match bytes {
        _ if bytes <= Bytes::mib(4) => return bytes,
        _ if bytes < Bytes::mib(100) => Bytes::mib(1) / 10,
        _ => Bytes::mib(1),
    };
    let whole = nearest(bytes, Bytes::mib(1));
    let near = nearest(bytes, step);
    // 16.0 MiB are 16 MiB.
    if bytes.get().abs_diff(whole.get()) * 20 < Bytes::mib(1).get() { whole } else { near }
}

fn nearest(bytes: Bytes, step: Bytes) -> Bytes {
    (bytes + step / 2).round_down(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_rounded_and_not_cut() {
        let told = |mib: f64| about(Bytes::new((mib * 1_048_576.0) as u64)).to_string();
        assert_eq!([15.84, 16.16, 16.01, 5.0].map(told), ["15.8 MiB", "16.2 MiB", "16 MiB", "5 MiB"]);
        assert_eq!([701.6, 1023.7, 0.25].map(told), ["702 MiB", "1 GiB", "256 KiB"]);
    }
}
