//! Measuring in a folder: many small files and one large file, timed until the data is there and read back cold; or one file of our
//! own as a device.

mod cold;
mod error;
mod folder;
mod ground;
mod own_file;
mod part;
mod place;
mod traffic;
mod walk;

pub use cold::Cold;
pub use error::FilesError;
pub use ground::{Ground, NoStick};
pub use own_file::FileSize;
pub(crate) use own_file::{again, unnamed_file};
pub use part::{FlushWhen, Part};
pub use place::FilesPlace;
pub use traffic::Requests;
pub use walk::{Walked, walk};
