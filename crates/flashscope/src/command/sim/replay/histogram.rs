//! Latency histograms, recorded and replayed: one line for each power of two.

use std::time::Duration;

use super::summary::KindOutcome;

/// The narrowest bars. Guess: below, differences are invisible.
const BAR_WIDTH_MIN: usize = 8;

/// Columns of the bucket's name and the gaps.
const NAME_COLUMNS: usize = 26;

/// One line a bucket, from the first to the last that is not empty.
pub fn lines(recorded: &KindOutcome, replayed: &KindOutcome, width: usize) -> Vec<String> {
    let bar_width = (width.saturating_sub(NAME_COLUMNS) / 2).max(BAR_WIDTH_MIN);
    let buckets = || recorded.sorted.iter().chain(&replayed.sorted).map(bucket);
    let (Some(first), Some(last)) = (buckets().min(), buckets().max()) else { return Vec::new() };
    let counts = |outcome: &KindOutcome, which| {
        outcome.sorted.iter().filter(|latency| bucket(latency) == which).count()
    };
    let rows: Vec<(u32, usize, usize)> =
        (first..=last).map(|which| (which, counts(recorded, which), counts(replayed, which))).collect();
    let most = rows.iter().map(|(_, left, right)| *left.max(right)).max().unwrap_or(1).max(1);
    let bar = |count: usize| {
        let columns = (count * bar_width).div_ceil(most);
        format!("{:<bar_width$}", "█".repeat(columns))
    };
    let line = |(which, left, right): &(u32, usize, usize)| {
        format!("  {:<20}{}  {}", name(*which), bar(*left), bar(*right)).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// The widths of the first column and of one bar, for a heading.
pub fn columns(width: usize) -> (usize, usize) {
    (22, (width.saturating_sub(NAME_COLUMNS) / 2).max(BAR_WIDTH_MIN) + 2)
}

/// The bucket: 0 below 1 µs, 1 from 1 to 2 µs, 2 from 2 to 4 µs, …
fn bucket(latency: &Duration) -> u32 {
    let microseconds = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
    u64::BITS - microseconds.leading_zeros()
}

fn name(bucket: u32) -> String {
    let edge = |bucket: u32| match 1u64 << bucket.min(63) {
        microseconds if microseconds < 1 << 10 => format!("{microseconds} µs"),
        microseconds if microseconds < 1 << 20 => format!("{:.1} ms", microseconds as f64 / 1e3),
        microseconds => format!("{:.1} s", microseconds as f64 / 1e6),
    };
    if bucket == 0 { format!("< {}", edge(0)) } else { format!("{} – {}", edge(bucket - 1), edge(bucket)) }
}

#[cfg(test)]
mod tests {
    use flashscope_device::OpKind;

    use super::*;

    fn outcome(microseconds: &[u64]) -> KindOutcome {
        KindOutcome {
            kind: OpKind::Read,
            failed: 0,
            sorted: microseconds.iter().copied().map(Duration::from_micros).collect(),
        }
    }

    #[test]
    fn limits_of_a_line_are_in_the_unit_that_fits_them() {
        for (microseconds, limits) in [
            (0, "< 1 µs"),
            (1, "1 µs – 2 µs"),
            (511, "256 µs – 512 µs"),
            (512, "512 µs – 1.0 ms"),
            (3_000, "2.0 ms – 4.1 ms"),
            (600_000, "524.3 ms – 1.0 s"),
            (2_000_000, "1.0 s – 2.1 s"),
        ] {
            let lines = lines(&outcome(&[microseconds]), &outcome(&[]), 40);
            assert_eq!(lines[0].trim_start().split("  ").next(), Some(limits), "{lines:#?}");
        }
    }

    #[test]
    fn each_power_of_two_has_a_line_and_bars_are_to_scale() {
        let lines = lines(&outcome(&[100, 100, 100, 100]), &outcome(&[100, 300, 300]), 40);
        let bars = |line: &str| {
            line.split_whitespace()
                .filter(|word| word.contains('█'))
                .map(|word| word.chars().count())
                .collect::<Vec<_>>()
        };
        assert_eq!(lines.len(), 3, "{lines:#?}");
        assert!(lines[0].trim_start().starts_with("64 µs – 128 µs"));
        assert_eq!(lines.iter().map(|line| bars(line)).collect::<Vec<_>>(), [vec![8, 2], vec![], vec![4]]);
    }

    #[test]
    fn headings_of_both_bars_stand_where_the_bars_begin() {
        for width in [0, 40, 81, 100] {
            let (name, bar) = columns(width);
            let lines = lines(&outcome(&[100]), &outcome(&[100]), width);
            let line: Vec<char> = lines[0].chars().collect();
            let begins_at = |at: usize| line.get(at) == Some(&'█') && line.get(at - 1) == Some(&' ');
            assert!(begins_at(name) && begins_at(name + bar), "{width} columns: {lines:#?}");
        }
    }
}
