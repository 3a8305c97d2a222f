//! The live screen: draws after each look, takes keys in between, and leaves the terminal as it was.

use std::io;

use ratatui::DefaultTerminal;
use rustix::io::Errno;

use super::keys::{Heard, Keys};
use super::picture;
use super::session::Session;
use super::watched::Watched;
use crate::exit::{Exit, Failure, OrExit};

/// Why the screen is not shown any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// Somebody wanted it.
    Asked,
    /// The terminal has gone: nobody can want anything any more.
    TerminalGone,
}

/// Shows the disks until a key, a signal, the end of the terminal, or the last disk has gone.
///
/// # Errors
/// Exit code 3 if the terminal cannot be drawn on, or the last disk went away.
pub fn run(session: &mut Session, is_styled: bool) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init().or_exit(Exit::Failed, "cannot draw on this terminal")?;
    let ended = show(&mut terminal, session, is_styled);
    let restored = ratatui::try_restore();
    if matches!(ended, Ok(Ended::TerminalGone)) || restored.as_ref().is_err_and(has_gone) {
        // Its last act would be to show the cursor, or to say that it cannot, and to panic where that fails too.
        std::mem::forget(terminal);
        return ended.map(|_| ());
    }
    ended?;
    restored.or_exit(Exit::Failed, "cannot restore the terminal; the command reset does")
}

fn show(terminal: &mut DefaultTerminal, session: &mut Session, is_styled: bool) -> Result<Ended, Failure> {
    let keys = Keys::open().or_exit(Exit::Failed, "cannot read keys from this terminal")?;
    let mut shown = 0;
    while !session.interrupt.is_requested() {
        match draw(terminal, &session.watched, shown, is_styled) {
            Err(error) if has_gone(&error) => return Ok(Ended::TerminalGone),
            drawn => drawn?,
        }
        // A wait for keys ends when a signal comes, and never takes longer than to the next snapshot.
        let wait = session.time_left();
        if wait.is_zero() {
            session.go_on()?;
            shown = shown.min(session.watched.len().saturating_sub(1));
            continue;
        }
        match keys.wait(wait) {
            Heard::Nothing => {}
            Heard::Next(times) => shown = (shown + times) % session.watched.len().max(1),
            Heard::End => return Ok(Ended::Asked),
            Heard::Gone => return Ok(Ended::TerminalGone),
        }
    }
    Ok(Ended::Asked)
}

fn draw(
    terminal: &mut DefaultTerminal,
    watched: &[Watched],
    shown: usize,
    is_styled: bool,
) -> io::Result<()> {
    terminal.draw(|frame| picture::draw(frame, watched, shown, is_styled)).map(|_| ())
}

/// What a terminal that hung up answers.
fn has_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}
