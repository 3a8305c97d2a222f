//! The warning above everything else: a device that stores less than it announces, that loses data, or on
//! which requests failed.

use flashscope_layout::steps::quoted_path;
use flashscope_record::observation::ReadBack;

use super::sentence::Sentence;
use crate::{Report, capacity, quantity};

/// A false capacity, or the failed requests and what to do at once. Beyond the true size requests may fail
/// as well, so that a false capacity explains both.
pub fn sentence(report: &Report<'_>) -> Option<Sentence> {
    if let Some(alarm) = alarm(report) {
        return Some(alarm);
    }
    let failed = failed_requests(report)?;
    let advice = if report.run.is_erased {
        "Keep no data on it that you have nowhere else"
    } else {
        "Back up its data now"
    };
    let noun = report.noun();
    Some(Sentence::new(format!("{failed}: the {noun} may be failing, or its contacts are bad. {advice}")))
}

/// A false capacity, or lost data.
pub fn alarm(report: &Report<'_>) -> Option<Sentence> {
    let false_capacity = report.run.false_capacity().map(capacity::headline);
    false_capacity.or_else(|| lost_data(report)).map(Sentence::new)
}

/// Data that did not read back as the tests wrote it.
fn lost_data(report: &Report<'_>) -> Option<String> {
    let ReadBack { places, lost } = report.run.read_back();
    let all = quantity::counted(places.into(), "place");
    let is_of_log = crate::published_speeds::rows(report.run).next().is_some();
    report.run.loses_data().then(|| {
        format!(
            "LOST DATA: {} of {all} returned other data than was written. It is a counterfeit or it is failing: store nothing on \
             it. To tell which: flashscope verify {}",
            quantity::integer(lost.into()),
            if is_of_log { "/dev/sdX".to_owned() } else { quoted_path(&report.run.target) }
        )
    })
}

/// `3 of 5,000 requests failed`, if any did.
pub fn failed_requests(report: &Report<'_>) -> Option<String> {
    let (failed, all) = (report.run.failed_requests, report.run.requests());
    let of = if failed <= all { format!(" of {}", quantity::integer(all)) } else { String::new() };
    (failed > 0).then(|| format!("{}{of} requests failed", quantity::integer(failed)))
}
