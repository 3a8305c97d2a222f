//! The device contract: one test binary, one module a subject.

mod faults;
mod journal;
mod layers;
mod trace;
