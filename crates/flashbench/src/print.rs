//! Prints observations in flashbench's own form, for line-by-line comparison.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flashscope_device::Bytes;

use flashscope_record::observation::{
    AlignData, AlignSample, Data, FatAreaData, Observations, OpenUnitsData, Order, Times, WriteSizeCell,
    WriteSizeData,
};

/// The table in flashbench's own form: three significant digits, binary sizes, decimal speeds.
///
/// - align: `align 8388608\tpre 543µs\ton 819µs\tpost 656µs\tdiff 219µs`, the largest candidate first.
///   Samples of one candidate are condensed as in flashbench: the minimum over rounds at each boundary, then
///   the mean over boundaries.
/// - open units, write size: `8MiB 15M/s`, the largest request first. Where there is more than one
///   combination of order and number of units, each has a heading such as `AU=8, linear access`.
/// - FAT area: the same with one column per unit.
/// - Empty for experiments that flashbench does not have.
#[must_use]
pub fn print(observations: &Observations) -> String {
    match &observations.data {
        Data::Align(data) => align(data),
        Data::OpenUnits(data) => open_units(data),
        Data::WriteSize(data) => write_size(data),
        Data::FatArea(data) => fat_area(data),
        _ => String::new(),
    }
}

fn align(data: &AlignData) -> String {
    let mut candidates: BTreeMap<Reverse<Bytes>, Vec<&AlignSample>> = BTreeMap::new();
    for sample in &data.samples {
        candidates.entry(Reverse(sample.candidate)).or_default().push(sample);
    }
    candidates.iter().map(|(candidate, samples)| align_row(candidate.0, samples)).collect()
}

fn align_row(candidate: Bytes, samples: &[&AlignSample]) -> String {
    let before = condensed(samples, |sample| sample.before.as_secs_f64());
    let across = condensed(samples, |sample| sample.across.as_secs_f64());
    let after = condensed(samples, |sample| sample.after.as_secs_f64());
    let difference = across - f64::midpoint(before, after);
    let [before, across, after, difference] = [before, across, after, difference].map(time);
    format!("align {}\tpre {before}\ton {across}\tpost {after}\tdiff {difference}\n", candidate.get())
}

/// The mean over boundaries of the minimum over rounds. Samples without a boundary are already means.
fn condensed(samples: &[&AlignSample], seconds: impl Fn(&AlignSample) -> f64) -> f64 {
    let mut least: BTreeMap<Option<Bytes>, f64> = BTreeMap::new();
    let mut means = Vec::new();
    for sample in samples {
        match sample.boundary {
            None => means.push(seconds(sample)),
            boundary => {
                let least = least.entry(boundary).or_insert(f64::INFINITY);
                *least = least.min(seconds(sample));
            }
        }
    }
    mean(means.into_iter().chain(least.into_values()))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    if count > 0.0 { sum / count } else { 0.0 }
}

fn open_units(data: &OpenUnitsData) -> String {
    let mut tables: BTreeMap<(Order, u32), Rows> = BTreeMap::new();
    for cell in &data.cells {
        let table = tables.entry((cell.order, cell.open_units)).or_default();
        table.entry(Reverse(cell.request)).or_default().extend(speed_of(cell.request, &cell.times));
    }
    let headed = tables.len() > 1;
    let table = |((order, units), rows): (&(Order, u32), &Rows)| {
        let heading = if headed { format!("AU={units}, {} access\n", order.as_str()) } else { String::new() };
        heading + &means_table(rows)
    };
    tables.iter().map(table).collect()
}

fn write_size(data: &WriteSizeData) -> String {
    let table = |order: Order| {
        let of_order = |cell: &&WriteSizeCell| cell.order == order;
        let mut rows = Rows::new();
        for cell in data.cells.iter().filter(of_order) {
            rows.entry(Reverse(cell.request)).or_default().extend(speed_of(cell.request, &cell.times));
        }
        rows
    };
    let tables = [Order::Linear, Order::Random].map(|order| (order, table(order)));
    let headed = tables.iter().all(|(_, rows)| !rows.is_empty());
    let printed = |(order, rows): &(Order, Rows)| {
        let heading = if headed { format!("{} access\n", order.as_str()) } else { String::new() };
        heading + &means_table(rows)
    };
    tables.iter().map(printed).collect()
}

fn fat_area(data: &FatAreaData) -> String {
    let mut rows: BTreeMap<Reverse<Bytes>, BTreeMap<u32, f64>> = BTreeMap::new();
    for cell in &data.cells {
        if let Some(speed) = speed_of(cell.request, &cell.times) {
            rows.entry(Reverse(cell.request)).or_default().insert(cell.unit, speed);
        }
    }
    let mut table = String::new();
    for (request, units) in rows {
        let columns: String = units.into_values().map(|value| format!("{:<8} ", speed(value))).collect();
        let _ = writeln!(table, "{:<8}{columns}", size(request.0));
    }
    table
}

/// Speeds by request, the largest first.
type Rows = BTreeMap<Reverse<Bytes>, Vec<f64>>;

fn means_table(rows: &Rows) -> String {
    let row = |(request, speeds): (&Reverse<Bytes>, &Vec<f64>)| {
        let speed = speed(mean(speeds.iter().copied()));
        format!("{:<8}{speed:<8}\n", size(request.0))
    };
    rows.iter().filter(|(_, speeds)| !speeds.is_empty()).map(row).collect()
}

/// Bytes per second; `None` without times.
fn speed_of(request: Bytes, times: &Times) -> Option<f64> {
    times.mean_seconds().filter(|seconds| *seconds > 0.0).map(|seconds| request.as_f64() / seconds)
}

/// `8MiB`: the largest binary unit that divides the size.
fn size(bytes: Bytes) -> String {
    let units = [(Bytes::gib(1), "GiB"), (Bytes::mib(1), "MiB"), (Bytes::kib(1), "KiB")];
    let divides = |(unit, _): &(Bytes, &str)| bytes >= *unit && bytes.is_multiple_of(*unit);
    let (unit, name) = units.into_iter().find(divides).unwrap_or((Bytes::new(1), "B"));
    format!("{}{name}", bytes / unit)
}

/// A speed with three digits: `15.3M/s`, `861K/s`.
fn speed(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "K/s"), (1.0, "B/s")])
}

/// A time with three digits: `543µs`, `1.08ms`. Negative ones are printed in nanoseconds, as flashbench does.
fn time(seconds: f64) -> String {
    if seconds < 0.0 {
        return format!("{:.0}ns", seconds * 1e9);
    }
    scaled(seconds, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")])
}

/// `value` in the largest unit in which it rounds to at least 1; else in the smallest unit.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let last = units.len().saturating_sub(1);
    let mut tried =
        units.iter().enumerate().map(|(at, (scale, unit))| (at == last, three_digits(value / scale), unit));
    let fits = tried.find(|(is_last, number, _)| *is_last || *number >= 1.0);
    fits.map_or_else(String::new, |(_, number, unit)| format!("{number}{unit}"))
}

/// Rounded to three significant digits.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_with_three_significant_digits() {
        let times = [543e-6, 1.08e-3, 25.3e-6, 487e-9, 999.7e-6, -3602e-9, 0.0, 1.5].map(time);
        assert_eq!(times, ["543µs", "1.08ms", "25.3µs", "487ns", "1ms", "-3602ns", "0ns", "1.5s"]);
        let speeds = [15.26e6, 861_400.0, 14.0e6, 1.2e9, 999_600.0, 512.0].map(speed);
        assert_eq!(speeds, ["15.3M/s", "861K/s", "14M/s", "1.2G/s", "1M/s", "512B/s"]);
    }

    #[test]
    fn writes_in_both_orders_have_a_table_each() {
        let cell = |order, milliseconds| {
            let times = Times::Each(vec![std::time::Duration::from_millis(milliseconds)]);
            WriteSizeCell { order, request: Bytes::kib(64), start: None, times }
        };
        let both = vec![cell(Order::Linear, 8), cell(Order::Random, 64)];
        let printed = |cells| write_size(&WriteSizeData { cells, ..WriteSizeData::default() });
        assert_eq!(printed(both), "linear access\n64KiB   8.19M/s \nrandom access\n64KiB   1.02M/s \n");
        assert_eq!(printed(vec![cell(Order::Linear, 8)]), "64KiB   8.19M/s \n");
    }

    #[test]
    fn requests_that_took_no_time_have_no_row() {
        let cell = |kib, nanoseconds| WriteSizeCell {
            order: Order::Linear,
            request: Bytes::kib(kib),
            start: None,
            times: Times::Each(vec![std::time::Duration::from_nanos(nanoseconds)]),
        };
        let cells = vec![cell(64, 0), cell(4, 512_000)];
        let printed = write_size(&WriteSizeData { cells, ..WriteSizeData::default() });
        assert_eq!(printed, "4KiB    8M/s    \n");
    }

    #[test]
    fn sizes_are_printed_in_the_largest_unit_that_divides_them() {
        let sizes = [8 << 20, 1536 << 10, 512 << 10, 1 << 30, 512].map(|bytes| size(Bytes::new(bytes)));
        assert_eq!(sizes, ["8MiB", "1536KiB", "512KiB", "1GiB", "512B"]);
    }
}
