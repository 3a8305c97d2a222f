//! The virtual stick: one test binary, one module a subject.

mod controller;
mod counterfeits;
mod link;
mod model;
mod open_blocks;
mod oracle;
mod policies;
mod profiles;
mod reported;
