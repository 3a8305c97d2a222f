//! The only place that prints: results to standard output, talk to standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;

use anstream::{AutoStream, ColorChoice};
use flashscope_report::{Style, printable, wrapped};

use crate::args::{Color, Global};
use crate::exit::{Exit, Failure};

/// Where results and talk go, and how.
pub struct Printer {
    /// One JSON document instead of text.
    pub json: bool,
    quiet: bool,
    verbose: bool,
    color: ColorChoice,
}

/// Lines are this wide where standard output is no terminal, unless one that is narrower shows what goes wrong: a pager may show the rest
/// there.
const WIDTH: usize = 100;
/// Below that, talk is not broken: nothing would be readable.
const TALK_WIDTH_MIN: usize = 20;

impl Printer {
    /// As the global arguments have it.
    pub fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Auto => AutoStream::choice(&io::stdout()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self { json: global.json, quiet: global.quiet, verbose: global.verbose, color }
    }

    /// How text on standard output is styled.
    pub fn style(&self) -> Style {
        match self.color {
            ColorChoice::Never => Style::Plain,
            _ => Style::Ansi,
        }
    }

    /// How wide lines on standard output may be.
    pub fn width(&self) -> usize {
        columns(io::stdout())
            .unwrap_or_else(|| columns(io::stderr()).map_or(WIDTH, |columns| columns.min(WIDTH)))
    }

    /// How wide lines on standard error may be.
    pub fn talk_width(&self) -> usize {
        columns(io::stderr()).unwrap_or(WIDTH)
    }

    /// A result. A reader that has gone away (`| head`) is no error.
    pub fn result(&self, text: &str) -> io::Result<()> {
        let mut output = AutoStream::new(io::stdout().lock(), self.color);
        match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|error| {
                io::Error::new(error.kind(), format!("cannot write the result to standard output: {error}"))
            }),
        }
    }

    /// A JSON document as the result.
    pub fn document(&self, document: &serde_json::Value) -> io::Result<()> {
        self.result(&format!("{document:#}\n"))
    }

    /// Something the person should know.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            self.talk(&format!("{}\n", printable(&text.to_string())));
        }
    }

    /// Something the person asked for with `-v`.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            self.remark(text);
        }
    }

    /// An error, and the exit code it leads to.
    pub fn failure(&self, failure: &Failure) -> Exit {
        self.talk(&format!("error: {}\n", printable(&format!("{:#}", failure.error))));
        failure.exit
    }

    /// Whether a progress bar is wanted: somebody sits there and wants to see it.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Asks a question on the terminal and reads the answer's line; `None` if nobody sits there.
    pub fn ask(&self, question: &str) -> Option<String> {
        if !io::stdin().is_terminal() {
            return None;
        }
        self.talk(question);
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).ok()?;
        Some(answer.trim().to_owned())
    }

    /// Standard error may be closed as well; there is nobody left to tell.
    fn talk(&self, text: &str) {
        let text = laid_out(text, columns(io::stderr()));
        let _closed = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// How many columns a terminal has; `None` of what is no terminal, or does not say.
fn columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Each line of `text` in as many as the columns of a terminal ask for, broken at spaces and indented alike. Without a terminal as it is:
/// whoever reads it there breaks or searches it.
fn laid_out(text: &str, columns: Option<usize>) -> String {
    match columns.filter(|columns| *columns >= TALK_WIDTH_MIN) {
        Some(columns) => text.split_inclusive('\n').map(|line| broken(line, columns)).collect(),
        None => text.to_owned(),
    }
}

fn broken(line: &str, columns: usize) -> String {
    let end = &line[line.trim_end().len()..];
    let words = line.trim();
    let indent = &line[..line.len() - line.trim_start().len()];
    if words.is_empty() || line.trim_end().chars().count() <= columns {
        return line.to_owned();
    }
    let lines = wrapped(
        words,
        columns.saturating_sub(indent.len() + end.trim_end_matches('\n').len()).max(TALK_WIDTH_MIN / 2),
    );
    format!("{indent}{}{end}", lines.join(&format!("\n{indent}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "note: a stick that is quick for a moment, and then is not\n";

    #[test]
    fn talk_is_broken_at_spaces_and_only_on_a_terminal() {
        let told = laid_out(NOTE, Some(30));
        assert_eq!(told, "note: a stick that is quick\nfor a moment, and then is not\n");
        assert_eq!(laid_out(NOTE, None), NOTE);
        assert_eq!(laid_out(NOTE, Some(80)), NOTE);
        assert_eq!(laid_out(NOTE, Some(3)), NOTE);
    }

    #[test]
    fn a_question_keeps_its_lines_their_indent_and_room_for_the_answer() {
        let question = "x is a stick\n  sdb1: 16 GiB, vfat, and some words more\nAll of it will be lost. Type sdb to go on: ";
        let told = laid_out(question, Some(24));
        assert!(told.contains("\n  sdb1: 16 GiB, vfat,\n  and some words more\n"), "{told}");
        assert!(told.ends_with("on: "), "{told}");
        assert!(told.lines().all(|line| line.chars().count() <= 24), "{told}");
    }
}
