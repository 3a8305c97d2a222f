//! Observations, without inference: enough to infer again without the device.

mod data_enum;
mod ended;
mod experiment_data;
mod experiments;
mod observations;
mod read_back;
mod refusal;
mod times;

pub use self::ended::{Cause, Ended, StopReason};
pub use self::experiment_data::{ExperimentData, NamedResult, ResultValue};
pub use self::experiments::*;
pub use self::observations::{Conditions, Observations, Source, is_in_file};
pub use self::read_back::ReadBack;
pub use self::refusal::{Refusal, Room};
pub use self::times::{Order, Times};
