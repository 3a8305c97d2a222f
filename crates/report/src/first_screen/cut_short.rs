//! What ended a run before its last experiment: a budget, the person, or the device.

use flashscope_record::observation::{Cause, Ended};
use flashscope_record::run_file::RunFile;

/// What ended a run early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutShort {
    /// A budget.
    Budget,
    /// The person.
    Interrupt,
    /// The device is gone.
    Device,
}

/// What ended the run early, if anything did.
pub fn cut_short(run: &RunFile) -> Option<CutShort> {
    let ended_by = |wanted: Cause| {
        run.observations
            .iter()
            .any(|seen| matches!(&seen.ended, Ended::Early { cause, .. } if *cause == wanted))
    };
    if ended_by(Cause::Interrupt) {
        return Some(CutShort::Interrupt);
    }
    if ended_by(Cause::Device) {
        return Some(CutShort::Device);
    }
    ended_by(Cause::Budget).then_some(CutShort::Budget)
}
