//! What the writes of the search for open units say: the kind of translation layer, and how many blocks fit
//! in each order.

mod classification;
mod drift;
mod fits;
mod kind;
mod model_error;
mod repeats;
mod weighed;
mod writes;

pub use self::kind::{Collection, LayerKind};
pub use self::model_error::SHORTER_THAN_ERASING;
pub use self::weighed::{Search, Undecidable};
