//! Variants: sticks with one law that the inference does not contain. One file a law.
//!
//! A variant is a stick of the zoo, without caches, write history and drift. Its law changes the translation
//! layer, or adds a delay to its requests. The truth about the stick stays, except what the law makes
//! undefined.

mod ageing_reads;
mod base;
mod cached_map;
mod clock;
mod delayed;
mod fifo;
mod law;
mod merges;
mod parts;
mod pools;
mod registry;
mod shared_logs;
mod slc_region;
mod sliced_merges;
mod stick;
mod wear_levelling;
mod zones;

pub use law::Law;
pub(crate) use registry::sample;
pub(crate) use stick::Variant;
