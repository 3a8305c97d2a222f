//! The numbers of flashbench's tables: times, speeds and sizes, as printed and as mangled on the way.

use flashscope_device::Bytes;

/// A time as it stands in a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// The unit of a [`Reading`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    /// `s` alone: seconds, or microseconds that lost their micro sign.
    Seconds,
    /// Cut off.
    Missing,
}

impl Reading {
    /// The time in seconds, taking `s` alone for this many; `None` without a unit.
    pub(super) const fn seconds(self, bare: f64) -> Option<f64> {
        Some(match self.unit {
            Unit::Nanoseconds => self.value * 1e-9,
            Unit::Microseconds => self.value * 1e-6,
            Unit::Milliseconds => self.value * 1e-3,
            Unit::Seconds => self.value * bare,
            Unit::Missing => return None,
        })
    }
}

/// What has been seen in place of a micro sign: both code points, ASCII, question marks of every kind, and
/// both code points' UTF-8 bytes read as Latin-1, as code page 437 or cut in half.
const MICRO: &[char] =
    &['µ', 'μ', 'u', 'U', '?', '\u{fffd}', '\u{c2}', '\u{c3}', '\u{201a}', 'Î', '¼', 'æ', '┬', '╡'];

/// The number a word begins with, and the rest of it. Its comma is a decimal one.
fn leading_number(word: &str) -> Option<(f64, &str)> {
    let sign = usize::from(word.starts_with(['-', '+']));
    let end = word[sign..]
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','))
        .map_or(word.len(), |at| at + sign);
    let end = end + exponent_length(&word[end..]);
    let (number, rest) = word.split_at(end);
    if has_thousands(number) {
        return None;
    }
    Some((number.replace(',', ".").parse().ok()?, rest))
}

/// Whether a comma in a number may separate thousands. flashbench prints three digits in all, so three digits
/// after a comma are decimals only in a number below one.
fn has_thousands(number: &str) -> bool {
    let digits = number.trim_start_matches(['-', '+', '0']);
    digits.split_once(',').is_some_and(|(before, after)| !before.is_empty() && after.len() >= 3)
}

/// A whole number of bytes as people print it: `1073741824`, `1,073,741,824`, `1.073.741.824`, `1GiB`.
pub(super) fn candidate(word: &str) -> Option<u64> {
    let groups: Vec<&str> = word.split([',', '.', '\'']).collect();
    let are_thousands = groups.len() > 1
        && (1..=3).contains(&groups[0].len())
        && groups[1..].iter().all(|group| group.len() == 3);
    match word.parse() {
        Ok(bytes) => Some(bytes),
        Err(_) if are_thousands => groups.concat().parse().ok(),
        Err(_) => size(word).map(Bytes::get),
    }
}

/// The length of `e+03`, as C's `%.3g` prints 1000.
fn exponent_length(rest: &str) -> usize {
    let Some(digits) = rest.strip_prefix("e+").or_else(|| rest.strip_prefix("e-")) else { return 0 };
    match digits.bytes().take_while(u8::is_ascii_digit).count() {
        0 => 0,
        count => 2 + count,
    }
}

/// A time: `543µs`, `1.08ms`, `-3602ns`, `1e+03µ`, `-90026n`, `543?s`.
pub(super) fn time(word: &str) -> Option<Reading> {
    let (value, rest) = leading_number(word)?;
    Some(Reading { value, unit: unit(rest)? })
}

/// A unit that stands apart from its number.
pub(super) fn unit(word: &str) -> Option<Unit> {
    Some(match word.trim_end_matches([',', ';', ')']) {
        "" => Unit::Missing,
        "n" | "ns" | "nsec" => Unit::Nanoseconds,
        "m" | "ms" | "msec" => Unit::Milliseconds,
        "s" | "sec" => Unit::Seconds,
        "usec" => Unit::Microseconds,
        other => {
            let sign = other.strip_suffix('s').unwrap_or(other);
            return sign.chars().all(|c| MICRO.contains(&c)).then_some(Unit::Microseconds);
        }
    })
}

/// A speed in bytes per second: `15.3M/s`, `861K/s`; decimal units.
pub(super) fn speed(word: &str) -> Option<f64> {
    let (value, rest) = leading_number(word.trim_end_matches([',', ';']))?;
    let unit = rest.strip_suffix("/s")?;
    let scale = match unit.strip_suffix('B').unwrap_or(unit) {
        "" => 1.0,
        "K" | "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    Some(value * scale)
}

/// A speed as people rewrite it, not as flashbench prints it: `15.3MiB/s`.
pub(super) fn rewritten_speed(word: &str) -> Option<f64> {
    let (value, rest) = leading_number(word)?;
    let scale = match rest {
        "KiB/s" => 1024.0,
        "MiB/s" => 1024.0 * 1024.0,
        "GiB/s" => 1024.0 * 1024.0 * 1024.0,
        _ => return speed(word),
    };
    Some(value * scale)
}

/// A request size as people rewrite it: `4M`, `4MB`, `512K`. flashbench's are binary whatever their name.
pub(super) fn rewritten_size(word: &str) -> Option<Bytes> {
    let short = word.strip_suffix('B').unwrap_or(word);
    let unit = short.strip_suffix(['K', 'k', 'M', 'G'])?;
    let is_size =
        short.len() == unit.len() + 1 && !unit.is_empty() && unit.bytes().all(|byte| byte.is_ascii_digit());
    is_size.then(|| size(&format!("{}iB", short.to_ascii_uppercase()))).flatten()
}

/// A request size: `8MiB`, `1.5MiB`, `512KiB`, `512B`.
pub(super) fn size(word: &str) -> Option<Bytes> {
    let word = word.trim_end_matches([':', ',']);
    let binary = ["KiB", "MiB", "GiB"].iter().any(|unit| word.ends_with(unit));
    let bytes = word.strip_suffix('B').is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
    if !(binary || bytes) || !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    word.parse().ok().filter(|size: &Bytes| !size.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_microsecond_is_one() {
        for word in [
            "543µs",
            "543μs",
            "543us",
            "543?s",
            "543\u{fffd}s",
            "543Âµs",
            "543Î¼s",
            "543µ",
            "543Â",
            "543usec",
        ] {
            assert_eq!(time(word), Some(Reading { value: 543.0, unit: Unit::Microseconds }), "{word}");
        }
    }

    #[test]
    fn exponents_signs_and_cut_units_are_read() {
        let seconds = |word| time(word).and_then(|reading| reading.seconds(1.0));
        assert_eq!(seconds("1e+03µ"), Some(1e3 * 1e-6));
        assert_eq!(seconds("-90026n"), Some(-90026.0 * 1e-9));
        assert_eq!(seconds("1.08ms"), Some(1.08 * 1e-3));
        assert_eq!(time("-902632").map(|reading| reading.unit), Some(Unit::Missing));
        for word in ["pre", "", "-", "5apples", "1.2.3ms", "nan", "infs"] {
            assert_eq!(time(word), None, "{word}");
        }
    }

    #[test]
    fn decimal_and_thousands_commas_are_distinguished() {
        assert_eq!(time("1,77ms"), time("1.77ms"));
        assert_eq!(speed("0,865M/s"), Some(865e3));
        assert_eq!((time("1,077µs"), speed("1,234,567/s")), (None, None));
        for word in ["1,073,741,824", "1.073.741.824", "1073741824", "1GiB"] {
            assert_eq!(candidate(word), Some(1 << 30), "{word}");
        }
        for word in ["1,07", "1,0737,418", ",073", "", "pre"] {
            assert_eq!(candidate(word), None, "{word}");
        }
    }

    #[test]
    fn rewritten_sizes_and_speeds_are_read() {
        assert_eq!(["4M", "4MB"].map(rewritten_size), [Some(Bytes::mib(4)); 2]);
        assert_eq!(rewritten_size("512k"), Some(Bytes::kib(512)));
        for word in ["M", "4", "4m", "-4M", "4.5M", "B", "4KK"] {
            assert_eq!(rewritten_size(word), None, "{word}");
        }
        assert_eq!(rewritten_speed("2MiB/s"), Some(2.0 * 1024.0 * 1024.0));
        assert_eq!(rewritten_speed("2M/s"), Some(2e6));
    }

    #[test]
    fn speeds_are_decimal_and_sizes_binary() {
        assert_eq!(speed("15.3M/s"), Some(15.3e6));
        assert_eq!(speed("861K/s"), Some(861e3));
        assert_eq!(speed("861K"), None);
        assert_eq!(size("1.5MiB"), Some(Bytes::kib(1536)));
        assert_eq!(size("512B"), Some(Bytes::new(512)));
        for word in ["8", "8M", "MiB", "0KiB", "-4KiB", "0.3KiB", "B"] {
            assert_eq!(size(word), None, "{word}");
        }
    }
}
