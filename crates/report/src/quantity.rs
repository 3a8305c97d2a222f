//! Measured quantities as text: three significant digits, thousands separators, one unit.

use flashscope_record::finding::Confidence;

/// `value` with three significant digits: `15.7`, `0.861`, `219`, `2,044`.
pub fn three_digits(value: f64) -> String {
    significant(value, 3)
}

/// `value` with this many significant digits.
pub fn significant(value: f64, digits: usize) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    let decimals = (digits as f64 - 1.0 - magnitude.log10().floor()).clamp(0.0, 9.0) as usize;
    // 9.998 is written 10.0: rounding up to the next power of ten adds a digit before the point.
    let next_power = 10_f64.powi(magnitude.log10().floor() as i32 + 1);
    let rounds_up = (next_power - magnitude) * 10_f64.powi(decimals as i32) <= 0.5;
    let decimals = decimals - usize::from(rounds_up && decimals > 0);
    grouped(&format!("{value:.decimals$}"))
}

/// A number with commas between thousands: `2,976`, `16,000,000,000`.
pub fn integer(value: u64) -> String {
    grouped(&value.to_string())
}

/// `number` with commas between the thousands of its integer part.
fn grouped(number: &str) -> String {
    let (integer, decimals) = number.find('.').map_or((number, ""), |point| number.split_at(point));
    let (sign, digits) = integer.strip_prefix('-').map_or(("", integer), |digits| ("-", digits));
    let mut grouped = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + decimals
}

/// The most significant digits of an interval's ends. Guess: more than six are never known.
const DIGITS_MAX: usize = 6;

/// Both ends of an interval with three significant digits, or with as many more as it takes to tell them
/// apart: `30.0` and `30.2`, `30.01` and `30.02`.
pub fn interval_ends(low: f64, high: f64) -> [String; 2] {
    let both = |digits| [low, high].map(|end| significant(end, digits));
    let differ = |[low, high]: &[String; 2]| low != high;
    let found = (3..DIGITS_MAX).map(both).find(differ);
    found.unwrap_or_else(|| both(if low < high { DIGITS_MAX } else { 3 }))
}

/// A range of speeds from bytes per second: `6.66 to 7.03 MB/s`.
pub fn speed_interval(low: f64, high: f64) -> String {
    format!("{} MB/s", interval_ends(low / 1e6, high / 1e6).join(" to "))
}

/// A range of two quantities, with the unit once if both have the same: `6.78 to 7.04 MB/s`, `512 KiB to 1
/// MiB`.
pub fn range(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, low_unit)), Some((_, high_unit))) if low_unit == high_unit => {
            format!("{number} to {high}")
        }
        _ => format!("{low} to {high}"),
    }
}

/// A range of times, with the unit once if both have the same: `19.5 to 25.8 ms`, `871 µs to 1.20 ms`. Ends
/// that differ are distinguished.
pub fn seconds_interval(low: f64, high: f64) -> String {
    let ((scale, unit), (_, low_unit)) = (time_unit(high), time_unit(low));
    if unit == low_unit {
        format!("{} {unit}", interval_ends(low * scale, high * scale).join(" to "))
    } else {
        range(&seconds(low), &seconds(high))
    }
}

/// A time: `871 µs`, `4.10 ms`, `1.20 s`.
pub fn seconds(value: f64) -> String {
    let (scale, unit) = time_unit(value);
    format!("{} {unit}", three_digits(value * scale))
}

/// The units of a time in one second, and their name.
fn time_unit(value: f64) -> (f64, &'static str) {
    match value.abs() {
        0.0 => (1.0, "s"),
        magnitude if magnitude < 1e-6 => (1e9, "ns"),
        magnitude if magnitude < 1e-3 => (1e6, "µs"),
        magnitude if magnitude < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    }
}

/// A speed in MB/s (10^6 bytes per second) from bytes per second: `15.7 MB/s`.
pub fn speed(bytes_per_s: f64) -> String {
    format!("{} MB/s", three_digits(bytes_per_s / 1e6))
}

/// A ratio for a sentence: `14`, `2.3`, `0.042`.
pub fn ratio(value: f64) -> String {
    match value {
        value if value >= 10.0 => grouped(&format!("{value:.0}")),
        value if value >= SMALL_RATIO => format!("{value:.1}"),
        value => significant(value, 2),
    }
}

/// A ratio below this has two digits: with one decimal it would look like nothing.
const SMALL_RATIO: f64 = 0.1;

/// A probability: `99.7 %`, `85 %`.
pub fn percent(confidence: Confidence) -> String {
    let percent = confidence.get() * 100.0;
    if percent >= 99.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A number and its noun: `1 write`, `2,048 writes`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", integer(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits_and_a_fitting_unit() {
        let times = [2.19e-4, 4.1e-3, 0.437, 1.25, -3.6e-5, 0.0].map(seconds);
        assert_eq!(times, ["219 µs", "4.10 ms", "437 ms", "1.25 s", "-36.0 µs", "0 s"]);
        let rounded_up = [9.998, 99.96, 0.9996, 9.994, 999.7, 0.0999_6].map(three_digits);
        assert_eq!(rounded_up, ["10.0", "100", "1.00", "9.99", "1,000", "0.100"]);
        assert_eq!([15.7e6, 861e3, 24e3].map(speed), ["15.7 MB/s", "0.861 MB/s", "0.0240 MB/s"]);
    }

    #[test]
    fn a_range_has_its_unit_once() {
        assert_eq!(range("6.78 MB/s", "7.04 MB/s"), "6.78 to 7.04 MB/s");
        assert_eq!(range("512 KiB", "1 MiB"), "512 KiB to 1 MiB");
        assert_eq!(range("7", "8"), "7 to 8");
        let times = [(0.0195, 0.0258), (0.000_871, 0.0012), (30.012, 30.023)];
        let intervals = times.map(|(low, high)| seconds_interval(low, high));
        assert_eq!(intervals, ["19.5 to 25.8 ms", "871 µs to 1.20 ms", "30.01 to 30.02 s"]);
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1_000, 16_000_000_000].map(integer), ["0", "999", "1,000", "16,000,000,000"]);
        assert_eq!(three_digits(-12_345.6), "-12,346");
        assert_eq!(counted(2_048, "write"), "2,048 writes");
    }

    #[test]
    fn interval_ends_have_more_digits_where_three_are_equal() {
        assert_eq!(interval_ends(29.8, 30.4), ["29.8", "30.4"]);
        assert_eq!(interval_ends(30.012, 30.023), ["30.01", "30.02"]);
        assert_eq!(interval_ends(30.0, 30.0), ["30.0", "30.0"]);
    }

    #[test]
    fn a_ratio_is_never_nothing() {
        assert_eq!([14.2, 2.34, 0.83, 0.042, 0.0].map(ratio), ["14", "2.3", "0.8", "0.042", "0"]);
    }

    #[test]
    fn a_probability_is_never_100_percent() {
        assert_eq!(percent(Confidence::new(1.0)), "99.9 %");
        assert_eq!(percent(Confidence::new(0.85)), "85 %");
    }
}
