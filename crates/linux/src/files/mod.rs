//! Measurements in a directory: sets of files, timed until they are durable and read back uncached; a
//! temporary file as a device; and all free space as one.

mod backing_filesystem;
mod bench_directory;
mod bench_files;
mod error;
mod free_space;
mod page_cache;
mod scan;
mod temporary_directory;
mod temporary_file;

pub use backing_filesystem::{BackingFilesystem, NonStickStorage, Rewriting};
pub use bench_directory::BenchDirectory;
pub use bench_files::BenchFiles;
pub use error::FilesError;
pub use free_space::FreeSpace;
pub(crate) use page_cache::drop_caches;
pub use page_cache::drop_from_page_cache;
pub use scan::{DirectoryScan, scan_directory};
pub use temporary_file::FileSize;
pub(crate) use temporary_file::{reopen, unnamed_file};
