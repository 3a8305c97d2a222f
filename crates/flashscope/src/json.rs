//! The documents of `--json`. Every one begins with `format` and `flashscope`.

mod disk;

pub use disk::{disk, idle};

use flashscope_probe::run_file::FORMAT;
use flashscope_probe::{Finding, RunFile};
use flashscope_report::{Report, advice};
use serde_json::{Value, json};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A document with these fields behind the common ones.
pub fn document(fields: Value) -> Value {
    let mut document = json!({ "format": FORMAT, "flashscope": VERSION });
    if let (Value::Object(document), Value::Object(fields)) = (&mut document, fields) {
        document.extend(fields);
    }
    document
}

/// The document of a check, a measurement or an import.
pub fn findings(run: &RunFile, findings: &[Finding], identity: &Value) -> Value {
    let report = Report { run, findings };
    let ended: Vec<&_> = run.observations.iter().map(|seen| &seen.ended).collect();
    document(json!({
        "target": run.target,
        "identity": identity,
        "measured_at": run.measured_at,
        "findings": findings,
        "bottleneck": {
            "status": "unknown",
            "reason": "the link and the filesystem are not measured; the findings speak of the flash alone",
        },
        "advice": advice(&report),
        "cost": {
            "reads": run.cost.reads,
            "writes": run.cost.writes,
            "bytes_read": run.cost.bytes_read,
            "bytes_written": run.cost.bytes_written,
            "device_seconds": run.cost.device_time.as_secs_f64(),
        },
        "ended": ended,
        "remarks": run.remarks,
    }))
}
