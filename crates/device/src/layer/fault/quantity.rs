//! Sizes, times and ranges in fault descriptions: exact, without spaces.

use std::time::Duration;

use crate::units::{ByteRange, Bytes};

const SIZES: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
const TIMES: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

/// The longest time: 10^18 ns, about 32 years, so that it fits into 64 bits.
const TIME_MAX_NS: f64 = 1e18;

/// A size with the largest unit that gives a whole number.
pub fn size(bytes: Bytes) -> String {
    let whole = |(_, unit): &&(&str, u64)| !bytes.is_zero() && bytes.get().is_multiple_of(*unit);
    match SIZES.iter().find(whole) {
        Some((suffix, unit)) => format!("{}{suffix}", bytes.get() / unit),
        None => format!("{}B", bytes.get()),
    }
}

/// A time with the largest unit that gives a whole number.
pub fn time(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    let whole = |(_, unit): &&(&str, u64)| nanoseconds.is_multiple_of(u128::from(*unit));
    let (suffix, unit) = TIMES.iter().find(whole).unwrap_or(&("ns", 1));
    format!("{}{suffix}", nanoseconds / u128::from(*unit))
}

/// `OFFSET+LENGTH`.
pub fn range(range: ByteRange) -> String {
    format!("{}+{}", size(range.offset), size(range.length))
}

/// Parses `12.5s`, `300ms`, `20us` or `5ns`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
pub fn parse_time(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, suffix) = text.split_at(split);
    let (_, unit) = TIMES.iter().find(|(known, _)| *known == suffix)?;
    if let Ok(count) = number.parse::<u64>() {
        let nanoseconds = count.checked_mul(*unit)?;
        return (nanoseconds <= TIME_MAX_NS as u64).then(|| Duration::from_nanos(nanoseconds));
    }
    #[expect(clippy::cast_precision_loss, reason = "units are at most 10^9")]
    let nanoseconds = (number.parse::<f64>().ok()? * *unit as f64).round();
    (0.0..=TIME_MAX_NS).contains(&nanoseconds).then(|| Duration::from_nanos(nanoseconds as u64))
}

/// Parses `OFFSET+LENGTH`, both sizes.
pub fn parse_range(text: &str) -> Option<ByteRange> {
    let (offset, length) = text.split_once('+')?;
    let range = ByteRange::new(offset.parse().ok()?, length.parse().ok()?);
    let holds = !range.length.is_zero() && range.offset.checked_add(range.length).is_some();
    holds.then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_and_shown_exactly() {
        for (text, nanoseconds, shown) in [
            ("12.5s", 12_500_000_000, "12500ms"),
            ("2s", 2_000_000_000, "2s"),
            ("0.3us", 300, "300ns"),
            ("0s", 0, "0s"),
        ] {
            let duration = parse_time(text).unwrap();
            assert_eq!((duration.as_nanos(), time(duration).as_str()), (nanoseconds, shown), "{text}");
        }
        for text in ["", "12", "s", "-1s", "1e9s", "1 s", "999999999999s", "1.2.3s"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
