//! The live screen: draws after each look, takes keys in between, and leaves the terminal as it was.

use std::io;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::picture;
use super::session::Session;
use super::watched::Watched;
use crate::exit::{Exit, Failure, OrExit};

/// Shows the disks until a key, a signal, or the last disk has gone.
///
/// # Errors
/// Exit code 3 if the terminal cannot be drawn on, or the last disk went away.
pub fn run(session: &mut Session, is_styled: bool) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init().or_exit(Exit::Failed, "cannot draw on this terminal")?;
    let ended = show(&mut terminal, session, is_styled);
    let restored = ratatui::try_restore();
    ended?;
    restored.or_exit(Exit::Failed, "cannot restore the terminal; the command reset does")
}

fn show(terminal: &mut DefaultTerminal, session: &mut Session, is_styled: bool) -> Result<(), Failure> {
    let mut shown = 0;
    while !session.interrupt.is_requested() {
        draw(terminal, &session.watched, shown, is_styled)?;
        // A wait for keys goes on when a signal comes, but never for longer than to the next glance.
        let wait = session.time_left();
        if wait.is_zero() {
            session.go_on()?;
            shown = shown.min(session.watched.len().saturating_sub(1));
        } else if event::poll(wait)? {
            match event::read()? {
                Event::Key(key) if ends(&key) => return Ok(()),
                Event::Key(KeyEvent { code: KeyCode::Tab, kind: KeyEventKind::Press, .. }) => {
                    shown = (shown + 1) % session.watched.len().max(1);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn draw(
    terminal: &mut DefaultTerminal,
    watched: &[Watched],
    shown: usize,
    is_styled: bool,
) -> io::Result<()> {
    terminal.draw(|frame| picture::draw(frame, watched, shown, is_styled)).map(|_| ())
}

/// On this screen Ctrl-C is a key like others.
fn ends(key: &KeyEvent) -> bool {
    let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    control_c || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
}
