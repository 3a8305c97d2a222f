//! Ctrl-C, SIGTERM and the end of the terminal: they set a flag, and the measurement ends in order.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashscope_device::layer::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Exit, Failure, OrExit};

/// A flag that Ctrl-C sets. A second Ctrl-C ends the program at once.
///
/// # Errors
/// Exit code 3 if signal handlers cannot be installed.
pub fn on_interrupt() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::default();
    let flag: Arc<AtomicBool> = interrupt.flag();
    let hangup = (!outlives_terminal()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .or_exit(Exit::Failed, "cannot handle Ctrl-C")?;
    }
    Ok(interrupt)
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
    fn ignored_signals_are_read_from_the_mask() {
        let status = "Name:\tflashscope\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP) && !ignores(status, SIGINT));
        assert!(!ignores("SigIgn:\t0000000000001000\n", SIGHUP) && !ignores("", SIGHUP));
    }
}
