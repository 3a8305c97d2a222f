//! A measurement: tables of cells, each with the command that made it.

use std::ops::RangeInclusive;

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_flashbench::parse::{Entry, Log};
use flashscope_record::observation::{Data, Order};

/// The tables of one log, in the log's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The name of the log.
    pub name: String,
    /// The device's name; empty if the log does not give it.
    pub device_name: String,
    /// The publication, from the log's `# source` line; empty without one.
    pub source: String,
    /// The device's capacity, if the log gives it.
    pub capacity: Option<Bytes>,
    /// The FAT area found in a run file; zero for logs.
    pub fat_area: Bytes,
    /// What else was found in a run file; `None` for logs.
    pub known: Option<Known>,
    /// The tables.
    pub tables: Vec<Table>,
    /// Remarks about unusable tables, one sentence each.
    pub remarks: Vec<String>,
}

/// What the findings of a run say, beside its tables. A fit takes them as they are: they come from more than
/// flashbench's tables can hold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Known {
    /// The page.
    pub page: Option<Bytes>,
    /// How many erase blocks can be open, for sequential writes.
    pub open_units_linear: Option<u32>,
    /// The same for random writes.
    pub open_units_random: Option<u32>,
    /// The time of a merge, seconds, if each write beyond the open units costs one.
    pub merge_s: Option<f64>,
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The command that made it, limited to the rows of the table.
    pub command: Command,
    /// Its lines in the log, from 1.
    pub lines: RangeInclusive<usize>,
    /// The cells, in order.
    pub cells: Vec<Cell>,
}

/// One figure of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// What it measures.
    pub key: Key,
    /// The time of one request, seconds.
    pub seconds: f64,
}

/// The position of a read relative to a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// It ends at the boundary.
    Before,
    /// It crosses the boundary.
    Across,
    /// It starts at the boundary.
    After,
}

/// What a cell measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A read at boundaries of one period.
    Read {
        /// The period.
        candidate: Bytes,
        /// The position.
        side: Side,
    },
    /// Round-robin writes to several erase blocks.
    OpenUnits {
        /// The number of erase blocks.
        units: u32,
        /// The order inside each erase block.
        order: Order,
        /// The request size.
        request: Bytes,
    },
    /// Writes to one of the first erase blocks.
    FindFat {
        /// The index of the erase block.
        unit: u32,
        /// The order inside the erase block.
        order: Order,
        /// The request size.
        request: Bytes,
    },
}

impl Key {
    /// True for reads.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        matches!(self, Self::Read { .. })
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read { candidate, side } => write!(formatter, "{candidate} {side}"),
            Self::OpenUnits { units, order, request } => {
                write!(formatter, "{request} in {units} units, {}", order.as_str())
            }
            Self::FindFat { unit, order, request } => {
                write!(formatter, "{request} in unit {unit}, {}", order.as_str())
            }
        }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Before => "before",
            Self::Across => "across",
            Self::After => "after",
        })
    }
}

/// The most erase blocks that a table writes to by turns. Policy: twice the 128 that a survey tries. The time
/// of a fit grows with the square.
const UNITS_MAX: u32 = 256;

impl Measured {
    /// The tables of a log. `text` is the text of the log, for its `# source` line.
    #[must_use]
    pub fn from_log(name: &str, log: &Log, text: &[u8]) -> Self {
        let mut remarks = Vec::new();
        let tables = log.entries.iter().filter_map(|entry| table(entry, &mut remarks)).collect();
        let capacity = log.entries.iter().find_map(|entry| entry.observations.conditions.capacity);
        let source = source(text).unwrap_or_default();
        let device_name = log.device_name.clone();
        let (name, fat_area) = (name.to_owned(), Bytes::ZERO);
        Self { name, device_name, source, capacity, fat_area, known: None, tables, remarks }
    }

    /// A log of these tables that says nothing else, for tests.
    #[cfg(test)]
    pub(crate) fn of_tables(tables: Vec<Table>) -> Self {
        let [name, device_name, source] = Default::default();
        let (capacity, fat_area, known, remarks) = (None, Bytes::ZERO, None, Vec::new());
        Self { name, device_name, source, capacity, fat_area, known, tables, remarks }
    }

    /// All cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.tables.iter().flat_map(|table| &table.cells)
    }
}

/// The text of the `# source:` line.
fn source(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().find_map(|line| line.trim_start_matches('#').trim().strip_prefix("source:"))?;
    Some(line.trim().chars().filter(|c| !c.is_control()).take(300).collect())
}

fn table(entry: &Entry, remarks: &mut Vec<String>) -> Option<Table> {
    let cells: Vec<Cell> = cells(&entry.observations.data);
    let (lines, first) = (entry.lines.clone(), entry.lines.start());
    let Some(command) = entry.command.and_then(|command| with_rows_of(command, &cells)) else {
        remarks.push(format!("the table at line {first} is skipped: the log does not give its full command"));
        return None;
    };
    let impossible = || entry.observations.check().err().map(|error| error.in_short());
    if let Some(why) = too_many_units(command).or_else(impossible) {
        remarks.push(format!("the table at line {first} is skipped: {why}"));
        return None;
    }
    Some(Table { command, lines, cells })
}

/// Why the fit takes no table of as many erase blocks by turns; `None` if it does.
pub(crate) fn too_many_units(command: Command) -> Option<String> {
    let Command::OpenUnits { open_units, .. } = command else { return None };
    (open_units > UNITS_MAX).then(|| {
        format!("it writes to {open_units} erase blocks by turns, and the fit takes at most {UNITS_MAX}")
    })
}

/// The command limited to the rows of the table: some runs were stopped early, others ran further than the
/// command says.
fn with_rows_of(command: Command, cells: &[Cell]) -> Option<Command> {
    let requests = cells.iter().filter_map(|cell| match cell.key {
        Key::Read { .. } => None,
        Key::OpenUnits { request, .. } | Key::FindFat { request, .. } => Some(request),
    });
    let smallest = requests.min();
    Some(match command {
        Command::Align { read } => Command::Align { read },
        Command::OpenUnits { erase_block, open_units, order, .. } => {
            Command::OpenUnits { erase_block, open_units, smallest: smallest?, order }
        }
        Command::FindFat { erase_block, units, order, .. } => {
            Command::FindFat { erase_block, units, smallest: smallest?, order }
        }
    })
}

/// The cells of observations. Times of zero are skipped.
pub(crate) fn cells(data: &Data) -> Vec<Cell> {
    let cells: Vec<Cell> = match data {
        Data::Align(data) => data.samples.iter().flat_map(read_cells).collect(),
        Data::OpenUnits(data) => data
            .cells
            .iter()
            .filter_map(|cell| {
                let key = Key::OpenUnits { units: cell.open_units, order: cell.order, request: cell.request };
                Some(Cell { key, seconds: cell.times.mean_seconds()? })
            })
            .collect(),
        Data::FatArea(data) => data
            .cells
            .iter()
            .filter_map(|cell| {
                let key = Key::FindFat { unit: cell.unit, order: cell.order, request: cell.request };
                Some(Cell { key, seconds: cell.times.mean_seconds()? })
            })
            .collect(),
        _ => Vec::new(),
    };
    cells.into_iter().filter(|cell| cell.seconds > 0.0 && cell.seconds.is_finite()).collect()
}

fn read_cells(sample: &flashscope_record::observation::AlignSample) -> [Cell; 3] {
    [(Side::Before, sample.before), (Side::Across, sample.across), (Side::After, sample.after)].map(
        |(side, time)| Cell {
            key: Key::Read { candidate: sample.candidate, side },
            seconds: time.as_secs_f64(),
        },
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::{AlignData, AlignSample, OpenUnitsCell, OpenUnitsData, Times};

    use super::*;

    #[test]
    fn times_of_zero_are_no_cells() {
        let sample = AlignSample {
            candidate: Bytes::mib(4),
            boundary: None,
            before: Duration::ZERO,
            across: Duration::from_millis(2),
            after: Duration::from_millis(1),
        };
        let reads = Data::Align(AlignData { samples: vec![sample], ..AlignData::default() });
        let write = |units, milliseconds| {
            let times = Times::Each(vec![Duration::from_millis(milliseconds); 2]);
            OpenUnitsCell::round_robin((Order::Linear, units, Bytes::kib(64)), times)
        };
        let writes = Data::OpenUnits(OpenUnitsData {
            erase_block: Bytes::mib(4),
            cells: vec![write(1, 0), write(2, 3)],
            ..OpenUnitsData::default()
        });
        let keys = |data: &Data| cells(data).iter().map(|cell| cell.key).collect::<Vec<Key>>();
        let read = |side| Key::Read { candidate: Bytes::mib(4), side };
        assert_eq!(keys(&reads), [read(Side::Across), read(Side::After)]);
        let kept = Key::OpenUnits { units: 2, order: Order::Linear, request: Bytes::kib(64) };
        assert_eq!(keys(&writes), [kept]);
    }
}
