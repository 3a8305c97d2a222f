//! The live screen of `watch`: draws after each sample, reads keys in between, and restores the terminal.

use std::io;

use ratatui::DefaultTerminal;
use rustix::io::Errno;

use super::keys::{Key, Keys};
use super::picture;
use super::session::Session;
use super::watched::Watched;
use crate::exit::{Exit, Failure, OrExit};

/// Why the screen was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// A key or a signal.
    Quit,
    /// The terminal hung up.
    HangUp,
}

/// Shows the disks until a key, a signal, a hang-up, or the last disk is unplugged.
///
/// # Errors
/// Exit code 3 if the terminal cannot be drawn on, or the last disk is unplugged.
pub fn run(session: &mut Session, is_styled: bool) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init().or_exit(Exit::Failed, "cannot draw on this terminal")?;
    let ended = show(&mut terminal, session, is_styled);
    let restored = ratatui::try_restore();
    if matches!(ended, Ok(Ended::HangUp)) || restored.as_ref().is_err_and(is_hang_up) {
        // Dropping it would try to show the cursor, print an error, and panic if that fails as well.
        std::mem::forget(terminal);
        return ended.map(|_| ());
    }
    ended?;
    restored.or_exit(Exit::Failed, "cannot restore the terminal; run: reset")
}

fn show(terminal: &mut DefaultTerminal, session: &mut Session, is_styled: bool) -> Result<Ended, Failure> {
    let keys = Keys::open().or_exit(Exit::Failed, "cannot read keys from this terminal")?;
    let mut shown = 0;
    while !session.interrupt.is_requested() {
        match draw(terminal, &session.watched, shown, is_styled) {
            Err(error) if is_hang_up(&error) => return Ok(Ended::HangUp),
            drawn => drawn?,
        }
        // Waiting for keys ends with a signal, or at the next snapshot.
        let wait = session.time_left();
        if wait.is_zero() {
            session.advance()?;
            shown = shown.min(session.watched.len().saturating_sub(1));
            continue;
        }
        match keys.wait(wait) {
            Key::None => {}
            Key::Next(times) => shown = (shown + times) % session.watched.len().max(1),
            Key::Quit => return Ok(Ended::Quit),
            Key::HangUp => return Ok(Ended::HangUp),
        }
    }
    Ok(Ended::Quit)
}

fn draw(
    terminal: &mut DefaultTerminal,
    watched: &[Watched],
    shown: usize,
    is_styled: bool,
) -> io::Result<()> {
    terminal.draw(|frame| picture::draw(frame, watched, shown, is_styled)).map(|_| ())
}

/// Whether the terminal hung up.
fn is_hang_up(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a hang-up, drawing on the terminal fails so.
    #[test]
    fn only_an_input_output_error_is_a_hang_up() {
        let is_one = |errno: Errno| is_hang_up(&io::Error::from(errno));
        assert!(is_one(Errno::IO));
        assert!(!is_one(Errno::NOSPC) && !is_one(Errno::BADF));
        assert!(!is_hang_up(&io::Error::other("an error without a number")));
    }
}
