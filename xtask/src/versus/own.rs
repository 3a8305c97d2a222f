//! Permission to erase what a comparison writes to: its own image file or RAM disk, or the disk of `--erase`.

use std::path::Path;

use flashscope_device::Consent;
use flashscope_linux::{Roots, erasable};

/// Permission to erase what a comparison writes to.
#[derive(Debug)]
pub struct Own {
    target: String,
    medium: Option<String>,
}

impl Own {
    /// The file or disk at this path.
    pub fn at(path: &Path) -> Self {
        let disk = erasable(path, &Roots::default()).ok().flatten();
        Self { target: path.to_string_lossy().into_owned(), medium: disk.map(|disk| disk.medium) }
    }
}

impl Consent for Own {
    fn target(&self) -> &str {
        &self.target
    }

    fn medium(&self) -> Option<&str> {
        self.medium.as_deref()
    }
}
