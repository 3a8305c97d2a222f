//! `flashscope watch`: what sticks and cards are doing, what waits in memory for them, and who writes.

mod choice;
mod document;
#[cfg(test)]
mod drawing;
mod facts;
mod keys;
mod picture;
mod screen;
mod session;
#[cfg(test)]
mod tests;
mod watched;
mod words;

use std::io::{self, IsTerminal};

use flashscope_report::Style;

use self::session::{Session, Waited};
use crate::args::Watch;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 if there is nothing to watch, 3 if the last disk goes away.
pub fn run(arguments: &Watch, printer: &Printer) -> Result<Exit, Failure> {
    let mut session = Session::start(arguments)?;
    let ended = if arguments.once {
        once(&mut session, printer)
    } else if io::stdout().is_terminal() && !printer.json {
        screen::run(&mut session, printer.style() == Style::Ansi).map(|()| Exit::Fine)
    } else {
        printer.remark("watching; Ctrl-C ends it");
        lines(&mut session, printer).map(|()| Exit::Fine)
    };
    say_who_has_gone(&mut session, printer);
    ended
}

/// One look after one interval, for which there is no need where nothing can be watched.
fn once(session: &mut Session, printer: &Printer) -> Result<Exit, Failure> {
    if !session.watched.is_empty() && session.wait()? == Waited::Ended {
        return Ok(Exit::Interrupted);
    }
    if printer.json {
        printer.document(&document::document(&session.watched))?;
    } else {
        let texts = session.watched.iter().map(|one| facts::text(one, printer.width()));
        printer.result(&texts.collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Fine)
}

/// A line, or a document, for each look.
fn lines(session: &mut Session, printer: &Printer) -> Result<(), Failure> {
    while session.wait()? == Waited::Looked {
        say_who_has_gone(session, printer);
        if printer.json {
            printer.result(&format!("{}\n", document::document(&session.watched)))?;
            continue;
        }
        for one in &session.watched {
            let line = one.activity.as_ref().map(|activity| words::line(&one.disk, activity));
            printer.result(&format!("{}\n", line.unwrap_or_default()))?;
        }
    }
    Ok(())
}

fn say_who_has_gone(session: &mut Session, printer: &Printer) {
    for gone in session.take_gone() {
        printer.remark(gone);
    }
}
