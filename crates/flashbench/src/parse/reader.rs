//! The way through a log: from line to line, keeping what has been stated for the next table.

use flashscope_device::Bytes;

use flashscope_record::observation::Source;

use crate::parse::command_line::Mention;
use crate::parse::heading::Heading;
use crate::parse::log::{Entry, Log, ParseLogError, Problem};
use crate::parse::row::Row;
use crate::parse::stated::Stated;
use crate::parse::table::Table;
use crate::parse::text::Line;
use crate::parse::{command_line, device_name, devices, foreign, heading, merged, row, table, text};

/// Reads a log of flashbench, as its bytes were published. `name` is what errors call it.
///
/// Speeds are decimal (`M/s` is 10^6 bytes per second), sizes binary. What the log does not say is in the
/// entries' remarks, what cannot be read in the log's problems.
///
/// # Errors
/// [`ParseLogError`] if not one row can be read: it says what the file holds instead.
pub fn parse(bytes: &[u8], name: &str) -> Result<Log, ParseLogError> {
    let lines = merged::unmerge(text::lines(bytes));
    let mut reader = Reader { capacity: device_name::capacity(&lines), ..Reader::default() };
    reader.read(&lines);
    let name = || device_name::printable(name);
    match (reader.entries.is_empty(), reader.problems.first()) {
        (false, _) => {
            let device_name = device_name::find(&lines);
            reader.problems.sort_by_key(|problem| problem.line);
            let remarks = reader.tell_devices_apart(&lines);
            Ok(Log { entries: reader.entries, problems: reader.problems, device_name, remarks })
        }
        (true, Some(first)) => Err(ParseLogError::NothingReadable { name: name(), first: first.clone() }),
        (true, None) => {
            Err(ParseLogError::NoTable { name: name(), found: foreign::recognise(bytes, &lines) })
        }
    }
}

#[derive(Default)]
struct Reader {
    /// What the lines since the last table state.
    stated: Stated,
    /// Whether that was a typed command, which needs no explanation elsewhere.
    typed: bool,
    /// Whether a table has been made of it already.
    used: bool,
    /// Commands that sentences mention, the last one of each kind.
    told: Vec<Stated>,
    capacity: Option<Bytes>,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

impl Reader {
    fn read(&mut self, lines: &[Line]) {
        let mut start = 0;
        let mut at = 0;
        while at < lines.len() {
            let end = at + self.count_of_stating_lines(&lines[at..], &lines[start..at]);
            if end > at {
                start = end;
            }
            at = end.max(at + 1);
        }
        self.tables(&lines[start..]);
    }

    /// Takes in what the first of `lines` states, after making tables of those `before` it.
    /// Returns how many lines that took; none, if it is an ordinary line.
    fn count_of_stating_lines(&mut self, lines: &[Line], before: &[Line]) -> usize {
        if let Some((mention, count)) = command_line::read(lines) {
            self.tables(before);
            return match mention {
                Mention::Typed(stated) => self.typed(stated, count),
                // Whatever stands before it: a command right above a table is the one that printed it.
                Mention::Told(mut told) if told.len() == 1 && is_above_a_table(&lines[count..]) => {
                    self.typed(told.remove(0), count)
                }
                Mention::Told(told) => {
                    told.into_iter().for_each(|told| self.told(told));
                    1
                }
            };
        }
        let Some(heading) = lines.first().and_then(|line| heading::read(&line.text)) else { return 0 };
        self.tables(before);
        match heading {
            Heading::Parameters(stated) => self.state(stated, self.used),
            Heading::OtherSection => self.state(Stated::default(), true),
        }
        1
    }

    /// Takes in a command that a sentence mentions, in the place of an earlier one of its kind.
    fn told(&mut self, told: Stated) {
        self.told.retain(|earlier| earlier.kind != told.kind);
        self.told.push(told);
    }

    /// Takes in a command that was typed, on so many lines.
    fn typed(&mut self, stated: Stated, count: usize) -> usize {
        self.state(stated, true);
        self.typed = true;
        count
    }

    /// What is stated now counts; what was stated before only if no table has used it and it is not `replaced`.
    fn state(&mut self, stated: Stated, replaced: bool) {
        let before = std::mem::take(&mut self.stated);
        self.stated = if replaced { stated } else { stated.or(before) };
        (self.used, self.typed) = (false, false);
    }

    fn tables(&mut self, lines: &[Line]) {
        let (rows, problems) = row::read(lines);
        self.problems.extend(problems);
        for rows in table::split(rows) {
            let stated = self.stated_of(&rows, table::columns_are_named(lines, &rows));
            // In other units than flashbench's, and without its command, it is another program's table.
            if stated.kind.is_none() && rows.iter().any(|row| row.rewritten) {
                continue;
            }
            self.used = true;
            let table = Table { stated, rows: &rows, capacity: self.capacity, problems: &mut self.problems };
            self.entries.push(table.entry());
        }
    }

    /// Marks the tables as those of several devices, if the log names more than one; and what a reader should know of that.
    fn tell_devices_apart(&mut self, lines: &[Line]) -> Vec<String> {
        if let Some(several) = devices::several(lines, &self.entries) {
            let [one, other] = several.map(|name| device_name::printable(&name));
            for entry in &mut self.entries {
                if let Source::Published { devices, .. } = &mut entry.observations.conditions.source {
                    *devices = vec![one.clone(), other.clone()];
                }
            }
            return vec![format!(
                "the log is of several devices: {one}, and {other}; give each in a log of its own"
            )];
        }
        let nodes = devices::nodes(&self.entries).join(", ");
        if nodes.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "the commands name several devices ({}); taken for one all the same",
            device_name::printable(&nodes)
        )]
    }

    /// What is stated of a table with these rows: by the lines before it, or else by a sentence about its kind.
    fn stated_of(&self, rows: &[Row], columns_are_named: bool) -> Stated {
        let kind = table::kind(rows, self.stated.kind, columns_are_named);
        let same = |stated: &&Stated| kind.is_some() && stated.kind == kind;
        let own = Some(&self.stated).filter(same).cloned();
        if let Some(typed) = own.as_ref().filter(|_| self.typed) {
            return typed.clone();
        }
        let own = own.unwrap_or_else(|| Stated { kind, ..Stated::default() });
        match self.told.iter().find(same) {
            Some(told) => own.or(told.clone()),
            None => own,
        }
    }
}

/// A row may be broken into so many lines.
const LINES_OF_A_ROW: usize = 2;

/// Whether a row comes first among these lines, but for blank ones and for marks where code begins.
fn is_above_a_table(lines: &[Line]) -> bool {
    let Some(at) = lines.iter().position(|line| !is_blank(&line.text)) else { return false };
    let first = lines[at].number;
    let (rows, _) = row::read(&lines[at..lines.len().min(at + LINES_OF_A_ROW)]);
    rows.first().is_some_and(|row| row.first_line == first)
}

/// Whether a line is empty, or marks the beginning of code in a wiki, a forum or an issue.
fn is_blank(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric());
    matches!(word, "" | "code" | "pre" | "text" | "console" | "sh" | "bash")
}
