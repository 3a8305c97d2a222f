//! How each thing was measured, in a sentence, and where the method is described.

use flashscope_record::observation::Data;
use maud::{Markup, html};

use crate::Report;
use crate::experiment_view::view;
use crate::words::experiment;

pub fn section(report: &Report<'_>) -> Markup {
    let mut methods: Vec<(&str, &str)> =
        report.run.observations.iter().map(|seen| method(&seen.data)).collect();
    methods.dedup();
    html! {
        @if !methods.is_empty() {
            section class="methods" {
                h2 { "Methods" }
                dl { @for (name, text) in methods { dt { (name) } dd { (text) } } }
                p { "Each has a page of its own in flashscope's docs/methods: question, procedure, assumptions, and how it can mislead." }
            }
        }
    }
}

fn method(data: &Data) -> (&'static str, &'static str) {
    (experiment(data), view(data).method())
}
