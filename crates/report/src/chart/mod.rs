//! Charts as data: built from observations once, drawn alike by the terminal and the page.
//!
//! A [`Chart`] holds axes, series, vertical notes and a table of the same figures. Everything in it is finite: points that
//! an axis cannot show are left out when it is built.

mod axis;
mod boundary;
mod fat_area;
mod latency;
mod model;
mod offset;
mod request_speed;
mod selection;
mod speed;
mod sustained;
mod ticks;

pub use axis::{Axis, Scale, Unit};
pub use model::{Chart, Colour, Drawn, Marker, Note, Point, Series, Table};
pub use ticks::Tick;

use crate::Report;
use crate::figures::Figures;
use flashscope_record::observation::Order;

/// Every chart that this run's observations can fill, in the order of a report.
#[must_use]
pub fn charts(report: &Report<'_>) -> Vec<Chart> {
    let figures = Figures::of(report);
    let candidates = [
        boundary::chart(report),
        speed::chart(report, &figures, Order::Linear),
        speed::chart(report, &figures, Order::Random),
        latency::chart(report, Order::Linear),
        latency::chart(report, Order::Random),
        fat_area::chart(report, &figures, Order::Linear),
        fat_area::chart(report, &figures, Order::Random),
        request_speed::chart(report),
        sustained::chart(report),
        offset::chart(report),
    ];
    candidates.into_iter().flatten().collect()
}
