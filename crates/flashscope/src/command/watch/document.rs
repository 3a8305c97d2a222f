//! What disks are doing, as JSON. What is unknown is null.

use flashscope_device::Instant;
use flashscope_infer::activity::{Activity, Stall, Transfers, UnplugEstimate, Writer};
use flashscope_linux::Disk;
use flashscope_record::activity::PendingWrites;
use serde_json::{Value, json};

use super::watched::Watched;
use super::words;
use crate::{json, wall_clock};

/// One document for all disks.
pub fn document(watched: &[Watched]) -> Value {
    let disks = watched.iter().filter_map(|one| Some(disk(&one.disk, one.activity.as_ref()?)));
    json::document(json!({ "at": wall_clock::now(), "disks": disks.collect::<Vec<_>>() }))
}

fn disk(disk: &Disk, activity: &Activity) -> Value {
    let interval = &activity.interval;
    json!({
        "path": disk.path,
        "name": disk.name,
        "mounts": disk.mounts.iter().map(|mount| &mount.path).collect::<Vec<_>>(),
        "interval_seconds": interval.duration.as_secs_f64(),
        "write": moved(&interval.written),
        "read": moved(&interval.read),
        "flushes": interval.flushes,
        "flush_seconds": interval.flush_seconds,
        "queue": interval.queue,
        "busy": interval.busy,
        "in_flight": interval.in_flight[1],
        "merges_suspected": activity.merges_suspected,
        "waiting": pending(activity.pending),
        "safe_to_unplug": unplug(activity.unplug, disk),
        "stalls": activity.stalls.iter().map(stall).collect::<Vec<_>>(),
        "processes": activity.writers.iter().map(writer).collect::<Vec<_>>(),
        "processes_hidden": activity.hidden_processes,
    })
}

fn moved(moved: &Transfers) -> Value {
    json!({
        "bytes": moved.bytes,
        "bytes_per_s": moved.bytes_per_s,
        "requests": moved.requests,
        "requests_per_s": moved.requests_per_s,
        "latency_seconds_mean": moved.latency_seconds,
    })
}

fn pending(pending: PendingWrites) -> Value {
    let (status, writeback) = match pending {
        PendingWrites::Counted { writeback, .. } => ("this disk", Some(writeback)),
        PendingWrites::AtMost(..) => ("at most", None),
        PendingWrites::Unknown => ("unknown", None),
    };
    json!({
        "status": status,
        "bytes": pending.bytes_max(),
        "writeback_bytes": writeback,
        "error_bytes": pending.bytes_max().map(|_| pending.error()),
        "text": words::pending(pending),
    })
}

fn unplug(unplug: UnplugEstimate, disk: &Disk) -> Value {
    let (status, low, high) = match unplug {
        UnplugEstimate::Now => ("nothing waits", Some(0.0), Some(0.0)),
        UnplugEstimate::AlmostNow => ("next to nothing waits", Some(0.0), None),
        UnplugEstimate::In { low, high } => {
            ("later", low.map(|low| low.as_secs_f64()), high.map(|high| high.as_secs_f64()))
        }
        UnplugEstimate::Unknown(_) => ("unknown", None, None),
    };
    json!({
        "status": status,
        "seconds_low": low,
        "seconds_high": high,
        "mounted": !disk.mounts.is_empty(),
        "text": words::unplug(unplug, disk),
    })
}

fn stall(stall: &Stall) -> Value {
    json!({
        "began_at_seconds": stall.started_at.since(Instant::ZERO).as_secs_f64(),
        "seconds": stall.duration.as_secs_f64(),
        "cause": stall.cause.as_str(),
    })
}

fn writer(writer: &Writer) -> Value {
    json!({
        "pid": writer.process.pid,
        "name": writer.process.name,
        "files": writer.process.files,
        "files_to_write": writer.process.files_to_write,
        "bytes_per_s": writer.bytes_per_s,
    })
}
