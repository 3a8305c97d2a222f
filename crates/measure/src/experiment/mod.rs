//! The experiments, one file each.

mod align;
mod block_ends;
mod dealt;
mod fat_area;
mod open_units;
mod page_edges;
mod places;
mod pool;
mod samples;
mod speed;
mod stream;
mod sustained;
mod units;
mod write_buffer;
mod write_size;

pub use self::align::Align;
pub use self::block_ends::BlockEnds;
pub use self::fat_area::FatArea;
pub use self::open_units::{OpenUnits, UNITS_MAX};
pub use self::samples::Samples;
pub use self::speed::Speed;
pub use self::sustained::Sustained;
pub use self::write_buffer::WriteBuffer;
pub use self::write_size::WriteSize;
