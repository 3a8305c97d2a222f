//! The four speeds of a run.

use flashscope_device::Bytes;
use flashscope_record::finding::{Finding, FindingId, Outcome, Value};
use flashscope_record::observation::{Data, Direction, Observations, Order, SpeedCell, SpeedData};
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::{MeasuredSpeed, SpeedNumber};

use super::yardsticks::yardstick;
use crate::classes::RANDOM_REQUEST;
use crate::streams::speed::speed_of;
use crate::streams::sustained::so_far;

/// Sequential read, sequential write, random read, random write.
pub fn numbers(run: &RunFile, findings: &[Finding]) -> [SpeedNumber; 4] {
    let number = |direction, order, request| {
        let rows = || row(run, direction, order);
        let speed = match (direction, order) {
            (Direction::Write, Order::Linear) => of_stream(run, findings).or_else(rows),
            _ => rows(),
        };
        let yardstick = yardstick(direction, order, run.attachment.link.as_ref());
        SpeedNumber { direction, order, request, speed, yardstick }
    };
    [
        number(Direction::Read, Order::Linear, Bytes::mib(1)),
        number(Direction::Write, Order::Linear, Bytes::mib(1)),
        number(Direction::Read, Order::Random, RANDOM_REQUEST),
        number(Direction::Write, Order::Random, RANDOM_REQUEST),
    ]
}

/// The rows of this kind with one request at a time, and their data.
pub fn rows_of(
    seen: &[Observations],
    direction: Direction,
    order: Order,
) -> impl Iterator<Item = (&SpeedData, &SpeedCell)> {
    let data = seen.iter().filter_map(|seen| match &seen.data {
        Data::Speed(data) => Some(data),
        _ => None,
    });
    let cells = data.flat_map(|data| data.cells.iter().map(move |cell| (data, cell)));
    cells.filter(move |(_, cell)| {
        (cell.case.direction, cell.case.order, cell.case.queue_depth) == (direction, order, 1)
    })
}

/// The speed of the last row of this kind: the largest sequential requests, the smallest random ones.
fn row(run: &RunFile, direction: Direction, order: Order) -> Option<MeasuredSpeed> {
    let of_kind = rows_of(&run.observations, direction, order);
    let by_size = |(_, cell): &(&SpeedData, &SpeedCell)| cell.case.request;
    let (data, cell) = match order {
        Order::Linear => of_kind.max_by_key(by_size),
        Order::Random => of_kind.min_by_key(by_size),
    }?;
    let speed = speed_of(data, cell)?;
    let is_cached = speed.cached.is_some();
    Some(in_order(speed.bytes_per_s, speed.bytes_per_s_low, speed.bytes_per_s_high, is_cached))
}

/// The speed of the long stream: the steady one, or that until its end.
fn of_stream(run: &RunFile, findings: &[Finding]) -> Option<MeasuredSpeed> {
    let steady = findings.iter().find(|finding| finding.id == FindingId::SustainedWriteBytesPerS);
    if let Some(Outcome::Found {
        value: Value::BytesPerSecond(value),
        low: Value::BytesPerSecond(low),
        high: Value::BytesPerSecond(high),
        ..
    }) = steady.map(|finding| &finding.outcome)
    {
        return Some(in_order(*value, *low, *high, false));
    }
    let stream = run.observations.iter().rev().find_map(|seen| match &seen.data {
        Data::Sustained(data) => Some(data),
        _ => None,
    })?;
    let speed = so_far(stream)?;
    Some(in_order(speed.bytes_per_s, speed.bytes_per_s_low, speed.bytes_per_s_high, false))
}

/// The value inside its interval, whatever rounding did to its ends.
fn in_order(value: f64, low: f64, high: f64, is_cached: bool) -> MeasuredSpeed {
    MeasuredSpeed { bytes_per_s: value, low: low.min(value), high: high.max(value), is_cached }
}
