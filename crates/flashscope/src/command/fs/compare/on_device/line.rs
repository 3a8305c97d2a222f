//! What is tried now, and the time left, on one line.

use flashscope_measure::workload::trials::{Shortage, TrialsEvent};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::conditions;
use crate::duration;
use crate::printer::Printer;

/// A line on standard error, if that is a terminal.
pub(super) struct Line<'a> {
    printer: &'a Printer,
    bar: ProgressBar,
}

impl<'a> Line<'a> {
    pub fn new(printer: &'a Printer) -> Self {
        let target = if printer.shows_progress() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        // It is drawn at events only, so that drawing takes no part of a trial.
        bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { printer, bar }
    }

    pub fn show(&mut self, event: &TrialsEvent<'_>) {
        match event {
            TrialsEvent::Pilot { variant, number, of } => {
                self.now(format!("trying out {variant} with few files ({number} of {of})"));
            }
            TrialsEvent::Trial { variant, workload, round, done, left } => {
                let (workload, left) = (workload.name(), duration::about(*left));
                self.now(format!("round {round}, trial {}: {workload} on {variant}, {left} left", done + 1));
            }
            TrialsEvent::LeftOut(left_out) => {
                let left_out = conditions::left_out(left_out);
                self.bar.suspend(|| self.printer.detail(left_out));
            }
            TrialsEvent::CountReduced { workload, planned, count, shortage } => {
                let why = match shortage {
                    Shortage::Space => "more do not fit into the smallest filesystem",
                    Shortage::Time => "more would exceed the time budget (--time-budget)",
                };
                self.remark(&format!("{}: {count} of {planned} files; {why}", workload.name()));
            }
        }
    }

    fn now(&self, text: String) {
        self.printer.detail(&text);
        self.bar.set_message(text);
        self.bar.tick();
    }

    fn remark(&self, text: &str) {
        self.bar.suspend(|| self.printer.remark(text));
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
