//! Exit codes, and errors that carry one.

use std::fmt::Display;
use std::process::ExitCode;

/// How a command ended. Scripts rely on the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: no problem.
    Fine,
    /// 1: a problem was found with the stick.
    Problem,
    /// 2: wrong usage or target.
    Usage,
    /// 3: the measurement failed.
    Failed,
    /// 4: refused for safety.
    Refused,
    /// 5: nothing that was asked can be tested here.
    NotTestable,
    /// 130: interrupted; the measurements so far are stored.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Problem => 1,
            Exit::Usage => 2,
            Exit::Failed => 3,
            Exit::Refused => 4,
            Exit::NotTestable => 5,
            Exit::Interrupted => 130,
        })
    }
}

/// An error and the exit code it leads to.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// The error and its context.
    pub error: anyhow::Error,
}

/// An I/O error without another exit code comes from writing the output.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { exit: Exit::Failed, error: error.into() }
    }
}

/// Gives an error an exit code and a context.
pub trait OrExit<T> {
    /// This exit code, and `context` in front of the error.
    ///
    /// # Errors
    /// [`Failure`] if this is an error.
    fn or_exit(self, exit: Exit, context: impl Display + Send + Sync + 'static) -> Result<T, Failure>;
    /// This exit code, without context.
    ///
    /// # Errors
    /// [`Failure`] if this is an error.
    fn or_exit_bare(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_exit(self, exit: Exit, context: impl Display + Send + Sync + 'static) -> Result<T, Failure> {
        self.map_err(|error| Failure { exit, error: error.into().context(context) })
    }

    fn or_exit_bare(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|error| Failure { exit, error: error.into() })
    }
}
