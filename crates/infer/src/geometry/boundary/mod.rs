//! Page and erase block by reads across boundaries. The measuring search and the inference use the same
//! model. See docs/methods/align.md.

pub mod choice;
pub mod figure;
pub mod levels;
pub mod limits;
pub mod posterior;

pub use choice::{at_block_and_beside, has_common_block, hiding, informative, is_decided};
pub use figure::Figures;
pub use posterior::explain;
