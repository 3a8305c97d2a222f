//! The report of a benchmark whose table does not list request speeds: a verdict, a table, and lists of
//! sentences.

use crate::chart::Table;
use crate::words::Sentence;

/// A verdict, a table, and lists of sentences.
#[derive(Debug, Clone)]
pub struct BenchReport {
    /// The verdict.
    pub headline: Sentence,
    /// The table's title.
    pub title: &'static str,
    /// The measured figures.
    pub table: Table,
    /// Lists of sentences with their titles; an empty list is not shown.
    pub lists: Vec<(&'static str, Vec<Sentence>)>,
}
