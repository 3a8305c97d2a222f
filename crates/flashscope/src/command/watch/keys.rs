//! Keys that are pressed while the screen is shown, and the end of a terminal that has gone.
//!
//! The library that draws could read keys as well, but never comes back from a terminal that hangs up while it reads
//! (crossterm 0.29): the end of it, and every error, is to it no reason to stop.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// More than anybody presses in a tenth of a second; what is pasted comes in pieces.
const PRESSED_BYTES_MAX: usize = 1024;

const CONTROL_C: u8 = 0x03;
const ESCAPE: u8 = 0x1b;

/// Where keys come from.
pub enum Keys {
    /// Standard input is the terminal.
    Input(io::Stdin),
    /// It is something else; the terminal is that of the session.
    Session(File),
}

/// What a wait for keys ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// The time has passed, a signal came, or a key that means nothing here.
    Nothing,
    /// Tab, so many times: the next disk.
    Next(usize),
    /// q, Esc or Ctrl-C: the end. On this screen Ctrl-C is a key like others.
    End,
    /// The terminal has gone.
    Gone,
}

impl Keys {
    /// Of the terminal that this program was started in.
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
    pub fn wait(&self, duration: Duration) -> Heard {
        match self.poll(duration) {
            Ok(flags) if flags.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => Heard::Gone,
            Ok(flags) if flags.contains(PollFlags::IN) => self.read(),
            Ok(_) | Err(Errno::INTR) => Heard::Nothing,
            Err(_) => Heard::Gone,
        }
    }

    fn poll(&self, duration: Duration) -> Result<PollFlags, Errno> {
        let mut waiting = [PollFd::from_borrowed_fd(self.terminal(), PollFlags::IN)];
        poll(&mut waiting, Timespec::try_from(duration).ok().as_ref())?;
        Ok(waiting[0].revents())
    }

    /// Something is there to read, so that this does not wait.
    fn read(&self) -> Heard {
        let mut pressed = [0; PRESSED_BYTES_MAX];
        match rustix::io::read(self.terminal(), &mut pressed) {
            Ok(0) => Heard::Gone,
            Ok(length) => meaning(&pressed[..length]),
            Err(Errno::INTR | Errno::AGAIN) => Heard::Nothing,
            Err(_) => Heard::Gone,
        }
    }

    fn terminal(&self) -> BorrowedFd<'_> {
        match self {
            Self::Input(input) => input.as_fd(),
            Self::Session(terminal) => terminal.as_fd(),
        }
    }
}

/// What all that was pressed means: the end, if one of the keys does.
fn meaning(mut pressed: &[u8]) -> Heard {
    let mut tabs = 0;
    while let Some((first, rest)) = pressed.split_first() {
        pressed = rest;
        match (*first, rest.first()) {
            (b'q' | CONTROL_C, _) | (ESCAPE, None | Some(&ESCAPE)) => return Heard::End,
            (ESCAPE, Some(_)) => pressed = after_sequence(rest),
            (b'\t', _) => tabs += 1,
            _ => {}
        }
    }
    if tabs == 0 { Heard::Nothing } else { Heard::Next(tabs) }
}

/// What follows a key that sends more than one byte, such as an arrow: `[`, parameters and a last byte (ECMA-48, 5.4), or
/// `O` and one byte. With Alt, other keys are one byte.
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
    fn keys_that_end_are_told_from_those_that_only_begin_like_them() {
        for pressed in
            ["q", "\u{3}", "\u{1b}", "\u{1b}\u{1b}", "xq", "\u{1b}[Aq", "\u{1b}[1;5Aq", "\u{1b}OPq"]
        {
            assert_eq!(meaning(pressed.as_bytes()), Heard::End, "{pressed:?}");
        }
        for pressed in
            ["x", "Q", "\u{e9}\n", "\u{1b}[A", "\u{1b}[Z", "\u{1b}[15~", "\u{1b}OQ", "\u{1b}x", "\u{1b}["]
        {
            assert_eq!(meaning(pressed.as_bytes()), Heard::Nothing, "{pressed:?}");
        }
        assert_eq!((meaning(b"\t\x1b[A\t"), meaning(b"\tq")), (Heard::Next(2), Heard::End));
    }
}
