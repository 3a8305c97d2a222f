//! The virtual stick: one test binary, one module a subject.

mod controller;
mod counterfeits;
mod link;
mod model;
mod oracle;
mod policies;
mod profiles;
mod reported;
