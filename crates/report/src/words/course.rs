//! The course of a long stream of writes in sentences: what lasts, where its speed changes, what stalls it, what a pause gives
//! back.

use flashscope_device::Bytes;
use flashscope_infer::streams::changes::Change;
use flashscope_infer::streams::stalls::Stalls;
use flashscope_infer::streams::sustained::so_far;
use flashscope_infer::streams::throughput_profile::{Recovered, ThroughputProfile, throughput_profile};
use flashscope_record::finding::{Finding, FindingId, Value};
use flashscope_record::observation::{Data, SustainedData};

use super::hedge::interval;
use super::reason::reason;
use super::sentence::Sentence;
use crate::speeds::about;
use crate::{Report, quantity};

/// A change this near to the end of a cache is that.
const NEAR: f64 = 0.1;

/// The last long stream of a report.
#[must_use]
pub fn stream<'a>(report: &Report<'a>) -> Option<&'a SustainedData> {
    report.run.observations.iter().rev().find_map(|seen| match &seen.data {
        Data::Sustained(data) if !data.pieces.is_empty() => Some(data),
        _ => None,
    })
}

/// What to remember: the speed that lasts, and what goes faster before; or, where that is not known, the speed so far.
pub fn headline(report: &Report<'_>) -> Option<String> {
    lasting(report).or_else(|| so_far_only(report))
}

fn lasting(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::SustainedWriteBytesPerS)?;
    let Some(Value::BytesPerSecond(rate)) = finding.value() else { return None };
    let between = interval(finding).map(|interval| format!(" ({interval})")).unwrap_or_default();
    let cache = report.size(FindingId::SlcCacheBytes);
    let before = cache.map_or_else(String::new, |cache| format!("; the first {cache} go faster"));
    Some(format!("writes {} in the long run{between}{before}", quantity::speed(rate)))
}

/// The speed of a stream so far, where it does not tell the one that lasts.
fn so_far_only(report: &Report<'_>) -> Option<String> {
    let seen = so_far(stream(report)?)?;
    let [low, high] = [seen.bytes_per_s_low, seen.bytes_per_s_high].map(quantity::speed);
    let rate = quantity::speed(seen.bytes_per_s);
    Some(format!("writes {rate} over {} (between {low} and {high})", seen.bytes))
}

/// Why a stream does not tell the speed that lasts, if it does not. That it ended early is said elsewhere.
pub fn unknown(report: &Report<'_>) -> Option<String> {
    stream(report)?;
    let of_speed = |finding: &&Finding| finding.id == FindingId::SustainedWriteBytesPerS;
    let why = report.findings.iter().find(of_speed)?.reason()?;
    Some(reason(why.apart_from_early_end()))
}

/// What the stream did, a sentence each.
pub fn sentences(report: &Report<'_>) -> Vec<Sentence> {
    let Some(data) = stream(report) else { return Vec::new() };
    let ThroughputProfile { changes, stalls, recovered } = throughput_profile(data);
    let changes = changes.iter().map(|change| told(report, change));
    let stalls = stalls.iter().map(stalled);
    let recovered = recovered.iter().map(gave_back);
    changes.chain(stalls).chain(recovered).map(Sentence::new).collect()
}

/// What a change is called in a chart: the cause where a finding tells it.
pub fn name(report: &Report<'_>, change: &Change) -> String {
    if change.behind_bytes_per_s > change.before_bytes_per_s {
        return "faster again".to_owned();
    }
    let capacity = capacity(report).unwrap_or(Bytes::new(u64::MAX));
    let is_near = |place: Bytes| (change.written.as_f64() / place.as_f64() - 1.0).abs() <= NEAR;
    match report.size(FindingId::SlcCacheBytes) {
        Some(cache) if is_near(cache) => format!("SLC cache of {cache} spent"),
        _ if change.written.as_f64() >= capacity.as_f64() * (1.0 - NEAR) => "all written once".to_owned(),
        _ => "sag".to_owned(),
    }
}

fn capacity(report: &Report<'_>) -> Option<Bytes> {
    report.run.observations.iter().rev().find_map(|seen| match seen.data {
        Data::Sustained(_) => seen.conditions.capacity,
        _ => None,
    })
}

fn told(report: &Report<'_>, change: &Change) -> String {
    format!(
        "after {} written the speed goes from {} to {} ({})",
        about(change.written),
        quantity::speed(change.before_bytes_per_s),
        quantity::speed(change.behind_bytes_per_s),
        name(report, change)
    )
}

fn stalled(stalls: &Stalls) -> String {
    format!(
        "every {} written ({} to {}) writing stalls for {}, at most {}: {:.0} % of all the time ({} seen)",
        about(stalls.period),
        about(stalls.period_low),
        about(stalls.period_high),
        quantity::seconds(stalls.seconds),
        quantity::seconds(stalls.seconds_max),
        stalls.share * 100.0,
        stalls.seen
    )
}

fn gave_back(recovered: &Recovered) -> String {
    let pause = quantity::seconds(recovered.pause.as_secs_f64());
    match (recovered.bytes, recovered.is_at_least) {
        (Bytes::ZERO, _) => format!("a pause of {pause} gives nothing back"),
        (bytes, true) => format!("behind a pause of {pause} at least {} go fast again", about(bytes)),
        (bytes, false) => format!("behind a pause of {pause} {} go fast again", about(bytes)),
    }
}
