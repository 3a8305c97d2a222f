//! Sparse scratch files, and the tools that build filesystems in them.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flashscope_device::{ByteRange, Bytes};
use flashscope_layout::apply::{Host, HostError};
use flashscope_layout::filesystem::Command as Tool;

use crate::extents::allocated;

/// Where the tools are; a user's PATH often lacks the first two.
const TOOL_FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// A folder of sparse scratch files. It disappears when it is dropped.
#[derive(Debug)]
pub struct ScratchFiles {
    folder: tempfile::TempDir,
}

fn system(during: &str, path: &Path, error: &std::io::Error) -> HostError {
    HostError::Scratch { during: format!("{during} {}", path.display()), reason: error.to_string() }
}

/// The absolute path of a tool, or `None` if it is not installed.
#[must_use]
pub fn tool(program: &str) -> Option<PathBuf> {
    TOOL_FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
}

/// The folders start with this and the number of their process.
const PREFIX: &str = ".flashscope-scratch-";

/// Removes the folders of processes that were killed.
fn remove_stale(parent: &Path) {
    let folders = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        let is_stale = process.is_some_and(|process| {
            process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists()
        });
        if is_stale {
            // Another user's folder stays.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

impl ScratchFiles {
    /// A new folder below `parent`, which should be on a disk of the host, not on the stick.
    ///
    /// # Errors
    /// [`HostError::Scratch`] if it cannot be made.
    pub fn new(parent: &Path) -> Result<Self, HostError> {
        remove_stale(parent);
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(parent)
            .map_err(|error| system("making a folder in", parent, &error))?;
        let mut files = Self { folder };
        files.try_out(parent)?;
        Ok(files)
    }

    /// Checks that written zeros are told from holes: otherwise a tool's zeros would not reach the medium.
    fn try_out(&mut self, parent: &Path) -> Result<(), HostError> {
        let path = self.scratch("probe", Bytes::mib(8))?;
        self.write(&path, Bytes::mib(4), &[0; 4096])?;
        let is_listed = self
            .written(&path)?
            .iter()
            .any(|range| range.offset <= Bytes::mib(4) && range.end() >= Bytes::mib(4) + Bytes::kib(4));
        if is_listed {
            return Ok(());
        }
        let reason = "its filesystem turns zeros into holes; name another folder (TMPDIR)".to_owned();
        Err(HostError::Scratch { during: format!("using {}", parent.display()), reason })
    }
}

impl Host for ScratchFiles {
    fn scratch(&mut self, name: &str, size: Bytes) -> Result<PathBuf, HostError> {
        let path = self.folder.path().join(name);
        let file = File::create(&path).map_err(|error| system("making", &path, &error))?;
        file.set_len(size.get()).map_err(|error| system("making", &path, &error))?;
        Ok(path)
    }

    fn run(&mut self, command: &Tool) -> Result<String, HostError> {
        run_tool(command)
    }

    fn written(&mut self, path: &Path) -> Result<Vec<ByteRange>, HostError> {
        let file = File::open(path).map_err(|error| system("opening", path, &error))?;
        allocated(&file).map_err(|error| system("looking up the extents of", path, &error))
    }

    fn read(&mut self, path: &Path, range: ByteRange) -> Result<Vec<u8>, HostError> {
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

    fn write(&mut self, path: &Path, offset: Bytes, bytes: &[u8]) -> Result<(), HostError> {
        let file =
            OpenOptions::new().write(true).open(path).map_err(|error| system("opening", path, &error))?;
        file.write_all_at(bytes, offset.get()).map_err(|error| system("writing", path, &error))
    }
}

/// Runs a tool by its absolute path, in locale C, without a shell; returns what it printed.
///
/// # Errors
/// [`HostError`] if it is missing or fails.
pub fn run_tool(command: &Tool) -> Result<String, HostError> {
    let (program, package) = (&command.program, String::new());
    let path = tool(program).ok_or_else(|| HostError::Missing { program: program.clone(), package })?;
    let during = |error: &std::io::Error| system("running", &path, error);
    let mut child = Command::new(&path)
        .args(&command.arguments)
        .env_clear()
        // English messages; mkfs.exfat reads labels in this character set.
        .env("LC_ALL", "C.UTF-8")
        .env("PATH", TOOL_FOLDERS.join(":"))
        // mke2fs then writes its zeros, so that the file's extents show them (e2fsprogs,
        // lib/ext2fs/unix_io.c).
        .env("UNIX_IO_NOZEROOUT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| during(&error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool that ends without reading its input says why itself.
        let _ = stdin.write_all(command.input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| during(&error))?;
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    let messages = text.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    if output.status.success() {
        return Ok(messages);
    }
    let command = std::iter::once(program).chain(&command.arguments).cloned().collect::<Vec<_>>().join(" ");
    Err(HostError::Failed { command, status: output.status.to_string(), messages })
}
