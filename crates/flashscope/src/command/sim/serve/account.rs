//! What was served and how late completions were.

use flashscope_linux::serve::{Lateness, ServeStatistics};

/// The account as text.
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
            "completions were {median:.0?} (median), {percentile_99:.0?} (99th percentile) and at most {max:.0?} late; {late} because \
             this machine took longer than the stick"
        )
    }));
    lines
}
