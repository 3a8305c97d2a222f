//! Measured quantities as people write them: three significant digits and a unit.

use flashscope_record::finding::Confidence;

/// `value` with three significant digits: `15.7`, `0.861`, `219`, `2044`.
pub fn three_digits(value: f64) -> String {
    significant(value, 3)
}

fn significant(value: f64, digits: usize) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    let behind_point = (digits as f64 - 1.0 - magnitude.log10().floor()).clamp(0.0, 9.0) as usize;
    // 9.998 is 10.0: what rounding carries over has a digit more before the point.
    let carried = 10_f64.powi(magnitude.log10().floor() as i32 + 1);
    let is_carried = (carried - magnitude) * 10_f64.powi(behind_point as i32) <= 0.5;
    let behind_point = behind_point - usize::from(is_carried && behind_point > 0);
    format!("{value:.behind_point$}")
}

/// So many digits are written at most to tell two ends of an interval apart.
const DIGITS_MAX: usize = 6;

/// Both ends of an interval with three significant digits, or as many more as tell them apart: `30.0` and `30.2`, `30.01` and `30.02`.
pub fn apart(low: f64, high: f64) -> [String; 2] {
    let both = |digits| [low, high].map(|end| significant(end, digits));
    let tells = |[low, high]: &[String; 2]| low != high;
    let found = (3..DIGITS_MAX).map(both).find(tells);
    found.unwrap_or_else(|| both(if low < high { DIGITS_MAX } else { 3 }))
}

/// A time: `871 µs`, `4.10 ms`, `1.20 s`.
pub fn seconds(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        0.0 => return "0 s".to_owned(),
        magnitude if magnitude < 1e-6 => (value * 1e9, "ns"),
        magnitude if magnitude < 1e-3 => (value * 1e6, "µs"),
        magnitude if magnitude < 1.0 => (value * 1e3, "ms"),
        _ => (value, "s"),
    };
    format!("{} {unit}", three_digits(scaled))
}

/// A speed in MB/s (10^6 bytes per second) from bytes per second: `15.7 MB/s`.
pub fn speed(bytes_per_second: f64) -> String {
    format!("{} MB/s", three_digits(bytes_per_second / 1e6))
}

/// How many times, for a sentence: `14`, `2.3`.
pub fn ratio(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A probability: `99.7 %`, `85 %`.
pub fn percent(confidence: Confidence) -> String {
    let percent = confidence.get() * 100.0;
    if percent >= 99.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A number and its noun: `1 write`, `2048 writes`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits_and_a_fitting_unit() {
        let times = [2.19e-4, 4.1e-3, 0.437, 1.25, -3.6e-5, 0.0].map(seconds);
        assert_eq!(times, ["219 µs", "4.10 ms", "437 ms", "1.25 s", "-36.0 µs", "0 s"]);
        let carried = [9.998, 99.96, 0.9996, 9.994, 999.7, 0.0999_6].map(three_digits);
        assert_eq!(carried, ["10.0", "100", "1.00", "9.99", "1000", "0.100"]);
        assert_eq!([15.7e6, 861e3, 24e3].map(speed), ["15.7 MB/s", "0.861 MB/s", "0.0240 MB/s"]);
    }

    #[test]
    fn the_ends_of_an_interval_differ_where_they_are_not_the_same() {
        assert_eq!(apart(29.8, 30.4), ["29.8", "30.4"]);
        assert_eq!(apart(30.012, 30.023), ["30.01", "30.02"]);
        assert_eq!(apart(30.0, 30.0), ["30.0", "30.0"]);
    }

    #[test]
    fn nothing_is_certain() {
        assert_eq!(percent(Confidence::new(1.0)), "99.9 %");
        assert_eq!(percent(Confidence::new(0.85)), "85 %");
    }
}
