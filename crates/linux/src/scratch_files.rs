//! Sparse scratch files, and the tools that build filesystems in them.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flashscope_device::{ByteRange, Bytes};

use crate::extents::extents;

/// Where the tools are; a user's PATH often lacks the first two.
const TOOL_FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// A folder of sparse scratch files. It disappears when it is dropped.
#[derive(Debug)]
pub struct ScratchFiles {
    folder: tempfile::TempDir,
}

/// A tool that could not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It is not installed.
    #[error("{program} is not installed")]
    Missing {
        /// The program.
        program: String,
    },
    /// It failed.
    #[error("{program} failed with {status}: {messages}")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: String,
        /// What it printed.
        messages: String,
    },
    /// The system failed.
    #[error("{during}: {reason}")]
    System {
        /// What was going on.
        during: String,
        /// What the system said.
        reason: String,
    },
}

fn system(during: &str, path: &Path, error: &std::io::Error) -> ToolError {
    ToolError::System { during: format!("{during} {}", path.display()), reason: error.to_string() }
}

/// The absolute path of a tool, or `None` if it is not installed.
#[must_use]
pub fn tool(program: &str) -> Option<PathBuf> {
    TOOL_FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
}

impl ScratchFiles {
    /// A new folder below `parent`, which should be on a disk of the host, not on the stick.
    ///
    /// # Errors
    /// [`ToolError::System`] if it cannot be made.
    pub fn new(parent: &Path) -> Result<Self, ToolError> {
        let folder = tempfile::Builder::new()
            .prefix(".flashscope-")
            .tempdir_in(parent)
            .map_err(|error| system("making a folder in", parent, &error))?;
        Ok(Self { folder })
    }

    /// A new, empty, sparse file of this size.
    ///
    /// # Errors
    /// [`ToolError::System`] if it cannot be made.
    pub fn create(&self, name: &str, size: Bytes) -> Result<PathBuf, ToolError> {
        let path = self.folder.path().join(name);
        let file = File::create(&path).map_err(|error| system("making", &path, &error))?;
        file.set_len(size.get()).map_err(|error| system("making", &path, &error))?;
        Ok(path)
    }

    /// The ranges of a file that were written, zeros included.
    ///
    /// # Errors
    /// [`ToolError::System`] if the host's filesystem does not tell.
    pub fn written(&self, path: &Path) -> Result<Vec<ByteRange>, ToolError> {
        let file = File::open(path).map_err(|error| system("opening", path, &error))?;
        extents(&file).map_err(|error| system("looking up the extents of", path, &error))
    }

    /// Bytes of a file; zeros past its end.
    ///
    /// # Errors
    /// [`ToolError::System`] if they cannot be read.
    pub fn read(&self, path: &Path, range: ByteRange) -> Result<Vec<u8>, ToolError> {
        let file = File::open(path).map_err(|error| system("opening", path, &error))?;
        let mut bytes = vec![0; range.length.to_usize()];
        let mut done = 0;
        while done < bytes.len() {
            let at = range.offset.get() + done as u64;
            match file.read_at(&mut bytes[done..], at).map_err(|error| system("reading", path, &error))? {
                0 => break,
                count => done += count,
            }
        }
        Ok(bytes)
    }

    /// Writes bytes into a file.
    ///
    /// # Errors
    /// [`ToolError::System`] if they cannot be written.
    pub fn write(&self, path: &Path, offset: Bytes, bytes: &[u8]) -> Result<(), ToolError> {
        let file =
            OpenOptions::new().write(true).open(path).map_err(|error| system("opening", path, &error))?;
        file.write_all_at(bytes, offset.get()).map_err(|error| system("writing", path, &error))
    }
}

/// Runs a tool by its absolute path, in locale C, without a shell; returns what it printed.
///
/// # Errors
/// [`ToolError`] if it is missing or fails.
pub fn run_tool(program: &str, arguments: &[String], input: &str) -> Result<String, ToolError> {
    let path = tool(program).ok_or_else(|| ToolError::Missing { program: program.to_owned() })?;
    let during = |error: &std::io::Error| system("running", &path, error);
    let mut child = Command::new(&path)
        .args(arguments)
        .env_clear()
        .env("LC_ALL", "C")
        .env("PATH", TOOL_FOLDERS.join(":"))
        // mke2fs then writes its zeros, so that the file's extents show them (e2fsprogs, lib/ext2fs/unix_io.c).
        .env("UNIX_IO_NOZEROOUT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| during(&error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool that ends without reading its input says why itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| during(&error))?;
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    let messages = text.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    if output.status.success() {
        return Ok(messages);
    }
    Err(ToolError::Failed { program: program.to_owned(), status: output.status.to_string(), messages })
}
