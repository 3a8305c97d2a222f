//! A speed that another program measured.

use flashscope_device::Bytes;
use flashscope_record::observation::PublishedSpeed;
use schemars::JsonSchema;
use serde::Serialize;

/// A speed that another program measured. What its output does not state is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PublishedSpeedDocument {
    /// The program.
    pub program: String,
    /// The row's name in its output; empty without one.
    pub name: String,
    /// The requests in words.
    pub requests: String,
    /// `read` or `write`.
    pub direction: &'static str,
    /// `linear` or `random`.
    pub order: Option<&'static str>,
    /// The size of each request.
    pub request_bytes: Option<u64>,
    /// The queue depth of each thread.
    pub queue_depth: Option<u32>,
    /// The number of threads or processes.
    pub threads: Option<u32>,
    /// Whether the requests bypassed the page cache.
    pub is_direct: Option<bool>,
    /// The throughput.
    pub bytes_per_s: f64,
    /// Requests per second.
    pub requests_per_s: Option<f64>,
}

impl From<(&str, &PublishedSpeed)> for PublishedSpeedDocument {
    fn from((program, row): (&str, &PublishedSpeed)) -> Self {
        Self {
            program: program.to_owned(),
            name: row.name.clone(),
            requests: flashscope_report::published_speed_name(row),
            direction: row.direction.as_str(),
            order: row.order.map(order_name),
            request_bytes: row.request.map(Bytes::get),
            queue_depth: row.queue_depth,
            threads: row.threads,
            is_direct: row.is_direct,
            bytes_per_s: row.bytes_per_s,
            requests_per_s: row.requests_per_s,
        }
    }
}

const fn order_name(order: flashscope_record::observation::Order) -> &'static str {
    match order {
        flashscope_record::observation::Order::Linear => "linear",
        flashscope_record::observation::Order::Random => "random",
    }
}
