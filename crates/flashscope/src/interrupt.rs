//! What Ctrl-C does: it raises a flag, and what is going on ends in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashscope_device::layer::Interrupt;

use crate::exit::{Exit, Failure, OrExit};

/// A flag that Ctrl-C raises. Pressed twice, it ends the program at once.
///
/// # Errors
/// Exit code 3 if signals cannot be watched.
pub fn on_interrupt() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::default();
    let flag: Arc<AtomicBool> = interrupt.flag();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .or_exit(Exit::Failed, "cannot watch for Ctrl-C")?;
    }
    Ok(interrupt)
}
