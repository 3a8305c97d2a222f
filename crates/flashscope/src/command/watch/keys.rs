//! Keys on the screen of `watch`, and the hang-up of its terminal.
//!
//! crossterm 0.29 could read keys as well, but loops forever when the terminal hangs up: it ignores end of
//! file and errors.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The bytes read at a time. Guess: more than anybody types in 0.1 s; a paste takes several reads.
const READ_BYTES: usize = 1024;

const CONTROL_C: u8 = 0x03;
const ESCAPE: u8 = 0x1b;

/// The source of keys.
pub enum Keys {
    /// Standard input is the terminal.
    Input(io::Stdin),
    /// Standard input is something else; keys come from the controlling terminal.
    Session(File),
}

/// The result of waiting for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// The time is over, a signal arrived, or the key has no meaning.
    None,
    /// Tab, this number of times: the next disk.
    Next(usize),
    /// q, Esc or Ctrl-C, which is an ordinary key in raw mode.
    Quit,
    /// The terminal hung up.
    HangUp,
}

impl Keys {
    /// Opens the controlling terminal.
    ///
    /// # Errors
    /// If there is none.
    pub fn open() -> io::Result<Self> {
        let input = io::stdin();
        if io::IsTerminal::is_terminal(&input) {
            return Ok(Self::Input(input));
        }
        File::open("/dev/tty").map(Self::Session)
    }

    /// Waits for a key, but no longer than `duration`.
    pub fn wait(&self, duration: Duration) -> Key {
        match self.poll(duration) {
            Ok(flags) if flags.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => Key::HangUp,
            Ok(flags) if flags.contains(PollFlags::IN) => self.read(),
            Ok(_) | Err(Errno::INTR) => Key::None,
            Err(_) => Key::HangUp,
        }
    }

    fn poll(&self, duration: Duration) -> Result<PollFlags, Errno> {
        let mut waiting = [PollFd::from_borrowed_fd(self.terminal(), PollFlags::IN)];
        poll(&mut waiting, Timespec::try_from(duration).ok().as_ref())?;
        Ok(waiting[0].revents())
    }

    /// Reads without blocking: [`Keys::poll`] reported data.
    fn read(&self) -> Key {
        let mut pressed = [0; READ_BYTES];
        match rustix::io::read(self.terminal(), &mut pressed) {
            Ok(0) => Key::HangUp,
            Ok(length) => meaning(&pressed[..length]),
            Err(Errno::INTR | Errno::AGAIN) => Key::None,
            Err(_) => Key::HangUp,
        }
    }

    fn terminal(&self) -> BorrowedFd<'_> {
        match self {
            Self::Input(input) => input.as_fd(),
            Self::Session(terminal) => terminal.as_fd(),
        }
    }
}

/// The meaning of all keys together: [`Key::Quit`] if one of them quits.
fn meaning(mut pressed: &[u8]) -> Key {
    let mut tabs = 0;
    while let Some((first, rest)) = pressed.split_first() {
        pressed = rest;
        match (*first, rest.first()) {
            (b'q' | CONTROL_C, _) | (ESCAPE, None | Some(&ESCAPE)) => return Key::Quit,
            (ESCAPE, Some(_)) => pressed = after_sequence(rest),
            (b'\t', _) => tabs += 1,
            _ => {}
        }
    }
    if tabs == 0 { Key::None } else { Key::Next(tabs) }
}

/// The bytes after an escape sequence, such as an arrow key: `[`, parameters and a final byte (ECMA-48,
/// 5.4), or `O` and one byte. With Alt, other keys send one byte.
fn after_sequence(sequence: &[u8]) -> &[u8] {
    let length = match sequence {
        [b'[', parameters @ ..] => {
            let last = parameters.iter().position(|byte| (0x40..=0x7e).contains(byte));
            last.map_or(sequence.len(), |last| last + 2)
        }
        [b'O', _, ..] => 2,
        _ => 1,
    };
    sequence.get(length..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quit_keys_are_distinguished_from_escape_sequences() {
        for pressed in
            ["q", "\u{3}", "\u{1b}", "\u{1b}\u{1b}", "xq", "\u{1b}[Aq", "\u{1b}[1;5Aq", "\u{1b}OPq"]
        {
            assert_eq!(meaning(pressed.as_bytes()), Key::Quit, "{pressed:?}");
        }
        for pressed in
            ["x", "Q", "\u{e9}\n", "\u{1b}[A", "\u{1b}[Z", "\u{1b}[15~", "\u{1b}OQ", "\u{1b}x", "\u{1b}["]
        {
            assert_eq!(meaning(pressed.as_bytes()), Key::None, "{pressed:?}");
        }
        assert_eq!((meaning(b"\t\x1b[A\t"), meaning(b"\tq")), (Key::Next(2), Key::Quit));
    }
}
