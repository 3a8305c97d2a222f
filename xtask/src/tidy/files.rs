//! The files of the repository, as git knows them.

use std::path::Path;
use std::process::Command;

use crate::{process, repository};

/// A file.
#[derive(Debug)]
pub struct File {
    /// Its path from the repository's root, with `/`.
    pub path: String,
    /// Its text; empty if it is none, such as a picture.
    pub text: String,
}

impl File {
    /// Its lines with their numbers, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }

    /// Whether it is Rust.
    pub fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    /// Whether its name ends so.
    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|end| end == extension)
    }
}

/// Every file of the repository.
#[derive(Debug)]
pub struct Files(pub Vec<File>);

impl Files {
    /// Those that git tracks, or would if they were added.
    pub fn of_repository() -> anyhow::Result<Self> {
        let mut git = Command::new("git");
        git.current_dir(repository()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
        let paths = process::output(&mut git)?;
        let read = |path: &str| {
            let bytes = std::fs::read(repository().join(path)).ok()?;
            Some(File { path: path.to_owned(), text: String::from_utf8(bytes).unwrap_or_default() })
        };
        Ok(Self(paths.lines().filter_map(read).collect()))
    }

    /// Those that are Rust.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.0.iter().filter(|file| file.is_rust())
    }

    /// Whether there is a file or a folder of this path.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.0.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }

    /// The text of a file; empty if there is none.
    pub fn text(&self, path: &str) -> &str {
        self.0.iter().find(|file| file.path == path).map_or("", |file| &file.text)
    }
}
