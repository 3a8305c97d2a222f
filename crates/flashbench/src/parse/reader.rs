//! Reads a log line by line and keeps the stated parameters for the next table.

use flashscope_device::Bytes;

use flashscope_record::observation::{Conditions, Data, Ended, Observations, PublishedSpeedsData, Source};

use crate::parse::command_line::Mention;
use crate::parse::heading::Heading;
use crate::parse::log::{Entry, Log, ParseLogError, Problem};
use crate::parse::row::Row;
use crate::parse::stated::{Stated, TableKind};
use crate::parse::table::Table;
use crate::parse::text::Line;
use crate::parse::{columns, command_line, device_name, devices, foreign, heading, merged, row, table, text};
use crate::speeds::{self, Speeds};

/// Reads a log of flashbench, as its bytes were published. `name` is what errors call it.
///
/// Speeds are decimal (`M/s` is 10^6 bytes per second), sizes binary. Assumptions are in the
/// entries' remarks, unreadable lines in the log's problems.
///
/// # Errors
/// [`ParseLogError`] if no row can be read; it names what the file is instead.
pub fn parse(bytes: &[u8], name: &str) -> Result<Log, ParseLogError> {
    let lines = merged::unmerge(text::lines(bytes));
    if foreign::is_binary(bytes, &lines) {
        // A program or an image may contain rows of flashbench as well.
        let name = device_name::printable(name);
        return Err(ParseLogError::NoTable { name, found: foreign::Foreign::Binary });
    }
    let mut reader = Reader { capacity: device_name::capacity(&lines), ..Reader::default() };
    reader.read(&lines);
    let name = || device_name::printable(name);
    match (reader.entries.is_empty(), reader.problems.first()) {
        (false, _) => {
            let device_name = device_name::find(&lines);
            reader.problems.sort_by_key(|problem| problem.line);
            let remarks = reader.mark_several_devices(&lines);
            let columns = reader.mark_columns();
            if columns.is_empty() {
                reader.entries.extend(speeds_beside_tables(&lines));
            }
            Ok(Log { entries: reader.entries, problems: reader.problems, device_name, columns, remarks })
        }
        (true, Some(first)) => Err(ParseLogError::NothingReadable { name: name(), first: first.clone() }),
        (true, None) => {
            let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
            if let Some(speeds) = speeds::read(&texts)? {
                return Ok(log_of_speeds(speeds, &lines));
            }
            Err(ParseLogError::NoTable { name: name(), found: foreign::recognise(bytes, &lines) })
        }
    }
}

/// What another program printed into the same log. It may have lost data.
fn speeds_beside_tables(lines: &[Line]) -> Option<Entry> {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let speeds = speeds::read(&texts).ok().flatten()?;
    Some(entry_of_speeds(speeds, lines))
}

/// The log of a program that measures speeds.
fn log_of_speeds(speeds: Speeds, lines: &[Line]) -> Log {
    Log {
        entries: vec![entry_of_speeds(speeds, lines)],
        problems: Vec::new(),
        device_name: device_name::find(lines),
        columns: Vec::new(),
        remarks: Vec::new(),
    }
}

fn entry_of_speeds(speeds: Speeds, lines: &[Line]) -> Entry {
    let program = device_name::printable(&speeds.program);
    let source = Source::Published { program: program.clone(), devices: Vec::new() };
    let conditions = Conditions {
        source,
        capacity: device_name::capacity(lines),
        region: None,
        is_in_file: false,
        seed: 0,
    };
    let data = Data::PublishedSpeeds(PublishedSpeedsData { rows: speeds.rows, read_back: speeds.read_back });
    Entry {
        command: None,
        heading: program,
        lines: 1..=lines.last().map_or(1, |line| line.number),
        observations: Observations { data, conditions, ended: Ended::Complete },
        column: None,
        remarks: speeds.remarks.iter().map(|remark| device_name::printable(remark)).collect(),
    }
}

#[derive(Default)]
struct Reader {
    /// The parameters stated since the last table.
    stated: Stated,
    /// Whether they come from a typed command, which is complete.
    typed: bool,
    /// Whether a table has used them.
    used: bool,
    /// Commands mentioned in prose, the last of each kind.
    mentioned: Vec<Stated>,
    capacity: Option<Bytes>,
    /// The names of columns that are devices.
    devices: Vec<String>,
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

    /// Reads the statement that starts at `lines`, after making tables of the lines `before` it.
    /// Returns its number of lines; 0 for an ordinary line.
    fn count_of_stating_lines(&mut self, lines: &[Line], before: &[Line]) -> usize {
        if let Some((mention, count)) = command_line::read(lines) {
            self.tables(before);
            return match mention {
                Mention::Typed(stated) => self.typed(stated, count),
                // With any prompt, a command directly above a table is the one that printed it.
                Mention::InProse(mut commands)
                    if commands.len() == 1 && is_above_a_table(&lines[count..]) =>
                {
                    self.typed(commands.remove(0), count)
                }
                Mention::InProse(commands) => {
                    commands.into_iter().for_each(|command| self.mention(command));
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

    /// Keeps a command mentioned in prose; it replaces an earlier one of its kind.
    fn mention(&mut self, command: Stated) {
        self.mentioned.retain(|earlier| earlier.kind != command.kind);
        self.mentioned.push(command);
    }

    /// Keeps a typed command of `count` lines.
    fn typed(&mut self, stated: Stated, count: usize) -> usize {
        self.state(stated, true);
        self.typed = true;
        count
    }

    /// Keeps new parameters; earlier ones complete them unless `replaced`.
    fn state(&mut self, stated: Stated, replaced: bool) {
        let before = std::mem::take(&mut self.stated);
        self.stated = if replaced { stated } else { stated.or(before) };
        (self.used, self.typed) = (false, false);
    }

    fn tables(&mut self, lines: &[Line]) {
        let (rows, problems) = row::read(lines);
        self.problems.extend(problems);
        for rows in table::split(rows) {
            let columns = table::column_count(&rows);
            let stated = self.stated_of(&rows, columns::are_named(lines, &rows));
            // Other units and no flashbench command: another program's table.
            if stated.kind.is_none() && rows.iter().any(|row| row.rewritten) {
                continue;
            }
            self.used = true;
            if columns > 1 && stated.kind != Some(TableKind::FindFat) {
                self.columns(&rows, columns::names(lines, &rows, columns));
                continue;
            }
            let table = Table { stated, rows: &rows, capacity: self.capacity, problems: &mut self.problems };
            self.entries.push(table.entry());
        }
    }

    /// Reads a table with columns of these names, each by itself: of as many open units as its name states,
    /// else of one device each.
    fn columns(&mut self, rows: &[Row], names: Vec<String>) {
        for (at, name) in names.iter().enumerate() {
            let rows = table::of_column(rows, at);
            let mut stated = self.stated_of(&rows, false);
            let open_units = columns::open_units_in(name);
            if open_units.is_some() {
                stated = Stated { kind: Some(TableKind::OpenUnits), open_units, ..stated };
            }
            let table = Table { stated, rows: &rows, capacity: self.capacity, problems: &mut self.problems };
            let entry = table.entry();
            self.entries.push(Entry { column: open_units.is_none().then_some(at), ..entry });
        }
        if names.len() > self.devices.len() && names.iter().any(|name| columns::open_units_in(name).is_none())
        {
            self.devices = names;
        }
    }

    /// Marks every table of a log with a column for each device.
    fn mark_columns(&mut self) -> Vec<String> {
        let names: Vec<String> = self.devices.iter().map(|name| device_name::printable(name)).collect();
        for entry in &mut self.entries {
            if let Source::Published { devices, .. } = &mut entry.observations.conditions.source
                && names.len() > 1
            {
                devices.clone_from(&names);
            }
        }
        names
    }

    /// Marks the tables if the log names several devices, and returns remarks about it.
    fn mark_several_devices(&mut self, lines: &[Line]) -> Vec<String> {
        if let Some(several) = devices::several(lines, &self.entries) {
            let [one, other] = several.map(|name| device_name::printable(&name));
            for entry in &mut self.entries {
                if let Source::Published { devices, .. } = &mut entry.observations.conditions.source {
                    *devices = vec![one.clone(), other.clone()];
                }
            }
            return vec![format!(
                "the log covers several devices, {one} and {other}; split it into one log per device"
            )];
        }
        let nodes = devices::nodes(&self.entries).join(", ");
        if nodes.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "the commands name several devices ({}); treated as one device",
            device_name::printable(&nodes)
        )]
    }

    /// The parameters of a table: from the lines before it, else from prose about its kind.
    fn stated_of(&self, rows: &[Row], columns_are_named: bool) -> Stated {
        let kind = table::kind(rows, self.stated.kind, columns_are_named);
        let same = |stated: &&Stated| kind.is_some() && stated.kind == kind;
        let own = Some(&self.stated).filter(same).cloned();
        if let Some(typed) = own.as_ref().filter(|_| self.typed) {
            return typed.clone();
        }
        let own = own.unwrap_or_else(|| Stated { kind, ..Stated::default() });
        match self.mentioned.iter().find(same) {
            Some(mentioned) => own.or(mentioned.clone()),
            None => own,
        }
    }
}

/// A row is broken into at most this many lines.
const LINES_OF_A_ROW: usize = 2;

/// Whether these lines start with a row, ignoring blank lines and code markers.
fn is_above_a_table(lines: &[Line]) -> bool {
    let Some(at) = lines.iter().position(|line| !is_blank(&line.text)) else { return false };
    let first = lines[at].number;
    let (rows, _) = row::read(&lines[at..lines.len().min(at + LINES_OF_A_ROW)]);
    rows.first().is_some_and(|row| row.first_line == first)
}

/// Whether a line is empty or a code marker of a wiki, forum or issue.
fn is_blank(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric());
    matches!(word, "" | "code" | "pre" | "text" | "console" | "sh" | "bash")
}
