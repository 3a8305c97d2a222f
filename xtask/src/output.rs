//! Standard output for results, standard error for progress.

use std::io::{ErrorKind, Result, Write as _};

/// Prints the result of a task. `println!` would panic where the reader has closed the pipe (`cargo xtask … |
/// head`).
pub fn print(text: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// Prints a line of progress. A closed standard error is no problem: it loses nothing else.
pub fn progress(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether a task failed only because the reader of its output has closed the pipe.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    kind == Some(ErrorKind::BrokenPipe)
}
