//! The host of the tests: real tools in scratch files.

use std::path::{Path, PathBuf};

use flashscope_device::{ByteRange, Bytes};
use flashscope_layout::apply::{Host, HostError};
use flashscope_layout::filesystem::Command;
use flashscope_linux::{ScratchFiles, ToolError, run_tool};

/// Real tools in a folder below the temporary one.
pub struct ToolHost(ScratchFiles);

impl ToolHost {
    pub fn new() -> Self {
        Self(ScratchFiles::new(&std::env::temp_dir()).unwrap())
    }
}

fn failed(error: ToolError) -> HostError {
    match error {
        ToolError::Missing { program } => HostError::Missing { program, package: String::new() },
        ToolError::Failed { program, status, messages } => {
            HostError::Failed { command: program, status, messages }
        }
        other => HostError::Scratch { during: "the test".to_owned(), reason: other.to_string() },
    }
}

impl Host for ToolHost {
    fn scratch(&mut self, name: &str, size: Bytes) -> Result<PathBuf, HostError> {
        self.0.create(name, size).map_err(failed)
    }

    fn run(&mut self, command: &Command) -> Result<String, HostError> {
        run_tool(&command.program, &command.arguments, &command.input).map_err(failed)
    }

    fn written(&mut self, path: &Path) -> Result<Vec<ByteRange>, HostError> {
        self.0.written(path).map_err(failed)
    }

    fn read(&mut self, path: &Path, range: ByteRange) -> Result<Vec<u8>, HostError> {
        self.0.read(path, range).map_err(failed)
    }

    fn write(&mut self, path: &Path, offset: Bytes, bytes: &[u8]) -> Result<(), HostError> {
        self.0.write(path, offset, bytes).map_err(failed)
    }
}

/// Whether all tools for `programs` are here; says which is missing, and fails where nothing may be skipped.
pub fn has_tools(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| flashscope_linux::tool(program).is_none());
    let Some(missing) = missing else { return true };
    assert!(std::env::var_os("FLASHSCOPE_REQUIRE_ALL").is_none(), "{missing} is not installed");
    eprintln!("skipped: {missing} is not installed");
    false
}
