//! The documents of `--json`. Every one begins with `format` and `flashscope`.

use flashscope_linux::Disk;
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

/// A disk of this machine.
pub fn disk(disk: &Disk) -> Value {
    json!({
        "path": disk.path,
        "capacity_bytes": disk.capacity,
        "vendor": disk.vendor,
        "model": disk.model,
        "serial": disk.serial,
        "removable": disk.is_removable,
        "read_only": disk.is_read_only,
        "bus": disk.bus.as_str(),
        "usb": disk.usb.as_ref().map(|usb| json!({
            "vendor_id": format!("{:04x}", usb.vendor_id),
            "product_id": format!("{:04x}", usb.product_id),
            "link_mbit_per_s": usb.link_mbit_per_s,
            "version": usb.version,
            "driver": usb.driver,
        })),
        "card": disk.card.as_ref().map(|card| json!({
            "kind": card.kind,
            "manufacturer_id": card.manufacturer_id,
            "date": card.date,
            "preferred_erase_bytes": card.preferred_erase,
        })),
        "mounts": disk.mounts.iter().map(|mount| &mount.path).collect::<Vec<_>>(),
    })
}
