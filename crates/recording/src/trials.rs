//! A chosen pair of recordings as trials on one device.

use flashscope_device::{Bytes, Device, DeviceError, Pattern, RequestError};
use flashscope_record::{Trial, TrialOperation};

use crate::choice::Choice;
use crate::error::RecordingError;
use crate::index::Recording;
use crate::replay::{Replayed, replay};
use crate::store::Recordings;

/// Where and how requests are sent.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The first byte of the filesystem on the device.
    pub start: Bytes,
    /// The queue depth of the link: 1 without a queue.
    pub queue_depth: u32,
    /// What is written.
    pub pattern: Pattern,
}

/// One trial, or why there is none.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The trial.
    pub trial: Result<Trial, Failure>,
    /// The requests that completed.
    pub requests: u64,
}

/// A trial that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What was tried; its time is that until the failure.
    pub tried: Trial,
    /// The reason.
    pub reason: FailureReason,
}

/// Why a trial failed.
#[derive(Debug, Clone, PartialEq)]
pub enum FailureReason {
    /// Some requests failed, so a kernel would have stopped.
    Requests {
        /// The number that failed.
        failed: u64,
        /// Of this number.
        requests: u64,
        /// The first failure.
        first: Option<RequestError>,
    },
    /// The device failed.
    Device {
        /// The requests that completed before.
        after: u64,
        /// Of this number.
        requests: u64,
        /// The error.
        error: DeviceError,
    },
}

/// Replays the write and then the read of `choice` on `device`, which must be in the state that a trial
/// starts from. After a failure nothing further is tried.
///
/// # Errors
/// [`RecordingError`] if a file is not what the index says.
pub fn try_out(
    recordings: &Recordings,
    choice: &Choice<'_>,
    device: &mut impl Device,
    place: Place,
) -> Result<Vec<Attempt>, RecordingError> {
    let mut attempts = Vec::new();
    for recording in [Some(choice.write), choice.read].into_iter().flatten() {
        let records = recordings.requests(recording)?;
        let replayed = replay(&records, place.start, device, place.queue_depth, place.pattern);
        let attempt = attempt(recording, place.start, records.len() as u64, replayed);
        let has_failed = attempt.trial.is_err();
        attempts.push(attempt);
        if has_failed {
            break;
        }
    }
    Ok(attempts)
}

fn attempt(recording: &Recording, start: Bytes, total: u64, replayed: Replayed) -> Attempt {
    let trial = Trial {
        variant: recording.variant.clone(),
        workload: recording.workload,
        operation: recording.operation,
        start,
        round: recording.round,
        writeback: recording.writeback,
        seconds: replayed.time.as_secs_f64(),
    };
    let Replayed { requests, failed, first_failure, ended, .. } = replayed;
    let reason = match ended {
        Some(error) => Some(FailureReason::Device { after: requests, requests: total, error }),
        None if failed > 0 => Some(FailureReason::Requests { failed, requests: total, first: first_failure }),
        None => None,
    };
    let trial = match reason {
        Some(reason) => Err(Failure { tried: trial, reason }),
        None => Ok(Trial { seconds: trial.seconds.max(recording.kernel_seconds()), ..trial }),
    };
    Attempt { trial, requests }
}

impl Failure {
    /// Whether the user interrupted the replay.
    #[must_use]
    pub const fn is_interrupt(&self) -> bool {
        matches!(self.reason, FailureReason::Device { error: DeviceError::Interrupted, .. })
    }

    /// The direction of the trial.
    #[must_use]
    pub const fn operation(&self) -> TrialOperation {
        self.tried.operation
    }
}
