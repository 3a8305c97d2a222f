//! The document of `bench cache`.

use flashscope_device::Bytes;
use flashscope_report::storage_layers::{LayerComparison, LayerSpeed};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use super::finding::FindingStatus;

/// Read speed of memory, page cache and device side by side.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BenchCacheDocument {
    /// The target as it was typed.
    pub target: String,
    /// The result in one sentence.
    pub verdict: String,
    /// The read speed of the device itself, bytes per second; null if unknown.
    pub device_bytes_per_s: Option<f64>,
    /// The read speed of each layer.
    pub layers: Vec<LayerDocument>,
    /// What is known about the drive's own write cache.
    pub write_cache: String,
    /// The reasons, one sentence each.
    pub why: Vec<String>,
    /// What to know about how the target was opened.
    pub remarks: Vec<String>,
}

/// The read speed of one layer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LayerDocument {
    /// `memory`, `page_cache`, `device`, `device_cache_on` or `device_cache_off`.
    pub layer: &'static str,
    /// Whether it was read.
    pub status: FindingStatus,
    /// The speed, the median of all rounds, bytes per second.
    pub bytes_per_s: Option<f64>,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
    /// How many bytes were read.
    pub bytes: u64,
    /// How many of them came from the device, by the kernel's counters; null if not counted.
    pub carried_bytes: Option<u64>,
    /// How many of them are holes of a sparse file.
    pub holes_bytes: u64,
    /// At how many offsets the data was looked at.
    pub looked: u32,
    /// At how many of those a block held a single byte value throughout.
    pub blank: u32,
    /// Why the speed is a cache's and not the device's; null if it is the device's.
    pub cached: Option<String>,
}

impl Body for BenchCacheDocument {
    const NAME: &'static str = "bench-cache";
    const COMMANDS: &'static str = "bench cache";
}

impl BenchCacheDocument {
    /// The document of what was read from `target`.
    pub fn new(target: &str, layers: &LayerComparison) -> Self {
        Self {
            target: target.to_owned(),
            verdict: layers.headline().to_string(),
            device_bytes_per_s: layers.device().map(|device| device.median),
            layers: layers.speeds.iter().map(|speed| LayerDocument::new(speed, layers)).collect(),
            write_cache: layers.write_cache.clone(),
            why: layers.reasons().iter().map(ToString::to_string).collect(),
            remarks: layers.remarks.clone(),
        }
    }
}

impl LayerDocument {
    fn new(speed: &LayerSpeed, layers: &LayerComparison) -> Self {
        let spread = speed.spread();
        Self {
            layer: speed.layer.id(),
            status: FindingStatus::of(spread.as_ref()),
            bytes_per_s: spread.map(|spread| spread.median),
            low: spread.map(|spread| spread.low),
            high: spread.map(|spread| spread.high),
            bytes: speed.bytes.get(),
            carried_bytes: speed.transferred.map(Bytes::get),
            holes_bytes: speed.holes.get(),
            looked: speed.sampled,
            blank: speed.blank,
            cached: layers.cached(speed),
        }
    }
}
