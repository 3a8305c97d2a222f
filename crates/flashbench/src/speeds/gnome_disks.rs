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

/// `31.9 MB/s (100 samples)`
fn speed(text: &str) -> Option<f64> {
    let mut words = text.trim_start_matches([':', ' ', '\t']).split_whitespace();
    let value = number(words.next()?)?;
    let scale = match words.next()? {
        "kB/s" | "KB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        _ => return None,
    };
    Some(value * scale)
}

/// `10.0 MiB (10,485,760 bytes)`
fn bytes_in_brackets(text: &str) -> Option<Bytes> {
    let (_, inside) = text.split_once('(')?;
    let digits: String = inside.split_whitespace().next()?.chars().filter(char::is_ascii_digit).collect();
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
    fn broken_rates_are_left_out() {
        for text in ["Average Read Rate", "Average Read Rate - MB/s", "Average Read Rate 5 apples"] {
            assert_eq!(speeds_of(text), None, "{text}");
        }
    }
}
