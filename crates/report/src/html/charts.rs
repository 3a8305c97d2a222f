//! The charts, each with the table of its figures.

use maud::{Markup, html};

use super::plain_table;
use crate::bound::bound;
use crate::chart::Chart;
use crate::svg::{Layout, picture};

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

fn figure(chart: &Chart) -> Markup {
    html! {
        figure id=(chart.id) {
            h3 { (chart.title) }
            (picture(chart, Layout::Wide))
            (picture(chart, Layout::Narrow))
            figcaption { (bound(&chart.description)) }
            details {
                summary { "The same figures as a table" }
                (plain_table(&chart.table))
            }
        }
    }
}
