//! What was measured: tables of cells, each with the command that made it.

use std::ops::RangeInclusive;

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_flashbench::parse::{Entry, Log};
use flashscope_record::observation::{Data, Order};

/// The tables of one log, in its order.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The log's name.
    pub name: String,
    /// What it calls the device; empty if it does not say.
    pub device_name: String,
    /// Where it was published, from its `# source` line; empty if it does not say.
    pub source: String,
    /// The device's capacity, if the log says it.
    pub capacity: Option<Bytes>,
    /// The area at the start that is mapped finely, as a run file shows it; zero of logs.
    pub fat_area: Bytes,
    /// Its tables.
    pub tables: Vec<Table>,
    /// What could not be used, one sentence each.
    pub remarks: Vec<String>,
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The command that made it, with the rows that the table has.
    pub command: Command,
    /// Its lines in the log, counted from 1.
    pub lines: RangeInclusive<usize>,
    /// Its cells, in order.
    pub cells: Vec<Cell>,
}

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// What it measures.
    pub key: Key,
    /// The time of one request, seconds.
    pub seconds: f64,
}

/// Which read of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// It ends at the boundary.
    Before,
    /// It straddles the boundary.
    Across,
    /// It begins at the boundary.
    After,
}

/// What a cell measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A read at boundaries of this size.
    Read {
        /// The size.
        candidate: Bytes,
        /// Which of the three.
        side: Side,
    },
    /// Writes into several erase blocks in turn.
    OpenUnits {
        /// How many.
        units: u32,
        /// The order inside each.
        order: Order,
        /// The size of each.
        request: Bytes,
    },
    /// Writes into one of the first erase blocks.
    FindFat {
        /// Which one.
        unit: u32,
        /// The order inside.
        order: Order,
        /// The size of each.
        request: Bytes,
    },
}

impl Key {
    /// True of reads.
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

impl Measured {
    /// The tables of a log. `text` is the log's own, for its `# source` line.
    #[must_use]
    pub fn from_log(name: &str, log: &Log, text: &[u8]) -> Self {
        let mut remarks = Vec::new();
        let tables = log.entries.iter().filter_map(|entry| table(entry, &mut remarks)).collect();
        let capacity = log.entries.iter().find_map(|entry| entry.observations.conditions.capacity);
        let source = source(text).unwrap_or_default();
        let device_name = log.device_name.clone();
        Self { name: name.to_owned(), device_name, source, capacity, fat_area: Bytes::ZERO, tables, remarks }
    }

    /// All cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.tables.iter().flat_map(|table| &table.cells)
    }
}

/// What stands behind `# source:`.
fn source(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().find_map(|line| line.trim_start_matches('#').trim().strip_prefix("source:"))?;
    Some(line.trim().chars().filter(|c| !c.is_control()).take(300).collect())
}

fn table(entry: &Entry, remarks: &mut Vec<String>) -> Option<Table> {
    let cells: Vec<Cell> = cells(&entry.observations.data);
    let (lines, first) = (entry.lines.clone(), entry.lines.start());
    let Some(command) = entry.command.and_then(|command| as_it_ran(command, &cells)) else {
        remarks
            .push(format!("the table at line {first} is left out: the log does not say all of its command"));
        return None;
    };
    Some(Table { command, lines, cells })
}

/// The command with the rows that the table has: people stopped some runs, and ran others further than the line says.
fn as_it_ran(command: Command, cells: &[Cell]) -> Option<Command> {
    let requests = cells.iter().filter_map(|cell| match cell.key {
        Key::Read { .. } => None,
        Key::OpenUnits { request, .. } | Key::FindFat { request, .. } => Some(request),
    });
    let last = requests.min();
    Some(match command {
        Command::Align { read } => Command::Align { read },
        Command::OpenUnits { erase_block, open_units, order, .. } => {
            Command::OpenUnits { erase_block, open_units, smallest: last?, order }
        }
        Command::FindFat { erase_block, units, order, .. } => {
            Command::FindFat { erase_block, units, smallest: last?, order }
        }
    })
}

/// The cells of a table, or of what a virtual stick showed; figures of no time at all say nothing.
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
        Data::WriteSize(_)
        | Data::Sustained(_)
        | Data::WriteBuffer(_)
        | Data::BlockEnds(_)
        | Data::Speed(_)
        | Data::Files(_)
        | Data::Methods(_) => Vec::new(),
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
