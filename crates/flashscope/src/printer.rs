//! The only module that prints: results to standard output, messages to standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;

use anstream::{AutoStream, ColorChoice};
use flashscope_report::{Style, printable, wrapped};

use crate::args::{Color, Global};
use crate::document::{Body, Document};
use crate::exit::{Exit, Failure};
use crate::interrupt::{interrupted, on_interrupt, read_line};

/// Prints results and messages as the global options say.
pub struct Printer {
    /// Whether results are JSON documents.
    pub json: bool,
    /// Whether the report of a check has more than its first screen.
    pub details: bool,
    quiet: bool,
    verbose: bool,
    color: ColorChoice,
}

/// The width of lines if standard output is not a terminal. Narrower if standard error is a narrower
/// terminal: a pager may show the result there.
const WIDTH: usize = 100;
/// Messages are wrapped only on terminals at least this wide.
const MESSAGE_WIDTH_MIN: usize = 20;

impl Printer {
    /// With these global options.
    pub fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Auto => AutoStream::choice(&io::stdout()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self { json: global.json, details: false, quiet: global.quiet, verbose: global.verbose, color }
    }

    /// The same printer, with or without details.
    pub const fn with_details(&self, details: bool) -> Self {
        Self { details, json: self.json, quiet: self.quiet, verbose: self.verbose, color: self.color }
    }

    /// The style of text on standard output.
    pub fn style(&self) -> Style {
        match self.color {
            ColorChoice::Never => Style::Plain,
            _ => Style::Ansi,
        }
    }

    /// The width of lines on standard output.
    pub fn width(&self) -> usize {
        columns(io::stdout())
            .unwrap_or_else(|| columns(io::stderr()).map_or(WIDTH, |columns| columns.min(WIDTH)))
    }

    /// The width of lines on standard error.
    pub fn message_width(&self) -> usize {
        columns(io::stderr()).unwrap_or(WIDTH)
    }

    /// Prints a result. A closed pipe (`| head`) is not an error.
    pub fn result(&self, text: &str) -> io::Result<()> {
        let mut output = AutoStream::new(io::stdout().lock(), self.color);
        match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|error| {
                io::Error::new(error.kind(), format!("cannot write the result to standard output: {error}"))
            }),
        }
    }

    /// Prints a JSON document.
    pub fn document(&self, body: &impl Body) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&Document::new(body))?;
        self.result(&(text + "\n"))
    }

    /// Prints a JSON document on one line, for commands that print several.
    pub fn document_line(&self, body: &impl Body) -> io::Result<()> {
        let text = serde_json::to_string(&Document::new(body))?;
        self.result(&(text + "\n"))
    }

    /// Prints a message unless `--quiet`.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            self.message(&format!("{}\n", printable(&text.to_string())));
        }
    }

    /// Prints what a person should know about a target.
    pub fn notes(&self, remarks: &[String]) {
        for remark in remarks {
            self.remark(format!("note: {remark}"));
        }
    }

    /// Prints a message only with `--verbose`.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            self.remark(text);
        }
    }

    /// Prints an error and returns its exit code.
    pub fn failure(&self, failure: &Failure) -> Exit {
        self.message(&format!("error: {}\n", printable(&format!("{:#}", failure.error))));
        failure.exit
    }

    /// Whether messages besides results and errors are printed.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether to show a progress bar: standard error is a terminal, and not `--quiet`.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Asks a question on the terminal and reads one line; `None` without a terminal.
    ///
    /// # Errors
    /// Exit code 130 after Ctrl-C, also if it came before the question.
    pub fn ask(&self, question: &str) -> Result<Option<String>, Failure> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        let interrupt = on_interrupt()?;
        self.message(question);
        match read_line(io::stdin(), &interrupt) {
            Ok(Some(answer)) => Ok(Some(answer.trim().to_owned())),
            Ok(None) => {
                self.message("\n");
                Err(interrupted())
            }
            // The terminal has gone.
            Err(_) => Ok(None),
        }
    }

    /// A closed standard error is ignored.
    fn message(&self, text: &str) {
        let text = wrapped_text(text, columns(io::stderr()));
        let _closed = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Prints a message in the middle of a measurement, over a progress bar if there is one.
pub fn notice(text: &str) {
    let mut stderr = io::stderr().lock();
    let clear = if stderr.is_terminal() { "\r\u{1b}[2K" } else { "" };
    let _closed = stderr.write_all(format!("{clear}{text}\n").as_bytes());
}

/// The number of columns of a terminal; `None` if it is not a terminal.
fn columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Wraps each line of `text` at spaces, with the same indent. Without a terminal, returns it unchanged, so
/// that it can be searched.
fn wrapped_text(text: &str, columns: Option<usize>) -> String {
    match columns.filter(|columns| *columns >= MESSAGE_WIDTH_MIN) {
        Some(columns) => text.split_inclusive('\n').map(|line| wrapped_line(line, columns)).collect(),
        None => text.to_owned(),
    }
}

fn wrapped_line(line: &str, columns: usize) -> String {
    let end = &line[line.trim_end().len()..];
    let words = line.trim();
    let indent = &line[..line.len() - line.trim_start().len()];
    if words.is_empty() || line.trim_end().chars().count() <= columns {
        return line.to_owned();
    }
    let lines = wrapped(
        words,
        columns.saturating_sub(indent.len() + end.trim_end_matches('\n').len()).max(MESSAGE_WIDTH_MIN / 2),
    );
    format!("{indent}{}{end}", lines.join(&format!("\n{indent}")))
}

#[cfg(test)]
impl Printer {
    /// Prints no notes and no colours: for tests.
    pub const fn quiet() -> Self {
        Self { json: false, details: false, quiet: true, verbose: false, color: ColorChoice::Never }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "note: a stick that is quick for a moment, and then is not\n";

    #[test]
    fn messages_wrap_at_spaces_only_on_a_terminal() {
        let text = wrapped_text(NOTE, Some(30));
        assert_eq!(text, "note: a stick that is quick\nfor a moment, and then is not\n");
        assert_eq!(wrapped_text(NOTE, None), NOTE);
        assert_eq!(wrapped_text(NOTE, Some(80)), NOTE);
        assert_eq!(wrapped_text(NOTE, Some(3)), NOTE);
    }

    #[test]
    fn wrapped_question_keeps_its_indent_and_room_for_the_answer() {
        let question = "x is a stick\n  sdb1: 16 GiB, vfat, and some words more\nAll of it will be lost. Type sdb to go on: ";
        let text = wrapped_text(question, Some(24));
        assert!(text.contains("\n  sdb1: 16 GiB, vfat,\n  and some words more\n"), "{text}");
        assert!(text.ends_with("on: "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 24), "{text}");
    }
}
