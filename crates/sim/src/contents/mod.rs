//! The true contents: what was written is what is read.
//!
//! Each sector is one word: blank, a reference to the data pattern, or a place in the store of literal bytes. A chunk of
//! 64 KiB that is uniform takes one word, and so does each page of 4 KiB in one that is not; only pages whose sectors differ
//! take a word for each. Regions that were never written take none. So a stick filled with the pattern costs a few bytes per
//! chunk, and no byte of the pattern exists until somebody reads it.

mod map;
mod sector;
mod store;

pub(crate) use map::Contents;
