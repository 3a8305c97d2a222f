//! All charts of a report.

use flashscope_record::observation::Order;

use super::{Chart, boundary, fat_area, latency, offset, open_units, request_size, sustained};
use crate::Report;
use crate::figures::Figures;

/// The charts for which this run has observations, in the order of a report.
#[must_use]
pub fn charts(report: &Report<'_>) -> Vec<Chart> {
    let figures = Figures::of(report);
    let candidates = [
        boundary::chart(report),
        open_units::chart(report, &figures, Order::Linear),
        open_units::chart(report, &figures, Order::Random),
        latency::chart(report, &figures, Order::Linear),
        latency::chart(report, &figures, Order::Random),
        fat_area::chart(report, &figures, Order::Linear),
        fat_area::chart(report, &figures, Order::Random),
        request_size::chart(report),
        sustained::chart(report),
        offset::chart(report),
    ];
    candidates.into_iter().flatten().collect()
}
