//! The number of erase blocks that a controller keeps open, from round-robin writes into them. The measuring
//! search and the inference weigh every write by the same model. See docs/statistics.md.

pub mod choice;
pub mod collection;
pub mod evidence;
pub mod fat_area;
pub mod first_blocks;
pub mod ftl_class;
pub mod hypothesis;
pub mod laws;
mod limits;
pub mod merge;
pub mod open_units;
mod openings;
pub mod posterior;
pub mod prior;
pub mod random_eviction;
pub mod recent;
mod search;
pub mod spread;
