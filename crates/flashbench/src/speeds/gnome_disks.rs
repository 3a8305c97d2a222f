//! The benchmark window of GNOME Disks, as people copy it: samples of one size all over the device, read and
//! written with direct I/O (UDisks, `OpenForBenchmark`). Units are decimal.

use flashscope_device::Bytes;
use flashscope_record::observation::{Direction, Order, PublishedSpeed, ReadBack};

use super::{Speeds, number};

pub(super) fn read(lines: &[&str]) -> Option<Speeds> {
    let after = |label: &str| lines.iter().find_map(|line| line.trim().strip_prefix(label));
    let sample = after("Sample Size").and_then(bytes_in_brackets);
    let rate = |(label, direction): (&str, Direction)| {
        let row = PublishedSpeed::new(direction, speed(after(label)?)?);
        Some(PublishedSpeed { order: Some(Order::Linear), request: sample, is_direct: Some(true), ..row })
    };
    let labels = [("Average Read Rate", Direction::Read), ("Average Write Rate", Direction::Write)];
    let rows: Vec<PublishedSpeed> = labels.into_iter().filter_map(rate).collect();
    (!rows.is_empty()).then(|| Speeds {
        program: "GNOME Disks".to_owned(),
        rows,
        read_back: ReadBack::default(),
        remarks: Vec::new(),
    })
}

/// `31.9 MB/s (100 samples)`, or `1 031,9 MB/s` where spaces separate thousands.
fn speed(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.trim_start_matches([':', ' ', '\t']).split_whitespace().collect();
    let scale_of = |word: &str| match word {
        "kB/s" | "KB/s" => Some(1e3),
        "MB/s" => Some(1e6),
        "GB/s" => Some(1e9),
        _ => None,
    };
    let (at, scale) = words.iter().enumerate().find_map(|(at, word)| Some((at, scale_of(word)?)))?;
    let (first, groups) = words.get(..at)?.split_first()?;
    let is_group = |word: &&str| word.bytes().take_while(u8::is_ascii_digit).count() == 3;
    let is_one = groups.is_empty()
        || (first.len() <= 3
            && first.bytes().all(|byte| byte.is_ascii_digit())
            && groups.iter().all(is_group));
    is_one.then(|| number(&words.get(..at)?.concat()))?.map(|value| value * scale)
}

/// `10.0 MiB (10,485,760 bytes)`
fn bytes_in_brackets(text: &str) -> Option<Bytes> {
    let (_, inside) = text.split_once('(')?;
    let number = inside.split(char::is_alphabetic).next()?;
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|bytes| (1..=1 << 40).contains(bytes)).map(Bytes::new)
}

#[cfg(test)]
mod tests {
    use super::super::{sample, speeds_of};
    use super::*;

    #[test]
    fn rates_are_direct_requests_of_the_sample_size() {
        let speeds = speeds_of(&sample("gnome-disks.txt")).unwrap();
        assert_eq!((speeds.program.as_str(), speeds.rows.len()), ("GNOME Disks", 2));
        let read = &speeds.rows[0];
        assert_eq!(
            (read.direction, read.request, read.is_direct),
            (Direction::Read, Some(Bytes::mib(10)), Some(true))
        );
        assert!((read.bytes_per_s - 31.9e6).abs() < 1.0);
    }

    #[test]
    fn spaces_may_separate_thousands() {
        for text in ["1 234,5 MB/s (100)", "1\u{202f}234,5 MB/s", "1234.5 MB/s", "- 1 234,5 MB/s"] {
            let found = speed(text);
            let is_right = found.is_some_and(|found| (found - 1234.5e6).abs() < 1.0);
            assert_eq!(is_right, !text.starts_with('-'), "{text}: {found:?}");
        }
        assert_eq!(speed("12 34,5 MB/s"), None);
        assert_eq!(speed("1,0 234 MB/s"), None);
        assert_eq!(speed("5 apples 1 MB/s"), None);
        assert_eq!(bytes_in_brackets("10,0 MiB (10 485 760 bytes)"), Some(Bytes::mib(10)));
    }

    #[test]
    fn broken_rates_are_left_out() {
        for text in ["Average Read Rate", "Average Read Rate - MB/s", "Average Read Rate 5 apples"] {
            assert_eq!(speeds_of(text), None, "{text}");
        }
    }
}
