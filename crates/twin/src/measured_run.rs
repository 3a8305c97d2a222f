//! A run file of flashscope as tables of flashbench: the same quantities, in cells that flashbench's commands would have given.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_infer::infer;
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::{
    AlignData, AlignSample, Data, OpenUnitsCell, OpenUnitsData, Order, Times, WriteSizeData,
};
use flashscope_record::run_file::RunFile;

use crate::measured::{Cell, Key, Measured, Side, Table};

/// flashbench's reads where a run does not say how long they were.
const READ: Bytes = Bytes::kib(1);

impl Measured {
    /// The observations of a run. Writes count by the later half of their requests, when as many erase blocks are open as
    /// will be.
    #[must_use]
    pub fn from_run(name: &str, run: &RunFile) -> Self {
        let data = || run.observations.iter().map(|seen| &seen.data);
        let told = data().find_map(|data| match data {
            Data::OpenUnits(data) => Some(data.erase_block),
            Data::FatArea(data) => Some(data.erase_block),
            Data::WriteSize(data) => data.erase_block,
            Data::Align(_)
            | Data::Sustained(_)
            | Data::WriteBuffer(_)
            | Data::BlockEnds(_)
            | Data::Speed(_)
            | Data::Files(_)
            | Data::Methods(_) => None,
        });
        let erase_block = told.unwrap_or(Command::DEFAULT_ERASE_BLOCK);
        let searched = data().any(|data| matches!(data, Data::OpenUnits(data) if has_random(data)));
        let tables = data()
            .flat_map(|data| tables(data, erase_block))
            .filter(|table| !(table.cells.is_empty() || searched && is_lone_random(table)));
        let mut measured = Self {
            name: name.to_owned(),
            device_name: run.device_name.clone(),
            source: format!("a run of flashscope {} on {}", run.flashscope, run.target),
            fat_area: fat_area(run, erase_block),
            capacity: run.observations.iter().find_map(|seen| seen.conditions.capacity),
            tables: tables.collect(),
            remarks: Vec::new(),
        };
        for (index, table) in (1..).zip(&mut measured.tables) {
            table.lines = index..=index;
        }
        measured
    }
}

fn has_random(data: &OpenUnitsData) -> bool {
    in_turns(data).any(|cell| cell.order == Order::Random)
}

/// All that was written into blocks in turn: also what was gone on with out of order.
fn in_turns(data: &OpenUnitsData) -> impl Iterator<Item = &OpenUnitsCell> {
    data.cells.iter().chain(&data.gone_on)
}

/// A few random writes of each size in a new erase block: the first, which opens it, weighs too much beside the longer rows of
/// the search for open units.
fn is_lone_random(table: &Table) -> bool {
    let lone = matches!(table.command, Command::OpenUnits { open_units: 1, order: Order::Random, .. });
    lone && table.cells.len() > 1
}

/// The FAT area as it is inferred: its cells are no part of the fit.
fn fat_area(run: &RunFile, erase_block: Bytes) -> Bytes {
    let findings = infer(&run.observations);
    let found =
        findings.iter().find(|finding| finding.id == FindingId::FatAreaBytes).and_then(Finding::bytes);
    found.unwrap_or(Bytes::ZERO).round_down(erase_block)
}

fn tables(data: &Data, erase_block: Bytes) -> Vec<Table> {
    match data {
        Data::Align(data) => vec![align(data)],
        Data::WriteSize(data) => write_size(data, erase_block),
        Data::OpenUnits(data) => open_units(data),
        // It opens and closes erase blocks in an order of its own, which no command of flashbench does.
        Data::FatArea(_) => Vec::new(),
        // flashbench has no such tables.
        Data::Sustained(_)
        | Data::WriteBuffer(_)
        | Data::BlockEnds(_)
        | Data::Speed(_)
        | Data::Files(_)
        | Data::Methods(_) => Vec::new(),
    }
}

const fn table(command: Command, cells: Vec<Cell>) -> Table {
    Table { command, lines: 0..=0, cells }
}

/// As flashbench takes it: of each boundary the fastest read, and of those the mean.
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

/// One erase block, written alone.
fn write_size(data: &WriteSizeData, erase_block: Bytes) -> Vec<Table> {
    [Order::Linear, Order::Random]
        .into_iter()
        .map(|order| {
            let cells = data.cells.iter().filter(|cell| cell.order == order);
            let of = cells.map(|cell| (1, cell.request, &cell.times));
            in_turn(erase_block, 1, order, of)
        })
        .collect()
}

/// One table for each order and number of units.
fn open_units(data: &OpenUnitsData) -> Vec<Table> {
    let mut kinds: Vec<(Order, u32)> = in_turns(data).map(|cell| (cell.order, cell.open_units)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
        .into_iter()
        .map(|(order, units)| {
            let cells = in_turns(data).filter(|cell| cell.order == order && cell.open_units == units);
            let of = cells.map(|cell| (units, cell.request, &cell.times));
            in_turn(data.erase_block, units, order, of)
        })
        .collect()
}

fn in_turn<'a>(
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

/// flashbench's rows halve from the erase block on.
fn is_row(erase_block: Bytes, request: Bytes) -> bool {
    !request.is_zero() && erase_block.is_multiple_of(request) && (erase_block / request).is_power_of_two()
}

/// The mean over the later half of the requests, seconds.
fn late_mean(times: &Times) -> Option<f64> {
    let Times::Each(each) = times else { return times.mean_seconds() };
    let late: Vec<f64> = each[each.len() / 2..].iter().map(Duration::as_secs_f64).collect();
    mean(&late)
}

fn mean(times: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(times.len()).ok()?);
    (count > 0.0).then(|| times.iter().sum::<f64>() / count)
}
