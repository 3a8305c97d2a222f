//! The only place that prints: results to standard output, talk to standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use flashscope_report::{Style, printable};

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

/// Lines are this wide where standard output is no terminal.
const WIDTH: usize = 100;

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
        rustix::termios::tcgetwinsize(io::stdout())
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0)
            .unwrap_or(WIDTH)
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
        let _closed = io::stderr().lock().write_all(text.as_bytes());
    }
}
