//! What was served and how punctually, in words and as JSON.

use std::time::Duration;

use flashscope_device::layer::FaultEvent;
use flashscope_linux::serve::{Lateness, ServeStatistics};
use serde_json::{Value, json};

/// The account as JSON.
pub fn json(served: &ServeStatistics) -> Value {
    let microseconds = |duration: Duration| duration.as_secs_f64() * 1e6;
    json!({
        "reads": served.reads,
        "writes": served.writes,
        "flushes": served.flushes,
        "discards": served.discards,
        "bytes_read": served.bytes_read,
        "bytes_written": served.bytes_written,
        "failed": served.failed,
        "completion_error": served.error.map(|error| json!({
            "median_us": microseconds(error.median),
            "percentile_99_us": microseconds(error.percentile_99),
            "max_us": microseconds(error.max),
            "late": error.late,
        })),
    })
}

/// What a fault cost, as JSON.
pub fn fault(event: &FaultEvent) -> Value {
    json!({
        "at_s": Duration::from_nanos(event.at.as_nanos()).as_secs_f64(),
        "is_gone": event.is_gone,
        "lost_writes": event.lost.requests,
        "lost_bytes": event.lost.bytes,
        "lost_ranges": event.lost.ranges,
        "unanswered": event.lost.unanswered,
    })
}

/// The account as lines of text.
pub fn words(served: &ServeStatistics) -> Vec<String> {
    let mut lines = vec![format!(
        "served {} reads ({}), {} writes ({}), {} flushes, {} discards; {} failed",
        served.reads,
        served.bytes_read,
        served.writes,
        served.bytes_written,
        served.flushes,
        served.discards,
        served.failed
    )];
    lines.extend(served.error.map(|Lateness { median, percentile_99, max, late }| {
        format!(
            "answers came {median:.0?} (median), {percentile_99:.0?} (99th percentile) and at most {max:.0?} after \
             their instant; {late} were late because this machine took longer than the stick"
        )
    }));
    lines
}
