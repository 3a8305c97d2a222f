//! Numbers kept on one line with their units.

/// What follows a number as its unit.
const UNITS: [&str; 13] =
    ["B", "KiB", "MiB", "GiB", "TiB", "kB/s", "MB/s", "ns", "µs", "ms", "s", "%", "bytes"];

/// The space that does not break a line.
pub const NO_BREAK: char = '\u{a0}';

/// `text` with a no-break space between each number and its unit: `8 MiB` never falls apart.
pub fn bound(text: &str) -> String {
    let mut bound = String::with_capacity(text.len());
    for word in text.split(' ') {
        let after_number = bound.ends_with(|last: char| last.is_ascii_digit());
        let space = if after_number && is_unit(word) { NO_BREAK } else { ' ' };
        if !bound.is_empty() {
            bound.push(space);
        }
        bound.push_str(word);
    }
    bound
}

fn is_unit(word: &str) -> bool {
    UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_hold_their_units() {
        assert_eq!(bound("at 8 MiB, 15.7 MB/s; 9 blocks"), "at 8\u{a0}MiB, 15.7\u{a0}MB/s; 9 blocks");
        assert_eq!(bound(""), "");
    }
}
