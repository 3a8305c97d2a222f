//! Speeds that another program measured: their table, and the headline.

use flashscope_record::observation::{Data, Direction, Order, PublishedSpeed, Source};
use flashscope_record::run_file::RunFile;

use crate::chart::Table;
use crate::printable::printable;
use crate::quantity;
use crate::terms::order_name;

/// Every row of a run, with the program that measured it.
pub fn rows(run: &RunFile) -> impl Iterator<Item = (&str, &PublishedSpeed)> {
    run.observations.iter().flat_map(|seen| {
        let program = match &seen.conditions.source {
            Source::Published { program, .. } => program.as_str(),
            Source::Measured => "",
        };
        let rows = match &seen.data {
            Data::PublishedSpeeds(data) => data.rows.as_slice(),
            _ => &[],
        };
        rows.iter().map(move |row| (program, row))
    })
}

/// What a row is about: `sequential write, 1 MiB, queue depth 8, direct`. What is not stated is left out.
pub fn name(row: &PublishedSpeed) -> String {
    let order = row.order.map_or("", order_name);
    let subject = format!("{order} {}", row.direction.as_str());
    let request = row.request.map(|request| request.to_string());
    let depth = row.queue_depth.map(|depth| format!("queue depth {depth}"));
    let threads = row.threads.filter(|threads| *threads > 1).map(|threads| format!("{threads} threads"));
    let cached = row.is_direct.map(|is_direct| if is_direct { "direct" } else { "cached" }.to_owned());
    let details = [request, depth, threads, cached].into_iter().flatten();
    std::iter::once(subject.trim().to_owned()).chain(details).collect::<Vec<_>>().join(", ")
}

/// One row for each kind of request.
pub fn table(run: &RunFile) -> Table {
    let header = ["program", "requests", "MB/s", "IOPS", "name"].map(str::to_owned).to_vec();
    let row = |(program, row): (&str, &PublishedSpeed)| {
        let iops = row.requests_per_s.map_or_else(String::new, quantity::three_digits);
        let speed = quantity::three_digits(row.bytes_per_s / 1e6);
        vec![printable(program), name(row), speed, iops, printable(&row.name)]
    };
    Table { header, rows: rows(run).map(row).collect() }
}

/// The fastest sequential or unnamed read and write, with the program. `None` without any row.
pub fn headline(run: &RunFile) -> Option<String> {
    let fastest = |direction: Direction| {
        let own = rows(run).filter(|(_, row)| row.direction == direction);
        own.max_by(|(_, a), (_, b)| {
            let rank = |row: &PublishedSpeed| row.order != Some(Order::Random);
            rank(a).cmp(&rank(b)).then(a.bytes_per_s.total_cmp(&b.bytes_per_s))
        })
    };
    let text =
        |(_, row): (&str, &PublishedSpeed)| format!("{} {}", name(row), quantity::speed(row.bytes_per_s));
    let (program, _) = rows(run).next()?;
    let parts: Vec<String> =
        [Direction::Read, Direction::Write].into_iter().filter_map(fastest).map(text).collect();
    Some(format!("{} measured: {}", printable(program), parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_is_not_named_and_several_are_counted() {
        let named = |threads: Option<u32>| {
            let row = PublishedSpeed::new(Direction::Read, 1e6);
            name(&PublishedSpeed { queue_depth: Some(8), threads, ..row })
        };
        let alone = "read, queue depth 8";
        assert_eq!([None, Some(1), Some(2)].map(named), [alone, alone, "read, queue depth 8, 2 threads"]);
    }
}
