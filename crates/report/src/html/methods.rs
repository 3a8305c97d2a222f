//! The method of each experiment in two sentences, and where it is documented.

use flashscope_record::observation::Data;
use maud::{Markup, html};

use crate::Report;
use crate::experiment_view::view;
use crate::words::experiment_name;

pub fn section(report: &Report<'_>) -> Markup {
    let mut methods: Vec<(&str, &str)> =
        report.run.observations.iter().map(|observations| method(&observations.data)).collect();
    methods.dedup();
    html! {
        @if !methods.is_empty() {
            section class="methods" {
                h2 { "Methods" }
                dl { @for (name, text) in methods { dt { (name) } dd { (text) } } }
                p { "flashscope's docs/methods has a page for each: question, procedure, assumptions, and limits." }
            }
        }
    }
}

fn method(data: &Data) -> (&'static str, &'static str) {
    (experiment_name(data), view(data).method())
}
