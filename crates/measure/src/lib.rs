//! The code that touches a device: experiments, workloads, and the survey that runs the experiments one after
//! another.
//!
//! An experiment returns observations and infers nothing. Adaptive experiments ask `infer` which request to
//! make next.

#![deny(missing_docs)]

pub mod capacity;
pub mod class_tests;
pub mod contract;
pub mod experiment;
mod file_place;
pub mod forecast;
mod limits;
mod session;
pub mod survey;
pub mod workload;

pub use contract::{Estimate, Event, Expected, Experiment, Extent, Observer, Silent};
pub use file_place::{FileWindow, choose_window};
pub use forecast::{Forecast, Stage};
