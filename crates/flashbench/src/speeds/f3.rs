//! f3write and f3read: the average speeds of large files. f3's units are binary (`MB` is 2^20 bytes).

use flashscope_record::observation::{Direction, Order, PublishedSpeed, ReadBack};

use super::{Speeds, number};

pub(super) fn read(lines: &[&str]) -> Option<Speeds> {
    let rows: Vec<PublishedSpeed> = lines.iter().filter_map(|line| row(line)).collect();
    let version = lines.iter().find_map(|line| {
        let rest = line.trim().strip_prefix("F3 write ").or_else(|| line.trim().strip_prefix("F3 read "))?;
        rest.split_whitespace().next()
    });
    let sectors = |name: &str| lines.iter().find_map(|line| sectors(line, name)).unwrap_or(0);
    let (right, lost) = (sectors("Data OK:"), sectors("Data LOST:"));
    let read_back = ReadBack { places: right.saturating_add(lost), lost };
    (!rows.is_empty()).then(|| Speeds {
        program: version.map_or_else(|| "f3".to_owned(), |version| format!("f3 {version}")),
        rows,
        read_back,
        remarks: vec!["f3 counts 1 MB as 1,048,576 bytes; here 1 MB is 1,000,000 bytes".to_owned()],
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

/// `Data LOST: 0.00 Byte (0 sectors)`. More sectors than the largest number are that many.
fn sectors(line: &str, name: &str) -> Option<u32> {
    let (_, sectors) = line.trim().strip_prefix(name)?.split_once('(')?;
    let sectors: u64 = sectors.split_whitespace().next()?.parse().ok()?;
    Some(sectors.try_into().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::{sample, speeds_of};
    use super::*;

    #[test]
    fn averages_are_binary_and_sequential() {
        let speeds = speeds_of(&sample("f3.txt")).unwrap();
        assert_eq!((speeds.program.as_str(), speeds.rows.len(), speeds.read_back.lost), ("f3 8.0", 2, 0));
        let write = &speeds.rows[0];
        assert_eq!(
            (write.direction, write.order, write.request, write.is_direct),
            (Direction::Write, Some(Order::Linear), None, None)
        );
        assert!((write.bytes_per_s / (291.32 * 1_048_576.0) - 1.0).abs() < 1e-9, "{write:?}");
    }

    #[test]
    fn lost_sectors_are_counted() {
        let text =
            sample("f3.txt").replace("LOST: 0.00 Byte (0 sectors)", "LOST: 27.71 GB (58112000 sectors)");
        let read_back = speeds_of(&text).unwrap().read_back;
        assert_eq!(read_back.lost, 58_112_000);
        assert!(read_back.places > read_back.lost, "{read_back:?}");
        assert_eq!(sectors("Data LOST: 9.00 PB (99999999999 sectors)", "Data LOST:"), Some(u32::MAX));
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
