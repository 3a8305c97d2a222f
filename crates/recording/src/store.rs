//! The recordings of the program, or of a folder.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flashscope_device::trace::TraceRecord;
use flashscope_device::{Bytes, Checksum};

use crate::error::RecordingError;
use crate::index::{Index, Recording};
use crate::requests::decode;

/// The index of the program's own recordings.
const INDEX: &str = include_str!("../../../testdata/traces/recordings.toml");
/// The files of the program's own recordings, with their names.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
/// The name of the index in a folder.
const INDEX_NAME: &str = "recordings.toml";
/// The largest index. Policy: that of the program has less than 1 MiB.
const INDEX_BYTES_MAX: Bytes = Bytes::mib(16);

/// The recordings, and where their files are.
#[derive(Debug)]
pub struct Recordings {
    list: Vec<Recording>,
    folder: Option<PathBuf>,
}

impl Recordings {
    /// Those of the program.
    ///
    /// # Errors
    /// [`RecordingError`] if their index is wrong.
    pub fn embedded() -> Result<Self, RecordingError> {
        Ok(Self { list: Index::parse(INDEX)?.recording, folder: None })
    }

    /// Those of a folder with an index.
    ///
    /// # Errors
    /// [`RecordingError`] without an index, or with a wrong one.
    pub fn in_folder(folder: &Path) -> Result<Self, RecordingError> {
        let path = folder.join(INDEX_NAME);
        let opened = File::open(&path).and_then(text);
        let text = opened.map_err(|source| RecordingError::NoIndex { path, source })?;
        if text.len() > INDEX_BYTES_MAX.to_usize() {
            return Err(RecordingError::LargeIndex { most: INDEX_BYTES_MAX });
        }
        Ok(Self { list: Index::parse(&text)?.recording, folder: Some(folder.to_owned()) })
    }

    /// All of them, in the order of the index.
    #[must_use]
    pub fn list(&self) -> &[Recording] {
        &self.list
    }

    /// The requests of one of them, in order of submission.
    ///
    /// # Errors
    /// [`RecordingError`] if its file is missing, or not what the index says.
    pub fn requests(&self, recording: &Recording) -> Result<Vec<TraceRecord>, RecordingError> {
        let missing = |source| RecordingError::Missing { file: recording.file.clone(), source };
        match &self.folder {
            None => {
                let embedded = FILES.iter().find(|(name, _)| *name == recording.file);
                let (_, bytes) = embedded.ok_or_else(|| missing(std::io::ErrorKind::NotFound.into()))?;
                checked(recording, bytes)
            }
            Some(folder) => {
                let mut bytes = Vec::new();
                let most = recording.size.get().saturating_add(1);
                let opened = File::open(folder.join(&recording.file));
                opened.and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(missing)?;
                checked(recording, &bytes)
            }
        }
    }
}

/// The text of an index, at most one byte more than the largest.
fn text(file: File) -> std::io::Result<String> {
    let mut text = String::new();
    file.take(INDEX_BYTES_MAX.get() + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// The requests in a file that is the one of the index.
fn checked(recording: &Recording, bytes: &[u8]) -> Result<Vec<TraceRecord>, RecordingError> {
    let file = || recording.file.clone();
    let found = Bytes::new(bytes.len() as u64);
    if found != recording.size {
        return Err(RecordingError::Size { file: file(), size: recording.size, found });
    }
    let found = format!("{:016x}", Checksum::of(bytes));
    if !found.eq_ignore_ascii_case(&recording.checksum) {
        return Err(RecordingError::Checksum { file: file(), checksum: recording.checksum.clone(), found });
    }
    decode(recording, bytes)
}
