//! From TARGET on the command line to a device that can be measured.

mod attachment;
mod base;
mod describe;
mod directory;
mod file_on_device;
mod link;
mod open;
mod opened;
mod virtual_name;
mod volumes;

pub use attachment::slow_cause;
pub use base::{Base, Kept};
pub use directory::{failure as directory_failure, instead, open_in_directory, unreadable_remark};
pub use file_on_device::{FileOnDevice, file_size_on_device, open_file_on_device};
pub use link::{Plugged, link, memory, plugged};
pub use open::{file, open, open_for_full_test, open_queued, open_to_restore};
pub use opened::{Measured, Target, layered};
pub use virtual_name::virtual_stick;
pub use volumes::{of_partition as volume_of_partition, read as read_volumes};
