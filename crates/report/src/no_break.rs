//! No-break spaces between numbers and their units.

/// Units that stay on the line of their number.
const UNITS: [&str; 14] =
    ["B", "KiB", "MiB", "GiB", "TiB", "kB/s", "MB/s", "IOPS", "ns", "µs", "ms", "s", "%", "bytes"];

/// The space at which no line breaks.
pub const NO_BREAK_SPACE: char = '\u{a0}';

/// `text` with a no-break space between each number and its unit, so that `8 MiB` stays on one line.
pub fn join_units(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in text.split(' ') {
        let after_number = joined.ends_with(|last: char| last.is_ascii_digit());
        let space = if after_number && is_unit(word) { NO_BREAK_SPACE } else { ' ' };
        if !joined.is_empty() {
            joined.push(space);
        }
        joined.push_str(word);
    }
    joined
}

fn is_unit(word: &str) -> bool {
    UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_units_on_one_line() {
        assert_eq!(join_units("at 8 MiB, 15.7 MB/s; 9 blocks"), "at 8\u{a0}MiB, 15.7\u{a0}MB/s; 9 blocks");
        assert_eq!(join_units(""), "");
    }
}
