//! The benchmark report of a run.

use flashscope_record::observation::Data;
use flashscope_record::run_file::RunFile;

use crate::bench_report::BenchReport;
use crate::words::{Sentence, early_end};
use crate::{files, write_methods};

/// The report of the run's last files or write-methods benchmark, with the reason for an early end as its
/// first list; `None` if it has none.
pub fn run_bench_report(run: &RunFile) -> Option<BenchReport> {
    run.observations.iter().rev().find_map(|observations| {
        let mut report = match &observations.data {
            Data::Files(data) => files::bench_report(data),
            Data::Methods(data) => write_methods::bench_report(data),
            _ => return None,
        };
        let reasons: Vec<Sentence> = early_end(observations).into_iter().map(Sentence::new).collect();
        report.lists.insert(0, ("How sure", reasons));
        Some(report)
    })
}
