//! f3write and f3read: the average speeds of large files. f3's units are binary (`MB` is 2^20 bytes).

use flashscope_record::observation::{Direction, Order, PublishedSpeed};

use super::{Speeds, number};

pub(super) fn read(lines: &[&str]) -> Option<Speeds> {
    let rows: Vec<PublishedSpeed> = lines.iter().filter_map(|line| row(line)).collect();
    let version = lines.iter().find_map(|line| {
        let rest = line.trim().strip_prefix("F3 write ").or_else(|| line.trim().strip_prefix("F3 read "))?;
        rest.split_whitespace().next()
    });
    let lost = lines.iter().find_map(|line| lost_sectors(line)).filter(|lost| *lost > 0);
    let remark = lost.map(|lost| {
        format!("f3read lost {lost} sectors: the device is a counterfeit or failing; run flashscope verify")
    });
    (!rows.is_empty()).then(|| Speeds {
        program: version.map_or_else(|| "f3".to_owned(), |version| format!("f3 {version}")),
        rows,
        remarks: remark.into_iter().collect(),
    })
}

/// `Average writing speed: 10.43 MB/s`
fn row(line: &str) -> Option<PublishedSpeed> {
    let (what, speed) = line.trim().split_once(" speed: ")?;
    let direction = match what {
        "Average writing" => Direction::Write,
        "Average reading" => Direction::Read,
        _ => return None,
    };
    let mut words = speed.split_whitespace();
    let (value, unit) = (number(words.next()?)?, words.next()?);
    let scale = match unit {
        "Byte/s" | "Bytes/s" => 1.0,
        "KB/s" => 1024.0,
        "MB/s" => 1024.0 * 1024.0,
        "GB/s" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(PublishedSpeed { order: Some(Order::Linear), ..PublishedSpeed::new(direction, value * scale) })
}

/// `Data LOST: 0.00 Byte (0 sectors)`
fn lost_sectors(line: &str) -> Option<u64> {
    let (_, sectors) = line.trim().strip_prefix("Data LOST:")?.split_once('(')?;
    sectors.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::{sample, speeds_of};
    use super::*;

    #[test]
    fn averages_are_binary_and_sequential() {
        let speeds = speeds_of(&sample("f3.txt")).unwrap();
        assert_eq!((speeds.program.as_str(), speeds.rows.len(), speeds.remarks.len()), ("f3 8.0", 2, 0));
        let write = &speeds.rows[0];
        assert_eq!(
            (write.direction, write.order, write.request, write.is_direct),
            (Direction::Write, Some(Order::Linear), None, None)
        );
        assert!((write.bytes_per_s / (291.32 * 1_048_576.0) - 1.0).abs() < 1e-9, "{write:?}");
    }

    #[test]
    fn lost_sectors_are_remarked() {
        let text =
            sample("f3.txt").replace("LOST: 0.00 Byte (0 sectors)", "LOST: 27.71 GB (58112000 sectors)");
        assert!(speeds_of(&text).unwrap().remarks[0].contains("58112000 sectors"));
    }

    #[test]
    fn broken_averages_are_no_rows() {
        for text in [
            "Average writing speed: ",
            "Average writing speed: x MB/s",
            "Average writing speed: 5 XB/s",
            "Average writing speed: -1 MB/s",
        ] {
            assert_eq!(speeds_of(text), None, "{text}");
        }
    }
}
