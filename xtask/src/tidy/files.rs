//! The files of the repository, as git lists them.

use std::path::Path;
use std::process::Command;

use super::lexer::{self, Segment};
use crate::process::{self, repository};

/// A file.
#[derive(Debug)]
pub struct File {
    /// Its path from the repository's root, with `/`.
    pub path: String,
    /// Its text; empty for a binary file.
    pub text: String,
    /// Code, comments and strings of a Rust file; empty for other files.
    pub segments: Vec<Segment>,
}

impl File {
    pub fn new(path: &str, text: &str) -> Self {
        let is_rust = path.ends_with(".rs");
        let segments = if is_rust { lexer::segments(text) } else { Vec::new() };
        Self { path: path.to_owned(), text: text.to_owned(), segments }
    }

    /// The lines with their numbers, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Whether it is Rust source.
    pub fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    /// Whether its name has this extension.
    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|end| end == extension)
    }

    /// Whether it holds only tests, benchmarks or examples.
    pub fn is_test(&self) -> bool {
        let folders = ["/tests/", "/benches/", "/examples/"];
        folders.iter().any(|folder| self.path.contains(folder)) || self.path.ends_with("/tests.rs")
    }

    /// Whether it is not test data.
    pub fn is_ours(&self) -> bool {
        !self.path.starts_with("testdata/") && !self.path.contains("/testdata/")
    }
}

/// Every file of the repository.
#[derive(Debug)]
pub struct Files(pub Vec<File>);

impl Files {
    /// The files that git tracks, and the new ones it does not ignore.
    pub fn of_repository() -> anyhow::Result<Self> {
        let mut git = Command::new("git");
        git.current_dir(repository()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
        let paths = process::output(&mut git)?;
        let read = |path: &str| {
            let bytes = std::fs::read(repository().join(path)).ok()?;
            Some(File::new(path, &String::from_utf8(bytes).unwrap_or_default()))
        };
        Ok(Self(paths.lines().filter_map(read).collect()))
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.0.iter().filter(|file| file.is_rust())
    }

    /// Whether there is a file or a folder of this path.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.0.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }

    /// The text of a file; empty if the file does not exist.
    pub fn text(&self, path: &str) -> &str {
        self.0.iter().find(|file| file.path == path).map_or("", |file| &file.text)
    }

    /// The folders of the workspace's crates, sorted: `crates/device`, …, `xtask`.
    pub fn crates(&self) -> Vec<&str> {
        let folder = |file: &File| file.path.strip_suffix("/Cargo.toml").map(str::len);
        let mut crates: Vec<&str> =
            self.0.iter().filter_map(|file| Some(&file.path[..folder(file)?])).collect();
        crates.sort_unstable();
        crates
    }

    #[cfg(test)]
    pub fn of<const COUNT: usize>(files: [(&str, &str); COUNT]) -> Self {
        Self(files.iter().map(|(path, text)| File::new(path, text)).collect())
    }
}
