//! What is said beside a prediction.

use flashscope_record::run_file::RunFile;
use flashscope_report::counted;

/// A warning about a run in which requests failed.
pub fn failing(run: &RunFile) -> Option<String> {
    (run.failed_requests > 0).then(|| {
        format!(
            "warning: {} failed in the run: the stick or its contacts may be failing. Save its data; no layout mends that",
            counted(run.failed_requests, "request")
        )
    })
}
