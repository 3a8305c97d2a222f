//! The flash translation layer: a few open erase blocks, and what it costs to close one.
//!
//! After FAST (S.-W. Lee et al., "A log buffer-based flash translation layer using fully-associative sector translation",
//! ACM TECS 6(3), 2007), with logs that belong to one erase block each. An open unit takes data in *runs*: a run continues
//! where it ended. A run from start to end replaces the old block as it stands, for free. A run that is broken
//! or must be closed before that is merged: what it lacks is copied from the old block. Only data that neither continues a run nor
//! begins at the unit's start puts the unit in random mode: such runs go to its log, and a full log is merged with
//! several copies. All costs are closed forms: no page is ever walked over.

mod closing;
mod layer;
mod open_unit;

pub(crate) use layer::Ftl;
