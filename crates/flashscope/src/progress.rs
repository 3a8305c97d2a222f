//! The progress bar of an experiment.

use std::path::PathBuf;
use std::time::Duration;

use flashscope_linux::drop_from_page_cache;
use flashscope_measure::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::Printer;
use crate::stall::StallWatch;
use crate::target::Target;

/// Shows the progress of an experiment on standard error, if that is a terminal.
pub struct Progress<'a> {
    printer: &'a Printer,
    bar: ProgressBar,
    failed_requests: u64,
    announces: bool,
    /// Says when a request takes long.
    _stall_watch: StallWatch,
    /// What is dropped from the page cache before a second look.
    cached: Option<PathBuf>,
}

/// Guess: smooth enough, and drawing must not disturb the measurement.
const DRAWS_PER_SECOND: u8 = 8;

impl<'a> Progress<'a> {
    /// A bar that is drawn only if [`Printer::shows_progress`].
    pub fn new(printer: &'a Printer) -> Self {
        let target = if printer.shows_progress() {
            ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND)
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            printer,
            bar: ProgressBar::with_draw_target(None, target),
            failed_requests: 0,
            announces: false,
            _stall_watch: if printer.is_quiet() { StallWatch::none() } else { StallWatch::start() },
            cached: None,
        }
    }

    /// Also prints how much each experiment will write.
    pub const fn announcing(mut self) -> Self {
        self.announces = true;
        self
    }

    /// Before a second look at places that read back wrong, this file or disk is opened anew, and dropped
    /// from the page cache.
    pub fn looking_again_at(mut self, target: &Target) -> Self {
        self.cached = (!target.is_virtual).then(|| PathBuf::from(&target.text));
        self
    }

    fn drop_cached(&self) {
        let Some(path) = &self.cached else { return };
        if let Err(error) = drop_from_page_cache(path) {
            self.printer.detail(format!("cannot drop {} from the page cache: {error}", path.display()));
        }
    }

    /// The number of requests that failed so far.
    pub const fn failed_requests(&self) -> u64 {
        self.failed_requests
    }
}

/// The columns of the full template with its longest values.
const COLUMNS_WITH_BAR: usize = 88;

fn style(columns: usize) -> ProgressStyle {
    ProgressStyle::with_template(template(columns)).unwrap_or_else(|_| ProgressStyle::default_bar())
}

const fn template(columns: usize) -> &'static str {
    if columns < COLUMNS_WITH_BAR {
        "{msg} {pos}/{len}, {eta} left"
    } else {
        "{msg:<12} {bar:30} {pos}/{len} requests at most, {eta} left"
    }
}

impl Observer for Progress<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { name, estimate } => {
                self.bar.reset();
                self.bar.set_style(style(self.printer.message_width()));
                self.bar.set_length(estimate.requests);
                self.bar.set_message(name.to_owned());
                self.bar.enable_steady_tick(Duration::from_millis(500));
                self.printer.detail(format!("{name}: at most {} requests", estimate.requests));
                if self.announces && !estimate.bytes_written.is_zero() {
                    self.printer.remark(format!("{} will be written", estimate.bytes_written));
                }
            }
            Event::Progress { requests, .. } => self.bar.set_position(requests),
            Event::Remark { text } => {
                self.failed_requests += 1;
                self.bar.suspend(|| self.printer.detail(text));
            }
            Event::SecondLook => self.drop_cached(),
            Event::End => self.bar.finish_and_clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_line_fits_the_terminal() {
        let longest = [
            ("{msg:<12}", "write-buffer"),
            ("{msg}", "write-buffer"),
            ("{bar:30}", &"#".repeat(30)),
            ("{pos}/{len}", "1000000/1000000"),
            ("{eta}", "27m"),
        ];
        for columns in [40, 80, COLUMNS_WITH_BAR - 1, COLUMNS_WITH_BAR, 120] {
            let line = longest
                .iter()
                .fold(template(columns).to_owned(), |line, (key, value)| line.replace(key, value));
            assert!(line.len() <= columns && !line.contains('{'), "{columns}: {line}");
        }
    }
}
