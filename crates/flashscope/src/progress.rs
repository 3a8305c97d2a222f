//! The progress bar of a run: one experiment, or several after one another.

use std::path::PathBuf;
use std::time::Duration;

use flashscope_linux::drop_from_page_cache;
use flashscope_measure::{Event, Forecast, Observer, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::duration;
use crate::printer::Printer;
use crate::stall::StallWatch;
use crate::target::Target;

/// Shows the progress of an experiment on standard error, if that is a terminal.
pub struct Progress<'a> {
    printer: &'a Printer,
    bar: ProgressBar,
    forecast: Forecast,
    is_planned: bool,
    /// The time of the experiments that ended, on this machine's clock.
    elapsed: Duration,
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
            bar: ProgressBar::with_draw_target(Some(PARTS), target)
                .with_style(style(printer.message_width())),
            forecast: Forecast::default(),
            is_planned: false,
            elapsed: Duration::ZERO,
            failed_requests: 0,
            announces: false,
            _stall_watch: if printer.is_quiet() { StallWatch::none() } else { StallWatch::start() },
            cached: None,
        }
    }

    /// The run has these experiments, and ends after `time_max` at the latest. Without a plan, every
    /// experiment is a run of its own.
    pub fn expect(&mut self, stages: impl IntoIterator<Item = Stage>, time_max: Option<Duration>) {
        (self.forecast, self.is_planned) = (Forecast::new(stages, time_max), true);
        self.elapsed = Duration::ZERO;
    }

    fn begin(&mut self, name: &str) {
        if !self.is_planned {
            (self.forecast, self.elapsed) = (Forecast::default(), Duration::ZERO);
        }
        // Each call may draw. Style and length come first: the default bar is as wide as it likes.
        self.bar.set_style(style(self.printer.message_width()));
        self.bar.set_length(PARTS);
        self.bar.set_message(name.to_owned());
        self.bar.reset();
        self.bar.enable_steady_tick(Duration::from_millis(500));
    }

    /// Shows the part of the time that is spent, and the time left of this machine's clock: a journal takes
    /// time beside the device, and virtual time passes at once.
    fn show(&self) {
        // Events are as frequent as requests.
        if self.bar.is_hidden() {
            return;
        }
        let (spent, left) = (self.forecast.spent().as_secs_f64(), self.forecast.left().as_secs_f64());
        if spent > 0.0 {
            self.bar.set_position((spent / (spent + left) * PARTS as f64) as u64);
            let elapsed = (self.elapsed + self.bar.elapsed()).as_secs_f64();
            let left = Duration::try_from_secs_f64(left * elapsed / spent).unwrap_or(Duration::MAX);
            self.bar.set_prefix(format!("{} left", duration::about(left)));
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

/// The parts of the bar.
const PARTS: u64 = 1000;
/// The columns of the full template with its longest values.
const COLUMNS_WITH_BAR: usize = 68;

fn style(columns: usize) -> ProgressStyle {
    ProgressStyle::with_template(template(columns)).unwrap_or_else(|_| ProgressStyle::default_bar())
}

const fn template(columns: usize) -> &'static str {
    if columns < COLUMNS_WITH_BAR { "{msg} {prefix}" } else { "{msg:<13} {bar:30} {percent:>3} %, {prefix}" }
}

impl Observer for Progress<'_> {
    fn event(&mut self, event: Event<'_>) {
        if !matches!(event, Event::Begin { .. }) {
            self.forecast.event(&event);
        }
        match event {
            Event::Begin { name, estimate } => {
                self.begin(name);
                self.forecast.event(&event);
                self.printer.detail(format!("{name}: at most {} requests", estimate.requests));
                if self.announces && !estimate.bytes_written.is_zero() {
                    self.printer.remark(format!("{} will be written", estimate.bytes_written));
                }
            }
            Event::Progress { .. } | Event::Expect { .. } => self.show(),
            Event::Remark { text } => {
                self.failed_requests += 1;
                self.bar.suspend(|| self.printer.detail(text));
            }
            Event::SecondLook => self.drop_cached(),
            Event::End => {
                self.elapsed += self.bar.elapsed();
                self.bar.finish_and_clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use flashscope_device::Bytes;
    use flashscope_measure::{Estimate, Expected};
    use indicatif::TermLike;

    use super::*;

    /// A terminal that shows nothing.
    #[derive(Debug)]
    struct Blank;

    impl TermLike for Blank {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _lines: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _lines: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _columns: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _columns: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, _line: &str) -> io::Result<()> {
            Ok(())
        }

        fn write_str(&self, _text: &str) -> io::Result<()> {
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Of 100 requests, 25 took 10 s of the device, so that 30 s are left. The run took 2005 s beside it.
    #[test]
    fn bar_shows_the_part_of_the_time_that_is_spent_and_what_is_left() {
        let printer = Printer::quiet();
        let mut progress = Progress::new(&printer);
        let target = ProgressDrawTarget::term_like(Box::new(Blank));
        progress.bar = ProgressBar::with_draw_target(Some(PARTS), target);
        progress.expect(Vec::new(), None);
        progress.elapsed = Duration::from_secs(2005);
        let expected = Expected::Most;
        let estimate = Estimate { requests: 100, bytes_written: Bytes::ZERO, expected };
        progress.event(Event::Begin { name: "align", estimate });
        progress.event(Event::Expect { expected });
        let shown = |progress: &Progress<'_>| (progress.bar.position(), progress.bar.prefix());
        assert_eq!(shown(&progress), (0, String::new()), "nothing is spent");
        progress.event(Event::Progress {
            requests: 25,
            writes: 0,
            bytes_written: Bytes::ZERO,
            bytes_read: Bytes::ZERO,
            device_time: Duration::from_secs(10),
        });
        assert_eq!(shown(&progress), (250, "101 minutes left".to_owned()), "3 times 2005 s");
    }

    #[test]
    fn longest_line_fits_the_terminal() {
        let longest = [
            ("{msg:<13}", "verify --full"),
            ("{msg}", "verify --full"),
            ("{bar:30}", &"#".repeat(30)),
            ("{percent:>3}", "100"),
            ("{prefix}", "120 minutes left"),
        ];
        for columns in [40, 80, COLUMNS_WITH_BAR - 1, COLUMNS_WITH_BAR, 120] {
            let line = longest
                .iter()
                .fold(template(columns).to_owned(), |line, (key, value)| line.replace(key, value));
            assert!(line.len() <= columns && !line.contains('{'), "{columns}: {line}");
        }
    }
}
