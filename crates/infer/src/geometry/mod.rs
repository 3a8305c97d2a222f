//! Pages and erase blocks, by reads across boundaries and by writes on both sides of them.

pub mod align;
pub mod block_end_posterior;
pub mod block_ends;
pub mod boundary;
pub mod boundary_signal;
pub mod first_reads;
pub mod page;
pub mod page_posterior;
pub mod read_times;
pub mod staircase;
