//! The columns of tables that people put together: whether they have names, and which.

use crate::parse::row::Row;
use crate::parse::table;
use crate::parse::text::Line;

/// The index of the first line of a row.
fn first_line(lines: &[Line], row: &Row) -> usize {
    lines.partition_point(|line| line.number < row.first_line)
}

/// The line above a row that says something.
fn line_above<'a>(lines: &'a [Line], row: &Row) -> Option<&'a Line> {
    lines[..first_line(lines, row)].iter().rev().find(|line| line.text.chars().any(char::is_alphanumeric))
}

/// Whether the columns of these rows have names: a line above them that is as long as they are, bars between
/// them as in the tables of wikis, or other units than flashbench's.
pub(super) fn are_named(lines: &[Line], rows: &[Row]) -> bool {
    let Some((first, last)) = rows.first().zip(rows.last()) else { return false };
    let at = first_line(lines, first);
    let of_rows = lines[at..].iter().take_while(|line| line.number <= last.last_line);
    let has_bars = |line: &Line| line.text.trim_start_matches(['|', ' ']).contains('|');
    let above = line_above(lines, first);
    let rewritten = rows.iter().any(|row| row.rewritten);
    rewritten
        || of_rows.into_iter().any(has_bars)
        || above.is_some_and(|line| is_header(&line.text, table::columns(&first.cells)))
}

/// What the first column of a table is called.
const SIZES: [&str; 5] = ["size", "block", "request", "segment", "write"];

fn is_header(text: &str, columns: usize) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    let count = words.clone().count();
    let is_size = words.next().is_some_and(|first| SIZES.iter().any(|size| first.starts_with(size)));
    lower.contains('|') || (columns..=columns + 1).contains(&count) || is_size && count > columns
}

/// The names of this many columns: those in the line above the rows, else their numbers.
pub(super) fn names(lines: &[Line], rows: &[Row], count: usize) -> Vec<String> {
    let header = rows.first().and_then(|first| line_above(lines, first));
    let names = header.and_then(|line| names_in(&line.text, count));
    names.unwrap_or_else(|| (1..=count).map(|number| format!("column {number}")).collect())
}

/// The names in a header: cells apart by bars or by more than one blank; else words, as many for each
/// column. A first one more is that of the sizes.
fn names_in(text: &str, count: usize) -> Option<Vec<String>> {
    let apart: Vec<&str> =
        if text.contains('|') { text.split('|').collect() } else { text.split("  ").collect() };
    let cells: Vec<String> =
        apart.iter().map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect();
    let last = |cells: Vec<String>| {
        let surplus = cells.len().checked_sub(count).filter(|surplus| *surplus <= 1)?;
        Some(cells.into_iter().skip(surplus).collect())
    };
    last(cells).or_else(|| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let surplus = words.len() % count;
        let is_even = surplus <= 1 && words.len() >= count;
        is_even.then(|| words[surplus..].chunks(words.len() / count).map(|name| name.join(" ")).collect())
    })
}

/// The number of open units that a column's name states: `3 AU`, `AU=3`, `open-au-nr 3`.
pub(super) fn open_units_in(name: &str) -> Option<u32> {
    const WORDS: [&str; 7] = ["au", "aus", "open", "units", "unit", "open-au-nr", "openaunr"];
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split([' ', '=', '-', ':']).filter(|word| !word.is_empty());
    let mut units = None;
    let is_counted = words.all(|word| match word.parse() {
        Ok(number) => units.replace(number).is_none(),
        Err(_) => WORDS.contains(&word) || word == "nr",
    });
    units.filter(|units| is_counted && *units > 0 && lower.contains(|c: char| c.is_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, count: usize) -> Vec<String> {
        names_in(text, count).unwrap_or_default()
    }

    #[test]
    fn names_of_columns_are_split_by_what_lies_between_them() {
        assert_eq!(
            found("Block size   High perf card   Unusable card", 2),
            ["High perf card", "Unusable card"]
        );
        assert_eq!(found("|| size || one card || another ||", 2), ["one card", "another"]);
        assert_eq!(found("A B C D", 4), ["A", "B", "C", "D"]);
        assert_eq!(found("Size  1 AU  2 AU  3 AU", 3), ["1 AU", "2 AU", "3 AU"]);
        assert_eq!(found("Size 1 AU 2 AU 3 AU", 3), ["1 AU", "2 AU", "3 AU"]);
        assert!(found("one card the other one", 3).is_empty());
        assert!(found("", 2).is_empty());
    }

    #[test]
    fn a_name_states_open_units_only_by_nothing_else() {
        assert_eq!(["3 AU", "AU=3", "open-au-nr 3"].map(open_units_in), [Some(3); 3]);
        for name in ["card 3", "Class 4 A", "3", "AU", "0 AU", "3 AU 4", "column 2"] {
            assert_eq!(open_units_in(name), None, "{name}");
        }
    }
}
