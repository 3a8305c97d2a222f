//! What writes into erase blocks in turn say about how many of them a controller keeps open: the measuring search and the
//! inference weigh every write by this same model. See docs/statistics.md.

mod any_place;
mod block_ends;
mod choice;
mod collection;
mod evidence;
mod first_blocks;
mod hypothesis;
mod laws;
mod page;
mod posterior;
mod prior;
mod recent;
mod slowness;
mod spread;

pub use block_ends::{
    BlockBelief, TAKEN, is_full as places_are_taken, slowness as block_slowness,
    some_merge as some_openings_merge,
};
pub use choice::Step;
pub use collection::{collections, slow_each, unevenness};
pub use evidence::{
    IN_TURN, Part, beyond_stalls, copies_less, given_back, given_back_tells, hardly_copies, is_no_log,
    is_slow_over_data, linear, over_data, parts, random, seems_one_run, shows_one_run, unmerged, wavers,
    with_whole_requests,
};
pub use first_blocks::{FIRST_BLOCKS, FirstBlocks};
pub use laws::Law;
pub use page::{Missing, PageBelief};
pub use posterior::{Belief, OPEN_MAX, Verdict};
pub use prior::Prior;
pub use slowness::Slowness;
