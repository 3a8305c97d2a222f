//! The true contents of a stick.
//!
//! Each sector is one word: blank, a reference to the data pattern, or an index into the store of literal
//! bytes. A uniform chunk of 64 KiB takes one word. In other chunks a uniform page of 4 KiB takes one word,
//! and only pages with different sectors take one word a sector. Never-written regions take none. So a stick
//! filled with the pattern costs a few bytes per chunk, and the pattern's bytes are generated only for reads.

mod map;
mod sector;
mod store;

pub(crate) use map::Contents;
