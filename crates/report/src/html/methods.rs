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

#[cfg(test)]
mod tests {
    use flashscope_record::observation::{AlignData, Conditions, Ended, Observations, Source};
    use flashscope_record::run_file::RunFile;

    use super::*;

    #[test]
    fn each_experiment_has_its_method_once_and_an_empty_run_has_no_section() {
        let text = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let mut run = RunFile::parse(text).unwrap();
        let page = |run: &RunFile| section(&Report::new(run, &[])).into_string();
        assert_eq!(page(&run), "");
        let align = || Data::Align(AlignData::default());
        for seed in 0..2 {
            let conditions = Conditions {
                source: Source::Measured,
                capacity: None,
                region: None,
                is_in_file: false,
                seed,
            };
            run.observations.push(Observations { data: align(), conditions, ended: Ended::Complete });
        }
        let page = page(&run);
        let name = format!("<dt>{}</dt>", experiment_name(&align()));
        assert!(page.contains("<h2>Methods</h2>") && page.matches(&name).count() == 1, "{page}");
    }
}
