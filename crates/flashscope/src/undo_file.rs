//! The undo file: created under a name that was free, complete or not there at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_layout::apply::UndoSink;
use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure, OrExit};
use crate::medium::file_stem;

/// An undo file that is being written. It gets its name once it is durable.
pub struct UndoFile {
    path: PathBuf,
    partial: Option<BufWriter<NamedTempFile>>,
}

impl UndoFile {
    /// A new undo file: `named`, or one in the current directory that is called after the target.
    ///
    /// # Errors
    /// Exit code 2 if there is a file of this name, or none can be created.
    pub fn create(named: Option<&Path>, target: &str) -> Result<Self, Failure> {
        let path = named.map_or_else(|| default_path(target), Path::to_path_buf);
        let cannot = format!("cannot write the undo file {}; name another one (-o)", path.display());
        if std::fs::symlink_metadata(&path).is_ok() {
            let error = anyhow!("{} exists; name another undo file (-o)", path.display());
            return Err(Failure { exit: Exit::Usage, error });
        }
        let folder = folder(&path);
        let partial = tempfile::Builder::new()
            .prefix(".flashscope-")
            .suffix(".partial")
            .tempfile_in(&folder)
            .or_exit(Exit::Usage, cannot)?;
        Ok(Self { path, partial: Some(BufWriter::new(partial)) })
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn partial(&mut self) -> io::Result<&mut BufWriter<NamedTempFile>> {
        self.partial.as_mut().ok_or_else(|| io::Error::other("it is complete already"))
    }
}

impl Write for UndoFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.partial()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.partial()?.flush()
    }
}

impl UndoSink for UndoFile {
    /// Fails also if a file of this name exists meanwhile.
    fn make_durable(&mut self) -> io::Result<()> {
        let Some(partial) = self.partial.take() else { return Ok(()) };
        let partial = partial.into_inner().map_err(io::IntoInnerError::into_error)?;
        partial.as_file().sync_all()?;
        partial.persist_noclobber(&self.path).map_err(|error| error.error)?;
        // The name itself is durable once its directory is.
        File::open(folder(&self.path))?.sync_all()
    }
}

fn folder(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new(".")).to_path_buf()
}

/// E.g. `flashscope-sdb-20261128T074401Z.undo`.
fn default_path(target: &str) -> PathBuf {
    let now: String = crate::wall_clock::now().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    format!("flashscope-{}-{now}.undo", file_stem(target)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_file_replaces_no_file_that_appeared_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stick.undo");
        let mut undo = UndoFile::create(Some(&path), "/dev/sdb").unwrap();
        undo.write_all(b"new").unwrap();
        std::fs::write(&path, "of another apply").unwrap();
        assert!(undo.make_durable().is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "of another apply");
        assert!(UndoFile::create(Some(&path), "/dev/sdb").is_err());
    }
}
