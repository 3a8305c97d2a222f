//! What writes into erase blocks in turn say about how many of them a controller keeps open: the measuring search and the
//! inference weigh every write by this same model. See docs/statistics.md.

mod any_place;
mod block_ends;
mod evidence;
mod fat_trial;
mod laws;
mod page;
mod posterior;
mod slowness;

pub use block_ends::{BlockBelief, TAKEN, is_full as places_are_taken, slowness as block_slowness};
pub use evidence::{is_one_run, is_slow_over_data, of, out_of_order, over_data, unmerged};
pub use fat_trial::FatTrial;
pub use laws::Law;
pub use page::{Missing, PageBelief};
pub use posterior::{Belief, OPEN_MAX, Prior};
pub use slowness::Slowness;
