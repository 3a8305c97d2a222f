//! What a log holds once it has been read.

use std::ops::RangeInclusive;

use flashscope_record::observation::{Observations, Source};

use crate::command::Command;
use crate::parse::foreign::Foreign;

/// A log that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// Its tables, in the order of the log.
    pub entries: Vec<Entry>,
    /// What could not be read, by line.
    pub problems: Vec<Problem>,
    /// What the log calls the device, one line; empty if it does not say.
    pub device_name: String,
    /// The devices of a table with one column for each, by the name of each column; else empty.
    pub columns: Vec<String>,
    /// What holds for all of it and a reader should know, one sentence each.
    pub remarks: Vec<String>,
}

impl Log {
    /// The entries of the device in this column, counted from 0, without what is said of several devices.
    #[must_use]
    pub fn of_column(&self, column: usize) -> Self {
        let own = self.entries.iter().filter(|entry| entry.column == Some(column)).cloned();
        let entries = own.map(|mut entry| {
            if let Source::Published { devices, .. } = &mut entry.observations.conditions.source {
                devices.clear();
            }
            entry
        });
        Self {
            entries: entries.collect(),
            device_name: self.columns.get(column).cloned().unwrap_or_default(),
            columns: Vec::new(),
            problems: self.problems.clone(),
            remarks: self.remarks.clone(),
        }
    }
}

/// One table of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The command that printed the table, as far as the log says all of it.
    pub command: Option<Command>,
    /// The line the parameters were taken from: a command line or a heading. Empty if there was none.
    pub heading: String,
    /// The table's first and last line, counted from 1.
    pub lines: RangeInclusive<usize>,
    /// What the table says.
    pub observations: Observations,
    /// The column that it was read from, counted from 0, in a table with one for each of several devices.
    pub column: Option<usize>,
    /// What the log does not say and had to be assumed, one sentence each.
    pub remarks: Vec<String>,
}

/// A line that could not be read, or that cannot be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// Its text, shortened and without control characters.
    pub text: String,
    /// What is wrong with it, one sentence.
    pub reason: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {} ('{}')", self.line, self.reason, self.text)
    }
}

/// A log without a table that could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseLogError {
    /// No row of flashbench anywhere.
    #[error("'{name}' holds no table of flashbench: {found}")]
    NoTable {
        /// The log's name as it was given.
        name: String,
        /// What it holds instead.
        found: Foreign,
    },
    /// It is the output of fio, without a speed that could be read.
    #[error(transparent)]
    Fio(#[from] crate::speeds::FioError),
    /// There are rows, but none of them can be read.
    #[error(
        "'{name}' holds rows that look like flashbench's, but none of them can be read; {first}; copy the log again from where it was published, as plain text"
    )]
    NothingReadable {
        /// The log's name as it was given.
        name: String,
        /// The first of the problems.
        first: Problem,
    },
}
