//! The charts, each with a table of its figures.

use maud::{Markup, html};

use super::prose::prose;
use super::table::plain_table;
use crate::chart::Chart;
use crate::svg::{Layout, inline_svg};

pub fn section(charts: &[Chart]) -> Markup {
    html! {
        @if !charts.is_empty() {
            section class="charts" {
                h2 { "Charts" }
                @for chart in charts { (figure(chart)) }
            }
        }
    }
}

/// A chart; one that would show too little is described instead.
fn figure(chart: &Chart) -> Markup {
    html! {
        figure id=(chart.id) {
            h3 { (chart.title) }
            @if chart.is_telling() {
                (inline_svg(chart, Layout::Wide))
                (inline_svg(chart, Layout::Narrow))
            }
            figcaption { (prose(&chart.description)) }
            details {
                summary { "The same figures as a table" }
                (plain_table(&chart.table))
            }
        }
    }
}
