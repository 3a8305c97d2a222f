//! Many small files and one large file in a folder of our own, timed until the data is there, and read back cold.

mod cold;
mod error;
mod folder;
mod ground;
mod part;
mod place;
mod traffic;
mod walk;

pub use cold::Cold;
pub use error::FilesError;
pub use ground::{Ground, NoStick};
pub use part::{FlushWhen, Part};
pub use place::FilesPlace;
pub use traffic::Requests;
pub use walk::{Walked, walk};
