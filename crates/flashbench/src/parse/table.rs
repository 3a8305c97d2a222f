//! Tables out of rows: what each row's numbers mean under the command that printed them.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{
    AlignData, AlignSample, Cause, Conditions, Contents, Data, Ended, FatAreaCell, FatAreaData, Observations,
    OpenUnitsCell, OpenUnitsData, Order, Source, StopReason, Times, WriteSizeCell, WriteSizeData,
};

use crate::parse::log::{Entry, Problem};
use crate::parse::row::{Cells, Row};
use crate::parse::stated::{Stated, TableKind};

/// Splits rows into tables. In each, candidates or sizes only fall.
pub(super) fn split(rows: Vec<Row>) -> Vec<Vec<Row>> {
    let mut tables: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match tables.last_mut() {
            Some(table) if table.last().is_some_and(|last| follows(last, &row)) => table.push(row),
            _ => tables.push(vec![row]),
        }
    }
    tables
}

fn follows(last: &Row, row: &Row) -> bool {
    let same_kind = matches!(last.cells, Cells::Align { .. }) == matches!(row.cells, Cells::Align { .. });
    same_kind && !last.interrupted && row.cells.key() < last.cells.key()
}

/// The kind of a table, by its rows and by what is stated before it. `None`: speeds of which nothing is
/// stated, or of one device a column. Several columns are those of the FAT area unless they have names of
/// their own, or are stated to be of another kind.
pub(super) fn kind(rows: &[Row], stated: Option<TableKind>, columns_are_named: bool) -> Option<TableKind> {
    match column_count(rows) {
        0 => Some(TableKind::Align),
        1 => stated.filter(|kind| *kind != TableKind::Align),
        _ if stated == Some(TableKind::FindFat) => stated,
        _ if columns_are_named || stated == Some(TableKind::OpenUnits) => None,
        _ => Some(TableKind::FindFat),
    }
}

/// How many speeds every row has; none in a table of `-a`.
pub(super) fn column_count(rows: &[Row]) -> usize {
    rows.iter().map(|row| columns(&row.cells)).min().unwrap_or(0)
}

/// The same rows with the speeds of one column alone.
pub(super) fn of_column(rows: &[Row], column: usize) -> Vec<Row> {
    let row = |row: &Row| {
        let Cells::Speeds { request, speeds } = &row.cells else { return None };
        let cells = Cells::Speeds { request: *request, speeds: vec![*speeds.get(column)?] };
        Some(Row { cells, cut: false, ..row.clone() })
    };
    rows.iter().filter_map(row).collect()
}

/// A table being made.
pub(super) struct Table<'a> {
    /// What is stated of it, all of the table's own kind.
    pub stated: Stated,
    /// Its rows, at least one.
    pub rows: &'a [Row],
    /// The device's capacity, if the log says it.
    pub capacity: Option<Bytes>,
    /// Where to put what cannot be read.
    pub problems: &'a mut Vec<Problem>,
}

impl Table<'_> {
    /// The table as an entry of the log.
    pub(super) fn entry(mut self) -> Entry {
        let mut remarks = Vec::new();
        let data = match self.stated.kind {
            Some(TableKind::Align) => self.align(&mut remarks),
            Some(TableKind::FindFat) => self.fat_area(&mut remarks),
            Some(TableKind::OpenUnits) if let Some(units) = self.stated.open_units => {
                self.open_units(units, &mut remarks)
            }
            _ => self.write_size(&mut remarks),
        };
        let source = Source::Published { program: "flashbench".to_owned(), devices: Vec::new() };
        let conditions =
            Conditions { source, capacity: self.capacity, region: None, is_in_file: false, seed: 0 };
        let first = self.rows.first().map_or(0, |row| row.first_line);
        let last = self.rows.last().map_or(0, |row| row.last_line);
        Entry {
            command: self.stated.command(),
            observations: Observations { data, conditions, ended: self.ended() },
            heading: self.stated.text,
            lines: first..=last,
            column: None,
            remarks,
        }
    }

    fn align(&mut self, remarks: &mut Vec<String>) -> Data {
        let samples: Vec<AlignSample> = self.rows.iter().filter_map(|row| sample(&row.cells)).collect();
        if self.stated.block.is_none() && self.ended() == Ended::Complete {
            // flashbench's last candidate is twice its read, so that three reads fit around a boundary.
            self.stated.block =
                samples.last().map(|sample| sample.candidate / 2).filter(|read| read.get() >= 512);
            let assumed = self.stated.block.map(|read| format!("; assumed {read}, half the last candidate"));
            remarks.push(format!("the log does not state the read size{}", assumed.unwrap_or_default()));
        }
        Data::Align(AlignData { read: self.stated.block, samples, contents: Contents::default() })
    }

    fn open_units(&mut self, open_units: u32, remarks: &mut Vec<String>) -> Data {
        let erase_block = self.erase_block(remarks);
        let order = self.order(remarks);
        let speeds = self.speeds(1);
        let cell = |(request, speeds): (Bytes, Vec<f64>)| {
            // A log may state any sizes.
            let requests = (erase_block / request).checked_mul(u64::from(open_units));
            let times = times(request, *speeds.first()?, requests);
            Some(OpenUnitsCell::round_robin((order, open_units, request), times))
        };
        Data::OpenUnits(OpenUnitsData {
            erase_block,
            cells: speeds.into_iter().filter_map(cell).collect(),
            ..OpenUnitsData::default()
        })
    }

    fn fat_area(&mut self, remarks: &mut Vec<String>) -> Data {
        let erase_block = self.erase_block(remarks);
        let order = self.order(remarks);
        let columns = self.rows.iter().map(|row| columns(&row.cells)).next().unwrap_or(0);
        let units = self.stated.fat_units.unwrap_or_else(|| u32::try_from(columns).unwrap_or(u32::MAX));
        self.stated.fat_units = Some(units);
        let cell = |request: Bytes, unit: u32, speed: f64| {
            let times = times(request, speed, Some(erase_block / request));
            FatAreaCell { unit, order, request, times }
        };
        let row = |(request, speeds): (Bytes, Vec<f64>)| {
            (0..).zip(speeds).map(|(unit, speed)| cell(request, unit, speed)).collect::<Vec<_>>()
        };
        Data::FatArea(FatAreaData {
            erase_block,
            cells: self.speeds(units).into_iter().flat_map(row).collect(),
            ..FatAreaData::default()
        })
    }

    /// Speeds without the number of open units: they still say what each request size reaches.
    fn write_size(&mut self, remarks: &mut Vec<String>) -> Data {
        remarks.push(
            "the log does not state the number of open units of this table; read as speed by request size"
                .to_owned(),
        );
        let erase_block = self.erase_block(remarks);
        let order = self.order(remarks);
        let cell = |(request, speeds): (Bytes, Vec<f64>)| {
            Some(WriteSizeCell { order, request, start: None, times: times(request, *speeds.first()?, None) })
        };
        let cells = self.speeds(1).into_iter().filter_map(cell).collect();
        Data::WriteSize(WriteSizeData { erase_block: Some(erase_block), cells, ..WriteSizeData::default() })
    }

    /// The stated erase block; the largest request where none, or a smaller one, is stated.
    fn erase_block(&mut self, remarks: &mut Vec<String>) -> Bytes {
        let largest = self.rows.iter().map(|row| row.cells.key()).max().unwrap_or(Bytes::ZERO);
        let erase_block = match self.stated.erase_block {
            Some(stated) if stated >= largest => return stated,
            Some(stated) => {
                remarks.push(format!("the command states {stated}, but the table has requests of {largest}; assumed an erase block of {largest}"));
                largest
            }
            None => {
                remarks.push(format!(
                    "the log does not state the erase block; assumed {largest}, the largest request"
                ));
                largest
            }
        };
        self.stated.erase_block = Some(erase_block);
        erase_block
    }

    fn order(&mut self, remarks: &mut Vec<String>) -> Order {
        if self.stated.order.is_none() {
            remarks.push(
                "the log does not state the write order; assumed linear, flashbench's default".to_owned(),
            );
        }
        *self.stated.order.get_or_insert(Order::Linear)
    }

    /// The speeds of each row. A row of another length than `columns` is a problem; its first speeds are
    /// kept.
    fn speeds(&mut self, columns: u32) -> Vec<(Bytes, Vec<f64>)> {
        let wanted = columns as usize;
        let mut table = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            let Cells::Speeds { request, speeds } = &row.cells else { continue };
            if speeds.len() != wanted && !row.cut {
                let reason = format!("the row has {} speeds where {wanted} are expected", speeds.len());
                self.problems.push(Problem { line: row.first_line, text: format!("{request} …"), reason });
            }
            table.push((*request, speeds.iter().copied().take(wanted).collect()));
        }
        table
    }

    fn ended(&self) -> Ended {
        let last = self.rows.last().map_or(Bytes::ZERO, |row| row.cells.key());
        if self.rows.iter().any(|row| row.interrupted) {
            return cut(StopReason::LogInterrupted { row: last });
        }
        match (self.stated.kind, self.stated.block) {
            (Some(TableKind::OpenUnits | TableKind::FindFat), Some(block)) if last > block => {
                cut(StopReason::LogCutShort { row: last, wanted: block })
            }
            // A subtraction, because the log may state any block size.
            (Some(TableKind::Align), Some(read)) if last.saturating_sub(read) > read => {
                cut(StopReason::LogCutShort { row: last, wanted: read * 2 })
            }
            _ => Ended::Complete,
        }
    }
}

/// A log that ends too soon.
const fn cut(reason: StopReason) -> Ended {
    Ended::Early { reason, cause: Cause::Log }
}

/// How many speeds a row has.
pub(super) fn columns(cells: &Cells) -> usize {
    match cells {
        Cells::Align { .. } => 0,
        Cells::Speeds { speeds, .. } => speeds.len(),
    }
}

fn sample(cells: &Cells) -> Option<AlignSample> {
    let Cells::Align { candidate, before, across, after } = *cells else { return None };
    let [before, across, after] = [before, across, after].map(duration);
    Some(AlignSample { candidate, boundary: None, before, across, after })
}

/// The time one request takes at `speed` bytes per second.
fn times(request: Bytes, speed: f64, requests: Option<u64>) -> Times {
    Times::Mean { per_request: duration(request.as_f64() / speed), requests }
}

/// Seconds as a duration, to the nanosecond; what a duration cannot hold becomes the longest one.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEEDS: [u64; 3] = [4096, 2048, 1024];

    fn speeds(request: u64) -> Row {
        let cells = Cells::Speeds { request: Bytes::new(request), speeds: vec![1e6] };
        Row { first_line: 1, last_line: 1, cells, interrupted: false, rewritten: false, cut: false }
    }

    fn align(candidate: u64) -> Row {
        let cells = Cells::Align { candidate: Bytes::new(candidate), before: 1.0, across: 1.0, after: 1.0 };
        Row { cells, ..speeds(1) }
    }

    fn lengths(rows: Vec<Row>) -> Vec<usize> {
        split(rows).iter().map(Vec::len).collect()
    }

    #[test]
    fn falling_rows_of_one_kind_are_one_table() {
        assert_eq!(lengths(Vec::new()), Vec::<usize>::new());
        assert_eq!(lengths(SPEEDS.map(speeds).to_vec()), [3]);
        assert_eq!(lengths(SPEEDS.map(align).to_vec()), [3]);
        // A size that occurs again, or a larger one, begins the next table.
        assert_eq!(lengths([4096, 2048, 2048, 1024].map(speeds).to_vec()), [2, 2]);
        assert_eq!(lengths([2048, 4096, 1024].map(speeds).to_vec()), [1, 2]);
        assert_eq!(lengths(vec![align(4096), speeds(2048), speeds(1024)]), [1, 2]);
        assert_eq!(lengths(vec![speeds(4096), align(2048), align(1024)]), [1, 2]);
    }

    #[test]
    fn the_row_after_an_interruption_begins_a_table() {
        let interrupted = Row { interrupted: true, ..speeds(4096) };
        assert_eq!(lengths(vec![interrupted, speeds(2048), speeds(1024)]), [1, 2]);
    }

    #[test]
    fn a_number_of_requests_beyond_64_bits_is_not_known() {
        let stated = Stated {
            kind: Some(TableKind::OpenUnits),
            erase_block: Some(Bytes::new(1 << 60)),
            open_units: Some(1 << 16),
            ..Stated::default()
        };
        let rows = [8192, 4096].map(speeds);
        let entry = Table { stated, rows: &rows, capacity: None, problems: &mut Vec::new() }.entry();
        let Data::OpenUnits(data) = entry.observations.data else { panic!("no table of writes") };
        let seen = data.cells.iter().map(|cell| match cell.times {
            Times::Mean { requests, .. } => requests,
            Times::Each(_) => panic!("{cell:?}"),
        });
        assert_eq!(seen.collect::<Vec<Option<u64>>>(), [Some(1 << 63), None]);
    }

    #[test]
    fn an_unstated_read_is_half_the_last_candidate_but_at_least_a_sector() {
        let read = |last: u64| {
            let rows = [8192, last].map(align);
            let stated = Stated { kind: Some(TableKind::Align), ..Stated::default() };
            let entry = Table { stated, rows: &rows, capacity: None, problems: &mut Vec::new() }.entry();
            let Data::Align(data) = entry.observations.data else { panic!("no table of reads") };
            (data.read, entry.remarks)
        };
        for (last, half) in [(4096, 2048), (2048, 1024), (1024, 512)] {
            let half = Bytes::new(half);
            let remark =
                format!("the log does not state the read size; assumed {half}, half the last candidate");
            assert_eq!(read(last), (Some(half), vec![remark]), "{last}");
        }
        let remark = "the log does not state the read size".to_owned();
        assert_eq!(read(512), (None, vec![remark]), "no device reads half a sector");
    }
}
