//! `flashscope watch`: shows what sticks and cards are doing, how much data waits in memory, and which
//! processes write.

mod choice;
#[cfg(test)]
mod drawing;
mod facts;
mod keys;
mod limit;
mod picture;
mod screen;
mod session;
#[cfg(test)]
mod tests;
mod watched;

use std::io::{self, IsTerminal};

use anyhow::anyhow;
use flashscope_infer::activity::UnplugEstimate;
use flashscope_record::activity::PendingWrites;
use flashscope_report::Style;

use self::session::{Session, Waited};
use self::watched::Watched;
use crate::args::Watch;
use crate::document::WatchDocument;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::text::activity as text;

/// Runs the command.
///
/// # Errors
/// Exit code 2 if there is nothing to watch, 3 if the last disk is unplugged. As [`limit::run`].
pub fn run(arguments: &Watch, printer: &Printer) -> Result<Exit, Failure> {
    let mut session = Session::start(arguments)?;
    let ended = if arguments.limit {
        limit::run(arguments, &mut session, printer)
    } else if arguments.once {
        once(&mut session, printer)
    } else if arguments.until_safe {
        until_safe(&mut session, printer)
    } else if io::stdout().is_terminal() && !printer.json {
        screen::run(&mut session, printer.style() == Style::Ansi).map(|()| Exit::Fine)
    } else {
        printer.remark("watching; stop with Ctrl-C");
        lines(&mut session, printer).map(|()| Exit::Fine)
    };
    print_unplugged(&mut session, printer);
    ended
}

/// Prints one interval. Does not wait if no disk can be watched.
fn once(session: &mut Session, printer: &Printer) -> Result<Exit, Failure> {
    if !session.watched.is_empty() && session.wait()? == Waited::Ended {
        return Ok(Exit::Interrupted);
    }
    if printer.json {
        printer.document(&document(session))?;
    } else {
        let texts = session.watched.iter().map(|one| facts::text(one, printer.width()));
        printer.result(&texts.collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Fine)
}

/// Prints one line or document an interval.
fn lines(session: &mut Session, printer: &Printer) -> Result<(), Failure> {
    while session.wait()? == Waited::Sampled {
        print_unplugged(session, printer);
        print_interval(session, printer)?;
    }
    Ok(())
}

/// Prints one line or document an interval, until nothing waits for any disk. A disk that cannot be watched,
/// or is unplugged meanwhile, is an error: nobody knows what waited for it.
fn until_safe(session: &mut Session, printer: &Printer) -> Result<Exit, Failure> {
    let mut has_warned = false;
    loop {
        if let Some(message) = session.take_unplugged().pop() {
            return Err(Failure { exit: Exit::Failed, error: anyhow!(message) });
        }
        if session.wait()? == Waited::Ended {
            return Ok(Exit::Interrupted);
        }
        if !std::mem::replace(&mut has_warned, true) {
            warn_of_all_disks(session, printer);
        }
        print_interval(session, printer)?;
        let is_safe = |one: &Watched| {
            one.activity.as_ref().is_some_and(|activity| activity.unplug == UnplugEstimate::Now)
        };
        if session.watched.iter().all(is_safe) && !session.has_unplugged() {
            printer.remark("nothing waits in memory: safe to unplug once it is unmounted");
            return Ok(Exit::Fine);
        }
    }
}

/// Where only the sum over all disks is known, says that it may never end, why, and what to do.
fn warn_of_all_disks(session: &Session, printer: &Printer) {
    let mut all = session.watched.iter().filter_map(|one| Some(one.activity.as_ref()?.pending));
    if let Some(pending @ PendingWrites::AtMost(..)) =
        all.find(|pending| matches!(pending, PendingWrites::AtMost(..)))
    {
        printer.remark(format!(
            "note: {}; this ends only when nothing waits for any disk",
            text::waiting(pending)
        ));
        if !rustix::process::geteuid().is_root() {
            printer.remark("with sudo before the command, it ends when nothing waits for this disk");
        }
    }
}

fn print_interval(session: &Session, printer: &Printer) -> Result<(), Failure> {
    if printer.json {
        printer.document_line(&document(session))?;
        return Ok(());
    }
    for one in &session.watched {
        let line = one.activity.as_ref().map(|activity| text::line(&one.disk, activity));
        printer.result(&format!("{}\n", line.unwrap_or_default()))?;
    }
    Ok(())
}

fn document(session: &Session) -> WatchDocument {
    let disks = session.watched.iter().filter_map(|one| Some((&one.disk, one.activity.as_ref()?)));
    WatchDocument::now(disks)
}

fn print_unplugged(session: &mut Session, printer: &Printer) {
    for message in session.take_unplugged() {
        printer.remark(message);
    }
}
