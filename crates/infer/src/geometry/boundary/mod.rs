//! What reads across boundaries say about page and erase block: the measuring search and the inference weigh every read by
//! this same model. See docs/methods/align.md.

pub mod choice;
pub mod figure;
pub mod levels;
pub mod limits;
pub mod posterior;

pub use choice::{at_block_and_beside, hiding, is_decided, telling, tells_a_usual_block};
pub use figure::Figures;
pub use posterior::explain;
