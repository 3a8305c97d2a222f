//! Figures in sentences: three digits at most, in the unit people use.

/// A time in seconds, as `340 ms`, `4.0 ms`, `235 µs`.
#[must_use]
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        s if s >= 0.9995 => (seconds, "s"),
        s if s >= 0.000_999_5 => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    let digits = if value.abs() < 9.95 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

/// A speed in bytes per second, as `15 MB/s` or `860 kB/s`.
#[must_use]
pub fn speed(bytes_per_second: f64) -> String {
    let (value, unit) = scaled(bytes_per_second);
    let digits = if value < 9.95 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

/// The same to three digits, `15.4 MB/s`: the ends of an interval of a speed, which is known to 1 % at best,
/// are then never alike.
#[must_use]
pub fn exact_speed(bytes_per_second: f64) -> String {
    let (value, unit) = scaled(bytes_per_second);
    let digits = usize::from(value < 99.95) + usize::from(value < 9.995);
    format!("{value:.digits$} {unit}")
}

const fn scaled(bytes_per_second: f64) -> (f64, &'static str) {
    match bytes_per_second {
        s if s >= 999_500.0 => (s / 1e6, "MB/s"),
        s if s >= 999.5 => (s / 1e3, "kB/s"),
        s => (s, "B/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_two_or_three_digits() {
        assert_eq!(time(0.34), "340 ms");
        assert_eq!(time(0.004), "4.0 ms");
        assert_eq!(time(0.000_235), "235 µs");
        assert_eq!(time(1.25), "1.2 s");
        assert_eq!(speed(15_400_000.0), "15 MB/s");
        assert_eq!(speed(860_900.0), "861 kB/s");
    }

    #[test]
    fn what_rounds_to_a_thousand_has_the_next_unit() {
        let times = [0.9995, 0.9994, 0.000_999_5, 0.000_999_4].map(time);
        assert_eq!(times, ["1.0 s", "999 ms", "1.0 ms", "999 µs"]);
        let speeds = [999_500.0, 999_400.0, 999.5, 999.4].map(speed);
        assert_eq!(speeds, ["1.0 MB/s", "999 kB/s", "1.0 kB/s", "999 B/s"]);
        assert_eq!([exact_speed(999_500.0), exact_speed(999.5)], ["1.00 MB/s", "1.00 kB/s"]);
    }

    #[test]
    fn what_rounds_to_ten_or_a_hundred_has_no_digit_more() {
        assert_eq!([time(9.95), speed(9.95e6)], ["10 s", "10 MB/s"]);
        assert_eq!([exact_speed(9.995e6), exact_speed(99.95e6)], ["10.0 MB/s", "100 MB/s"]);
    }

    #[test]
    fn the_ends_of_an_interval_of_one_per_cent_are_distinguishable() {
        assert_eq!(exact_speed(15_400_000.0), "15.4 MB/s");
        for hundredths in 100..100_000_u32 {
            let rate = f64::from(hundredths) * 1e4;
            assert_ne!(exact_speed(rate / 1.01), exact_speed(rate * 1.01), "{rate}");
        }
    }
}
