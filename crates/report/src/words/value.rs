//! The value of a finding in words.

use flashscope_device::Bytes;
use flashscope_record::figure::{exact_speed, time};
use flashscope_record::finding::Value;

/// The value with its unit: `4 MiB`, `none`, `8`, `log-structured above 16 KiB requests`, `12.3 MB/s`.
#[must_use]
pub fn value(value: Value) -> String {
    match value {
        Value::Bytes(Bytes::ZERO) => "none".to_owned(),
        Value::Bytes(bytes) => bytes.to_string(),
        Value::Count(count) => count.to_string(),
        Value::Class { class, above: None } => class.as_str().to_owned(),
        Value::Class { class, above: Some(size) } => format!("{} above {size} requests", class.as_str()),
        Value::Seconds(seconds) => time(seconds),
        Value::BytesPerSecond(rate) => exact_speed(rate),
        Value::Shows(Some(extra_s)) => format!("yes, {} longer", time(extra_s)),
        Value::Shows(None) => "no".to_owned(),
    }
}
