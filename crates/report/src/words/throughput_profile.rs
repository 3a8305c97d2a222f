//! Sentences about a sustained write: its steady-state speed, changes of speed, stalls, and idle recovery.

use flashscope_device::Bytes;
use flashscope_infer::streams::changes::Change;
use flashscope_infer::streams::stalls::Stalls;
use flashscope_infer::streams::sustained::so_far;
use flashscope_infer::streams::throughput_profile::throughput_profile;
use flashscope_infer::streams::throughput_profile::{Recovered, ThroughputProfile};
use flashscope_record::finding::{Finding, FindingId, Value};
use flashscope_record::observation::{Data, SustainedData};

use super::confidence::interval;
use super::reason::reason;
use super::sentence::Sentence;
use crate::speeds::rounded;
use crate::{Report, quantity};

/// A change within this share of the SLC cache's size marks the end of that cache. Guess: 10 %.
const CACHE_END_TOLERANCE: f64 = 0.1;

/// The last sustained write of a report.
#[must_use]
pub fn sustained_write<'a>(report: &Report<'a>) -> Option<&'a SustainedData> {
    report.run.observations.iter().rev().find_map(|observations| match &observations.data {
        Data::Sustained(data) if !data.pieces.is_empty() => Some(data),
        _ => None,
    })
}

/// The steady-state speed and the size of the faster start; where the steady state is unknown, the speed so
/// far.
pub fn headline(report: &Report<'_>) -> Option<String> {
    steady_state(report).or_else(|| speed_so_far(report))
}

fn steady_state(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::SustainedWriteBytesPerS)?;
    let Some(Value::BytesPerSecond(rate)) = finding.value() else { return None };
    let interval = interval(finding).map(|interval| format!(" ({interval})")).unwrap_or_default();
    let cache = report.size(FindingId::SlcCacheBytes);
    let start = cache.map_or_else(String::new, |cache| format!("; the first {cache} are faster"));
    Some(format!("sustained write {}{interval}{start}", quantity::speed(rate)))
}

/// The speed over all that was written, where the steady state is unknown.
fn speed_so_far(report: &Report<'_>) -> Option<String> {
    let speed = so_far(sustained_write(report)?)?;
    let interval = quantity::speed_interval(speed.bytes_per_s_low, speed.bytes_per_s_high);
    let rate = quantity::speed(speed.bytes_per_s);
    Some(format!("sequential write {rate} over {} ({interval})", rounded(speed.bytes)))
}

/// Why the steady-state speed is unknown, if it is. An early end is reported elsewhere.
pub fn unknown_reason(report: &Report<'_>) -> Option<String> {
    sustained_write(report)?;
    let is_sustained = |finding: &&Finding| finding.id == FindingId::SustainedWriteBytesPerS;
    let why = report.findings.iter().find(is_sustained)?.reason()?;
    Some(reason(why.apart_from_early_end()))
}

/// One sentence for each change of speed, for the stalls, and for each idle pause.
pub fn sentences(report: &Report<'_>) -> Vec<Sentence> {
    let Some(data) = sustained_write(report) else { return Vec::new() };
    let ThroughputProfile { changes, stalls, recovered } = throughput_profile(data);
    let changes = changes.iter().map(|change| change_text(report, change));
    let stalls = stalls.iter().map(stalls_text);
    let recovered = recovered.iter().map(recovery_text);
    changes.chain(stalls).chain(recovered).map(Sentence::new).collect()
}

/// The cause of a change of speed where a finding gives one, otherwise its direction.
pub fn change_name(report: &Report<'_>, change: &Change) -> String {
    if change.after_bytes_per_s > change.before_bytes_per_s {
        return "speed recovers".to_owned();
    }
    let capacity = capacity(report).unwrap_or(Bytes::new(u64::MAX));
    let is_near = |size: Bytes| (change.written.as_f64() / size.as_f64() - 1.0).abs() <= CACHE_END_TOLERANCE;
    match report.size(FindingId::SlcCacheBytes) {
        Some(cache) if is_near(cache) => format!("SLC cache of {cache} exhausted"),
        _ if change.written.as_f64() >= capacity.as_f64() * (1.0 - CACHE_END_TOLERANCE) => {
            "device written once".to_owned()
        }
        _ => "slowdown".to_owned(),
    }
}

fn capacity(report: &Report<'_>) -> Option<Bytes> {
    report.run.observations.iter().rev().find_map(|observations| match observations.data {
        Data::Sustained(_) => observations.conditions.capacity,
        _ => None,
    })
}

fn change_text(report: &Report<'_>, change: &Change) -> String {
    let verb = if change.after_bytes_per_s > change.before_bytes_per_s { "rises" } else { "falls" };
    format!(
        "write speed {verb} from {} to {} after {} ({})",
        quantity::speed(change.before_bytes_per_s),
        quantity::speed(change.after_bytes_per_s),
        rounded(change.written),
        change_name(report, change)
    )
}

fn stalls_text(stalls: &Stalls) -> String {
    format!(
        "writes stall for {} (longest {}) every {} ({}): {:.0} % of the time, {}",
        quantity::seconds(stalls.seconds),
        quantity::seconds(stalls.seconds_max),
        rounded(stalls.period),
        quantity::range(&rounded(stalls.period_low).to_string(), &rounded(stalls.period_high).to_string()),
        stalls.share * 100.0,
        quantity::counted(stalls.seen as u64, "stall")
    )
}

fn recovery_text(recovered: &Recovered) -> String {
    let idle = format!("{} s", recovered.pause.as_secs());
    match (recovered.bytes, recovered.is_at_least) {
        (Bytes::ZERO, _) => format!("after {idle} idle, writes are no faster"),
        (bytes, true) => format!("after {idle} idle, at least {} of cache are free again", rounded(bytes)),
        (bytes, false) => format!("after {idle} idle, {} of cache are free again", rounded(bytes)),
    }
}
