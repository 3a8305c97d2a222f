//! The text report of KDiskMark, which has CrystalDiskMark's form: decimal units.

use flashscope_record::observation::{Direction, Order, PublishedSpeed, ReadBack};

use super::{Speeds, number};

pub(super) fn read(lines: &[&str]) -> Option<Speeds> {
    let mut direction = None;
    let (mut rows, mut remarks) = (Vec::new(), Vec::new());
    for line in lines.iter().map(|line| line.trim()) {
        direction = match line {
            "[Read]" => Some(Direction::Read),
            "[Write]" => Some(Direction::Write),
            // Reads and writes together have no direction.
            _ if line.starts_with('[') && line.ends_with(']') => None,
            _ => direction,
        };
        let Some(direction) = direction.filter(|_| line.contains("):") && line.contains("MB/s")) else {
            continue;
        };
        match row(line, direction) {
            Some(row) => rows.push(row),
            None => remarks.push(format!("a row without a valid speed is left out: {line}")),
        }
    }
    let has = |name: &str| lines.iter().any(|line| line.contains(name));
    let program = if has("CrystalDiskMark") { "CrystalDiskMark" } else { "KDiskMark" };
    (!rows.is_empty()).then(|| Speeds {
        program: program.to_owned(),
        rows,
        read_back: ReadBack::default(),
        remarks,
    })
}

/// `Sequential 1 MiB (Q= 8, T= 1):   528.053 MB/s [    528.1 IOPS] < 14449.94 us>`
fn row(line: &str, direction: Direction) -> Option<PublishedSpeed> {
    let (name, figures) = line.split_once("):")?;
    let (what, queue) = name.split_once('(')?;
    let mut words = what.split_whitespace();
    let order = match words.next()? {
        "Sequential" | "SEQ" => Order::Linear,
        "Random" | "RND" => Order::Random,
        _ => return None,
    };
    let request = format!("{}{}", words.next()?, words.next()?).parse().ok()?;
    let count = |key: &str| {
        let value = queue.split(',').find_map(|part| part.trim().strip_prefix(key))?;
        value.trim().parse().ok().filter(|count| (1..=1 << 20).contains(count))
    };
    let (speed, rest) = figures.split_once("MB/s")?;
    let iops = rest.split_once('[').and_then(|(_, rest)| number(rest.split("IOPS").next()?));
    Some(PublishedSpeed {
        order: Some(order),
        request: Some(request),
        queue_depth: count("Q="),
        threads: count("T="),
        requests_per_s: iops,
        ..PublishedSpeed::new(direction, number(speed)? * 1e6)
    })
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::super::{sample, speeds_of};
    use super::*;

    #[test]
    fn rows_without_a_speed_are_named() {
        let text = sample("kdiskmark.txt").replace("98.120 MB/s", "nan MB/s");
        let speeds = speeds_of(&text).unwrap();
        assert_eq!((speeds.rows.len(), speeds.remarks.len()), (3, 1), "{:?}", speeds.remarks);
        assert!(speeds.remarks[0].contains("nan MB/s"), "{:?}", speeds.remarks);
    }

    #[test]
    fn each_row_keeps_what_it_states() {
        let speeds = speeds_of(&sample("kdiskmark.txt")).unwrap();
        assert_eq!((speeds.program.as_str(), speeds.rows.len()), ("KDiskMark", 4));
        let last = &speeds.rows[3];
        assert_eq!(
            (last.direction, last.order, last.request),
            (Direction::Write, Some(Order::Random), Some(Bytes::kib(4)))
        );
        assert_eq!(
            (last.queue_depth, last.threads, last.requests_per_s, last.is_direct),
            (Some(32), Some(16), Some(125.0), None)
        );
        assert!((last.bytes_per_s - 512e3).abs() < 1.0);
    }

    #[test]
    fn broken_rows_are_left_out() {
        for row in [
            "Sequential 1 MiB (Q= 8, T= 1)",
            "Sequential 1 XiB (Q= 8, T= 1): 5 MB/s",
            "Diagonal 1 MiB (Q=1): 5 MB/s",
            "Sequential 1 MiB (Q=1, T=1): 0.000 MB/s",
        ] {
            assert_eq!(speeds_of(&format!("[Read]\n{row}\n")), None, "{row}");
        }
        assert_eq!(speeds_of("Sequential 1 MiB (Q= 8, T= 1): 5 MB/s"), None, "without a direction");
    }

    #[test]
    fn lines_that_are_no_rows_give_no_remark() {
        let report = sample("kdiskmark.txt");
        // The head of the second report, and the note, stand below the writes of the report before them.
        let speeds = speeds_of(&format!("{report}\n{report}Note (my own): behind a hub\n")).unwrap();
        assert_eq!((speeds.rows.len(), speeds.remarks), (8, Vec::new()));
    }
}
