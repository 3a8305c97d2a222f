//! The experiments, one file each, and the table of all of them.

mod align;
mod block_ends;
mod block_pool;
mod discard;
mod erase_blocks;
mod fat_area;
mod free_offsets;
mod gapless_writer;
mod open_units;
mod page_edges;
mod registration;
mod samples;
mod speed;
mod stratified;
mod sustained;
mod write_buffer;
mod write_size;

pub use self::align::Align;
pub use self::block_ends::BlockEnds;
pub use self::discard::Discard;
pub use self::fat_area::FatArea;
pub use self::open_units::{OpenUnits, UNITS_MAX};
pub use self::registration::{ASSUMED_ERASE_BLOCK, Access, Registration, Request, RequestOption};
pub use self::samples::Samples;
pub use self::speed::Speed;
pub use self::sustained::Sustained;
pub use self::write_buffer::WriteBuffer;
pub use self::write_size::WriteSize;

/// All experiments that can be run alone.
pub const EXPERIMENTS: &[&Registration] = &[
    &align::REGISTRATION,
    &open_units::REGISTRATION,
    &write_size::REGISTRATION,
    &block_ends::REGISTRATION,
    &fat_area::REGISTRATION,
    &sustained::REGISTRATION,
    &write_buffer::REGISTRATION,
    &discard::REGISTRATION,
];
