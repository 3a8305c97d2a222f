//! The terms of findings: titles, values, and the names of classes and orders.

use flashscope_device::Bytes;
use flashscope_record::finding::{Boundary, FindingId, FtlClass, ReadPenalty, Value};
use flashscope_record::observation::Order;

use crate::quantity;

/// The title of a finding.
#[must_use]
pub const fn finding_title(id: FindingId) -> &'static str {
    match id {
        FindingId::EraseBlockBytes => "erase block",
        FindingId::PageBytes => "page",
        FindingId::OpenUnitsLinear => "open blocks (sequential)",
        FindingId::OpenUnitsRandom => "open blocks (random)",
        FindingId::FatAreaBytes => "FAT area",
        FindingId::WriteUnitBytes => "write unit",
        FindingId::FtlClass => "flash translation layer",
        FindingId::MergeSeconds => "merge",
        FindingId::ReadBoundarySignal => "read penalty at boundaries",
        FindingId::SlcCacheBytes => "SLC cache",
        FindingId::SustainedWriteBytesPerS => "sustained write",
        FindingId::WriteBufferBytes => "write buffer",
    }
}

/// The title with its value: `erase block 8 MiB`, `no FAT area`.
pub(crate) fn title_and_value(id: FindingId, value: Value) -> String {
    match value {
        Value::Bytes(Bytes::ZERO) | Value::Shows(None) => format!("no {}", finding_title(id)),
        value => format!("{} {}", finding_title(id), value_text(value)),
    }
}

/// A value with its unit: `8 MiB`, `177 ms`, `log-structured above 16 KiB`.
#[must_use]
pub fn value_text(value: Value) -> String {
    match value {
        Value::Bytes(Bytes::ZERO) | Value::Shows(None) => "none".to_owned(),
        Value::Bytes(bytes) => bytes.to_string(),
        Value::Count(count) => quantity::integer(count.into()),
        Value::Class { class, above: None } => class_name(class).to_owned(),
        Value::Class { class, above: Some(size) } => format!("{} above {size}", class_name(class)),
        Value::Seconds(seconds) => quantity::seconds(seconds),
        Value::BytesPerSecond(rate) => quantity::speed(rate),
        Value::Shows(Some(ReadPenalty { extra_s, boundary })) => {
            format!("+{}{}", quantity::seconds(extra_s), boundary_name(boundary))
        }
    }
}

const fn boundary_name(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::EraseBlock(_) => " (erase block)",
        Boundary::Page => " (page)",
        Boundary::Undecided => "",
    }
}

/// The name of a translation layer's class.
pub(crate) const fn class_name(class: FtlClass) -> &'static str {
    match class {
        FtlClass::LinearOnly => "sequential-only",
        FtlClass::OpenBlock => "open-block",
        FtlClass::HybridLog => "hybrid-log",
        FtlClass::LogStructured => "log-structured",
        FtlClass::PageMapped => "page-mapped",
    }
}

/// How writes behave on a translation layer of this class.
pub(crate) const fn class_behaviour(class: FtlClass) -> &'static str {
    match class {
        FtlClass::LinearOnly => "a random write inside an erase block forces a copy of that block",
        FtlClass::OpenBlock => {
            "one open block too many forces a block copy on every switch, at a constant cost"
        }
        FtlClass::HybridLog => {
            "it writes one block sequentially; other writes go to log blocks, which are merged when full"
        }
        FtlClass::LogStructured => "with too many open blocks, writes slow down step by step, not at once",
        FtlClass::PageMapped => {
            "random writes cost no more than sequential ones, but garbage collection stalls it at times"
        }
    }
}

/// The name of an order of requests.
pub(crate) const fn order_name(order: Order) -> &'static str {
    match order {
        Order::Linear => "sequential",
        Order::Random => "random",
    }
}
