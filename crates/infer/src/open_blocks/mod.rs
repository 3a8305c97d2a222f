//! The number of erase blocks that a controller keeps open, from round-robin writes into them. Search and
//! inference weigh every write by the same model; see docs/methods/open-units.md.

pub mod choice;
mod count_distribution;
pub mod eviction;
pub mod evidence;
pub mod fat_area;
pub mod first_blocks;
pub mod ftl_class;
pub mod garbage_collection;
mod hypothesis;
pub mod limits;
mod lru_eviction;
pub mod merge;
pub mod open_units;
mod openings;
pub mod posterior;
pub mod prior;
mod random_eviction;
mod search;
mod slots;
