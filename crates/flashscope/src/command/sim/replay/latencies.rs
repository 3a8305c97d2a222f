//! The latency of every request as CSV.

use std::fmt::Write as _;
use std::path::Path;

use flashscope_device::trace::Played;

use crate::destination::Destination;
use crate::exit::{Exit, Failure, OrExit};

/// Writes one line a request, in order of submission.
///
/// # Errors
/// Exit code 3 if the file cannot be written.
pub fn write(file: &Path, played: &[Played]) -> Result<(), Failure> {
    let mut text =
        "kind,offset_bytes,length_bytes,submitted_ns,recorded_ns,recorded_ok,replayed_ns,replayed_ok\n"
            .to_owned();
    for one in played {
        let record = &one.recorded;
        let _infallible = writeln!(
            text,
            "{},{},{},{},{},{},{},{}",
            record.kind,
            record.range.offset.get(),
            record.range.length.get(),
            record.submitted_at.as_nanos(),
            record.completed_at.since(record.submitted_at).as_nanos(),
            record.succeeded,
            one.latency.as_nanos(),
            one.succeeded
        );
    }
    let cannot = format!("cannot write {}; check the free space and permissions", file.display());
    Destination::of(file)?.write(&text).or_exit(Exit::Failed, cannot)
}
