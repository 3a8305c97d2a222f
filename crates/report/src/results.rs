//! Results of experiments that have no finding: a table of names and values.

use flashscope_record::figure::time;
use flashscope_record::observation::{NamedResult, ResultValue};
use flashscope_record::run_file::RunFile;

use crate::chart::Table;

/// The results of all experiments of a run.
pub fn table(run: &RunFile) -> Table {
    let header = ["experiment", "result", "value"].map(str::to_owned).to_vec();
    let rows = run.observations.iter().flat_map(|seen| {
        let row = |result: NamedResult| {
            vec![seen.data.name().to_owned(), result.name.replace('_', " "), text(result.value)]
        };
        seen.data.facts().results().into_iter().map(row)
    });
    Table { header, rows: rows.collect() }
}

/// The first result in one sentence, for a run without findings. `None` without results.
pub fn headline(run: &RunFile) -> Option<String> {
    let first = run.observations.iter().find_map(|seen| seen.data.facts().results().into_iter().next())?;
    Some(format!("{}: {}", first.name.replace('_', " "), text(first.value)))
}

fn text(value: ResultValue) -> String {
    match value {
        ResultValue::Flag(true) => "yes".to_owned(),
        ResultValue::Flag(false) => "no".to_owned(),
        ResultValue::Word(word) => word.replace('_', " "),
        ResultValue::Count(count) => count.to_string(),
        ResultValue::Bytes(bytes) => bytes.to_string(),
        ResultValue::Seconds(seconds) => time(seconds),
        ResultValue::Ratio(ratio) => format!("{ratio:.2}"),
    }
}
