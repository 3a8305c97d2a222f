//! Ctrl-C, SIGTERM and the end of the terminal: they set a flag, and the measurement ends in order.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use anyhow::anyhow;
use flashscope_device::layer::Interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Exit, Failure, OrExit};

/// The only interrupt of the process, or why its handlers could not be installed.
static INTERRUPT: OnceLock<Result<Interrupt, String>> = OnceLock::new();

/// How long a signal may go unnoticed that arrives just before the wait for an answer. Policy: a person sees
/// no delay.
const SIGNAL_CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// One read of a terminal. A longer line is read in several.
const READ_BYTES: usize = 256;
/// The longest answer: that of a path. The rest of a longer one is not read.
const ANSWER_BYTES_MAX: usize = 8192;

/// The flag that Ctrl-C sets, the same for the whole process: an interrupt stops everything that follows. A
/// second Ctrl-C ends the program at once.
///
/// # Errors
/// Exit code 3 if signal handlers cannot be installed.
pub fn on_interrupt() -> Result<Interrupt, Failure> {
    let installed = INTERRUPT.get_or_init(|| install().map_err(|error| error.to_string()));
    installed.clone().map_err(|error| anyhow!(error)).or_exit(Exit::Failed, "cannot handle Ctrl-C")
}

/// Said where the results are those of a part of the measurement.
pub const INTERRUPTED: &str = "interrupted: only what was measured until then is shown";

/// The end of a command that an interrupt met before it wrote anything.
pub fn interrupted() -> Failure {
    Failure { exit: Exit::Interrupted, error: anyhow!("interrupted; nothing was written") }
}

fn install() -> io::Result<Interrupt> {
    let interrupt = Interrupt::default();
    let flag: Arc<AtomicBool> = interrupt.flag();
    let hangup = (!outlives_terminal()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))?;
    }
    Ok(interrupt)
}

/// Reads one line of a terminal, without its end. `None` after an interrupt, also if a line was read.
///
/// The read itself would continue after a signal (`SA_RESTART`), so it starts only when there is a line.
///
/// # Errors
/// That of the system.
pub fn read_line(terminal: impl AsFd, interrupt: &Interrupt) -> io::Result<Option<String>> {
    let (mut line, mut bytes) = (Vec::new(), [0; READ_BYTES]);
    while !interrupt.is_requested() && !line.contains(&b'\n') && line.len() < ANSWER_BYTES_MAX {
        match poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&SIGNAL_CHECK)) {
            Ok(0) | Err(Errno::INTR) => continue,
            ready => ready?,
        };
        match rustix::io::read(&terminal, &mut bytes) {
            Ok(0) => break,
            Ok(read) => line.extend_from_slice(&bytes[..read]),
            Err(Errno::INTR) => {}
            // The terminal has gone, which is a signal as well.
            Err(_) if interrupt.is_requested() => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
    }
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok((!interrupt.is_requested()).then(|| String::from_utf8_lossy(line).into_owned()))
}

/// Whether the program should survive its terminal: `nohup` ignores SIGHUP.
fn outlives_terminal() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, SIGHUP))
}

/// Whether a signal is ignored, by `/proc/PID/status` (proc(5)).
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_has_one_interrupt() {
        let (first, second) = (on_interrupt().unwrap(), on_interrupt().unwrap());
        assert!(Arc::ptr_eq(&first.flag(), &second.flag()));
    }

    #[test]
    fn line_is_read_to_its_end_unless_interrupted() {
        let interrupt = Interrupt::default();
        let read = |text: &str, interrupt: &Interrupt| {
            let (reader, mut writer) = io::pipe().unwrap();
            io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
            drop(writer);
            read_line(reader, interrupt).unwrap()
        };
        let [long, longest, endless] = [READ_BYTES + 1, ANSWER_BYTES_MAX, ANSWER_BYTES_MAX + READ_BYTES]
            .map(|length| "s".repeat(length));
        for (text, line) in [
            ("sdb\nsdc\n", "sdb"),
            ("sdb", "sdb"),
            ("", ""),
            ("\n", ""),
            (&long, &long),
            (&longest, &longest),
            (&endless, &longest),
        ] {
            assert_eq!(read(text, &interrupt).as_deref(), Some(line));
        }
        let (reader, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, b"sdb\n").unwrap();
        interrupt.request();
        assert_eq!(read_line(reader, &interrupt).unwrap(), None, "the writer is still open");
    }

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status = "Name:\tflashscope\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP) && !ignores(status, SIGINT));
        assert!(!ignores("SigIgn:\t0000000000001000\n", SIGHUP) && !ignores("", SIGHUP));
    }
}
