//! A run file of flashscope as flashbench tables: the same quantities, in the cells of flashbench's commands.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_infer::infer;
use flashscope_record::finding::{Finding, FindingId, FtlClass, Value};
use flashscope_record::observation::{
    AlignData, AlignSample, Data, OpenUnitsCell, OpenUnitsData, Order, Times, WriteSizeData,
};
use flashscope_record::run_file::RunFile;

use crate::found::find;
use crate::measured::{Cell, Key, Known, Measured, Side, Table, too_many_units};

/// The length of reads if a run does not give it: flashbench's default.
const READ: Bytes = Bytes::kib(1);

impl Measured {
    /// The observations of a run. Writes count by the later half of their requests, after the warm-up of the
    /// open erase blocks.
    #[must_use]
    pub fn from_run(name: &str, run: &RunFile) -> Self {
        let data = || run.observations.iter().map(|seen| &seen.data);
        let assumed = data().find_map(|data| data.facts().erase_block());
        let erase_block = assumed.unwrap_or(Command::DEFAULT_ERASE_BLOCK);
        let has_random_search = data().any(|data| matches!(data, Data::OpenUnits(data) if has_random(data)));
        let findings = infer(&run.observations);
        let mut remarks = Vec::new();
        let mut is_taken = |table: &Table| {
            let problem = too_many_units(table.command);
            let is_taken = problem.is_none();
            remarks.extend(problem.map(|why| format!("a table is skipped: {why}")));
            is_taken
        };
        let tables: Vec<Table> = data()
            .flat_map(|data| tables(data, erase_block))
            .filter(|table| !(table.cells.is_empty() || has_random_search && is_single_unit_random(table)))
            .filter(&mut is_taken)
            .collect();
        let mut measured = Self {
            name: name.to_owned(),
            device_name: run.device_name.clone(),
            source: format!("a run of flashscope {} on {}", run.flashscope, run.target),
            fat_area: fat_area(&findings, erase_block),
            known: Some(known(&findings)),
            capacity: run.observations.iter().find_map(|seen| seen.conditions.capacity),
            tables,
            remarks,
        };
        for (index, table) in (1..).zip(&mut measured.tables) {
            table.lines = index..=index;
        }
        measured
    }
}

fn has_random(data: &OpenUnitsData) -> bool {
    all_cells(data).any(|cell| cell.order == Order::Random)
}

/// All cells with round-robin writes, including random ones after a sequential start.
fn all_cells(data: &OpenUnitsData) -> impl Iterator<Item = &OpenUnitsCell> {
    data.cells.iter().chain(&data.continued)
}

/// A table of random writes to a single new erase block. Its first write, which opens the block, has too much
/// weight compared with the longer rows of the search for open units.
fn is_single_unit_random(table: &Table) -> bool {
    let is_single_unit =
        matches!(table.command, Command::OpenUnits { open_units: 1, order: Order::Random, .. });
    is_single_unit && table.cells.len() > 1
}

/// The inferred FAT area; its cells are not fitted.
fn fat_area(findings: &[Finding], erase_block: Bytes) -> Bytes {
    let finding = find(findings, FindingId::FatAreaBytes).and_then(Finding::bytes);
    finding.unwrap_or(Bytes::ZERO).round_down(erase_block)
}

/// The merge time counts where each write beyond the open units costs one merge. In a log the cost grows step
/// by step, so that it is fitted.
fn known(findings: &[Finding]) -> Known {
    let count = |id| find(findings, id).and_then(Finding::count);
    let value = |id| find(findings, id).and_then(Finding::value);
    let merge_s = match (value(FindingId::MergeSeconds), value(FindingId::FtlClass)) {
        (
            Some(Value::Seconds(seconds)),
            Some(Value::Class { class: FtlClass::OpenBlock | FtlClass::LinearOnly, .. }),
        ) => Some(seconds),
        _ => None,
    };
    Known {
        page: find(findings, FindingId::PageBytes).and_then(Finding::bytes),
        open_units_linear: count(FindingId::OpenUnitsLinear),
        open_units_random: count(FindingId::OpenUnitsRandom),
        merge_s,
    }
}

fn tables(data: &Data, erase_block: Bytes) -> Vec<Table> {
    match data {
        Data::Align(data) => vec![align(data)],
        Data::WriteSize(data) => write_size(data, erase_block),
        Data::OpenUnits(data) => open_units(data),
        // flashbench has no other tables; its FAT table opens and closes erase blocks in another order.
        _ => Vec::new(),
    }
}

const fn table(command: Command, cells: Vec<Cell>) -> Table {
    Table { command, lines: 0..=0, cells }
}

/// As in flashbench: the mean over boundaries of the fastest read at each.
fn align(data: &AlignData) -> Table {
    let read = data.read.unwrap_or(READ);
    let mut fastest: BTreeMap<(Bytes, Side, Option<Bytes>), Duration> = BTreeMap::new();
    for sample in data.samples.iter().filter(|sample| sample.candidate >= read * 2) {
        for (side, time) in sides(sample) {
            let best = fastest.entry((sample.candidate, side, sample.boundary)).or_insert(time);
            *best = time.min(*best);
        }
    }
    let mut means: BTreeMap<(Bytes, Side), Vec<f64>> = BTreeMap::new();
    for ((candidate, side, _), time) in fastest {
        means.entry((candidate, side)).or_default().push(time.as_secs_f64());
    }
    let cell = |((candidate, side), times): ((Bytes, Side), Vec<f64>)| {
        Some(Cell { key: Key::Read { candidate, side }, seconds: mean(&times)? })
    };
    table(Command::Align { read }, means.into_iter().filter_map(cell).collect())
}

const fn sides(sample: &AlignSample) -> [(Side, Duration); 3] {
    [(Side::Before, sample.before), (Side::Across, sample.across), (Side::After, sample.after)]
}

/// Writes to a single erase block.
fn write_size(data: &WriteSizeData, erase_block: Bytes) -> Vec<Table> {
    [Order::Linear, Order::Random]
        .into_iter()
        .map(|order| {
            let cells = data.cells.iter().filter(|cell| cell.order == order);
            let of = cells.map(|cell| (1, cell.request, &cell.times));
            round_robin(erase_block, 1, order, of)
        })
        .collect()
}

/// One table for each order and number of erase blocks.
fn open_units(data: &OpenUnitsData) -> Vec<Table> {
    let mut kinds: Vec<(Order, u32)> = all_cells(data).map(|cell| (cell.order, cell.open_units)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
        .into_iter()
        .map(|(order, units)| {
            let cells = all_cells(data).filter(|cell| cell.order == order && cell.open_units == units);
            let of = cells.map(|cell| (units, cell.request, &cell.times));
            round_robin(data.erase_block, units, order, of)
        })
        .collect()
}

fn round_robin<'a>(
    erase_block: Bytes,
    open_units: u32,
    order: Order,
    cells: impl Iterator<Item = (u32, Bytes, &'a Times)>,
) -> Table {
    let cells: Vec<Cell> = cells
        .filter(|(_, request, _)| is_row(erase_block, *request))
        .filter_map(|(units, request, times)| {
            Some(Cell { key: Key::OpenUnits { units, order, request }, seconds: late_mean(times)? })
        })
        .collect();
    let smallest = cells.iter().map(|cell| request(&cell.key)).min().unwrap_or(erase_block);
    table(Command::OpenUnits { erase_block, open_units, smallest, order }, cells)
}

const fn request(key: &Key) -> Bytes {
    match key {
        Key::Read { candidate, .. } => *candidate,
        Key::OpenUnits { request, .. } | Key::FindFat { request, .. } => *request,
    }
}

/// True for the request sizes of flashbench's rows, which halve from the erase block on. In an erase block
/// that is no power of two, other powers of two are fitted as well.
fn is_row(erase_block: Bytes, request: Bytes) -> bool {
    let halves = !request.is_zero()
        && erase_block.is_multiple_of(request)
        && (erase_block / request).is_power_of_two();
    let is_odd = !erase_block.get().is_power_of_two();
    halves || is_odd && request < erase_block && request.get().is_power_of_two()
}

/// The mean over the later half of the requests, seconds. A mean of zero is none.
fn late_mean(times: &Times) -> Option<f64> {
    let Times::Each(each) = times else { return times.mean_seconds().filter(|seconds| *seconds > 0.0) };
    let late: Vec<f64> = each[each.len() / 2..].iter().map(Duration::as_secs_f64).collect();
    mean(&late)
}

/// The mean; `None` without a time above zero.
fn mean(times: &[f64]) -> Option<f64> {
    let (count, sum) = (f64::from(u32::try_from(times.len()).ok()?), times.iter().sum::<f64>());
    (sum > 0.0).then(|| sum / count)
}
