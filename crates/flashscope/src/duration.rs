//! Times on the command line: `90`, `90s`, `1.5h`, `1h30m`; and in messages.

use std::time::Duration;

use jiff::SignedDuration;

/// The longest budget: eleven days. Guess: no stick takes longer to fill.
const BUDGET_MAX: Duration = Duration::from_secs(1_000_000);

/// A time budget: at least one second.
///
/// # Errors
/// One sentence.
pub fn budget(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_secs(1), BUDGET_MAX)
        .ok_or_else(|| "a time from 1s to 1000000s is needed, such as 90, 90s, 5m or 1h30m".to_owned())
}

/// The time for which `bench cache` reads a layer.
///
/// # Errors
/// One sentence.
pub fn reading(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_secs(1), Duration::from_secs(60))
        .ok_or_else(|| "a time from 1s to 1m is needed, such as 3 or 3s".to_owned())
}

/// The interval of `watch`. Below 0.1 s, the kernel's millisecond counters are too coarse.
///
/// # Errors
/// One sentence.
pub fn interval(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_millis(100), Duration::from_secs(60))
        .ok_or_else(|| "a time from 0.1s to 1m is needed, such as 2, 2s or 500ms".to_owned())
}

/// Plain numbers are seconds.
fn within(text: &str, least: Duration, most: Duration) -> Option<Duration> {
    let text = text.trim();
    let duration = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => text.parse::<SignedDuration>().ok()?.try_into().ok()?,
    };
    (least..=most).contains(&duration).then_some(duration)
}

/// In seconds: `600 s`, `1.5 s`.
pub fn exact(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

/// In the largest fitting unit, rounded up: `60 s`, `38 minutes`, `8 hours`.
pub fn about(duration: Duration) -> String {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    match seconds {
        0..=180 => format!("{seconds} s"),
        181..=7200 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_rounds_up_to_the_largest_unit() {
        let text = |seconds: f64| about(Duration::from_secs_f64(seconds));
        assert_eq!(
            [0.5, 60.0, 180.0, 180.5, 2280.0, 7200.0, 7201.0, 28_800.0].map(text),
            ["1 s", "60 s", "180 s", "4 minutes", "38 minutes", "120 minutes", "3 hours", "8 hours"]
        );
    }

    #[test]
    fn times_parse_with_and_without_units() {
        let seconds = |text: &str| budget(text).map(|duration| duration.as_secs_f64());
        for (text, expected) in [
            ("90", 90.0),
            (" 90s ", 90.0),
            ("1.5", 1.5),
            ("5m", 300.0),
            ("2 min", 120.0),
            ("1h", 3600.0),
            ("1.5h", 5400.0),
            ("1h30m", 5400.0),
            ("1000000", 1e6),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "s",
            "m5",
            "-5s",
            "-5",
            "0",
            "0s",
            "0.9s",
            "5x",
            "5 MiB",
            "nan",
            "inf",
            "1e9",
            "12d",
            "99999999999999999999h",
        ] {
            assert!(seconds(text).is_err_and(|error| error.contains("1h30m")), "{text}");
        }
        assert_eq!(interval("500ms"), Ok(Duration::from_millis(500)));
        assert!(interval("50ms").is_err() && interval("2m").is_err() && reading("2m").is_err());
        assert_eq!([reading("1m"), reading("3")], [60, 3].map(|seconds| Ok(Duration::from_secs(seconds))));
        assert_eq!([exact(Duration::from_secs(600)), exact(Duration::from_millis(1500))], ["600 s", "1.5 s"]);
    }
}
