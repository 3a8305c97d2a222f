//! What applying needs from the host: scratch files and tools.

use std::path::{Path, PathBuf};

use flashscope_device::{ByteRange, Bytes};

use crate::filesystem::{Command, TooOld, Tool};
use crate::version::Version;

/// The host: it runs tools and keeps sparse scratch files for them.
pub trait Host {
    /// A new, empty, sparse file of this size.
    ///
    /// # Errors
    /// [`HostError`] if it cannot be made.
    fn scratch(&mut self, name: &str, size: Bytes) -> Result<PathBuf, HostError>;

    /// Runs a tool, never through a shell, in locale C, and returns its messages.
    ///
    /// # Errors
    /// [`HostError`] if it is missing or fails.
    fn run(&mut self, command: &Command) -> Result<String, HostError>;

    /// The ranges of a scratch file that were written, zeros included, ascending.
    ///
    /// # Errors
    /// [`HostError`] if the host's filesystem does not know them.
    fn written(&mut self, path: &Path) -> Result<Vec<ByteRange>, HostError>;

    /// Bytes of a scratch file; zeros past its end.
    ///
    /// # Errors
    /// [`HostError`] if they cannot be read.
    fn read(&mut self, path: &Path, range: ByteRange) -> Result<Vec<u8>, HostError>;

    /// Writes bytes into a scratch file.
    ///
    /// # Errors
    /// [`HostError`] if they cannot be written.
    fn write(&mut self, path: &Path, offset: Bytes, bytes: &[u8]) -> Result<(), HostError>;
}

/// The version of a tool; `None` if it prints none. `run` runs a tool.
///
/// # Errors
/// [`HostError`] if it is missing or too old; with the package that has it.
pub fn version_of(
    tool: &Tool,
    run: &mut dyn FnMut(&Command) -> Result<String, HostError>,
) -> Result<Option<Version>, HostError> {
    let Some(option) = tool.version_option else { return Ok(None) };
    // Some tools print their version and fail.
    let version = match run(&Command::new(tool.program, [option])) {
        Ok(messages) | Err(HostError::Failed { messages, .. }) => Version::find(&messages),
        Err(error) => return Err(error.with_package(tool.package)),
    };
    match version.filter(|version| *version < tool.since) {
        Some(found) => {
            let (program, package) = (tool.program.to_owned(), tool.package.to_owned());
            Err(HostError::TooOld { program, found, since: tool.since, package })
        }
        None => Ok(version),
    }
}

/// Something that the host could not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// A tool is not installed.
    #[error("{program} is not installed; install the package {package}")]
    Missing {
        /// The tool.
        program: String,
        /// The package that has it.
        package: String,
    },
    /// A tool is too old.
    #[error(
        "{program} {found} is too old: version {since} or later is needed; upgrade the package {package}"
    )]
    TooOld {
        /// The tool.
        program: String,
        /// Its version.
        found: Version,
        /// The least version.
        since: Version,
        /// The package that has it.
        package: String,
    },
    /// A tool lacks an option.
    #[error(transparent)]
    Lacks(#[from] TooOld),
    /// A tool failed.
    #[error("{command} failed with {status}: {messages}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// What it printed.
        messages: String,
    },
    /// A scratch file failed.
    #[error("{during}: {reason}")]
    Scratch {
        /// What was going on.
        during: String,
        /// What the system said.
        reason: String,
    },
}

impl HostError {
    /// Names the package of a missing tool.
    #[must_use]
    pub fn with_package(self, package: &str) -> Self {
        match self {
            Self::Missing { program, .. } => Self::Missing { program, package: package.to_owned() },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::{FilesystemKind, of_kind};

    #[test]
    fn tool_is_taken_from_the_least_version_on_that_has_its_options() {
        let tool = of_kind(FilesystemKind::Ext4).tool();
        let version_of = |printed: &str| version_of(&tool, &mut |_| Ok(printed.to_owned()));
        assert_eq!(version_of("mke2fs 1.42 (29-Nov-2011)"), Ok(Some(Version([1, 42, 0]))));
        assert_eq!(version_of("mke2fs 1.47.0 (5-Feb-2023)"), Ok(Some(Version([1, 47, 0]))));
        assert_eq!(version_of("mke2fs"), Ok(None));
        let (program, package) = ("mkfs.ext4".to_owned(), "e2fsprogs".to_owned());
        let (found, since) = (Version([1, 41, 14]), Version([1, 42, 0]));
        let refused = HostError::TooOld { program, found, since, package };
        assert_eq!(version_of("mke2fs 1.41.14 (22-Dec-2010)"), Err(refused));
    }
}
