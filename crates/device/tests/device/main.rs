//! The device contract: one test binary, one module a subject.

mod faults;
mod layers;
mod trace;
