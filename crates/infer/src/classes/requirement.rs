//! What each class requires.
//!
//! Sources: SD Association, speed classes (C2 to C10: 2 to 10 MB/s; U1 10, U3 30; V6 to V90: 6 to 90) and
//! application performance classes (sustained sequential write 10 MB/s; 4 KiB random read and write: A1
//! 1,500 and 500 IOPS, A2 4,000 and 2,000 IOPS, with the card's command queue and cache).

use flashscope_record::claims::SpeedMark;
use flashscope_record::observation::{Direction, Order};

use super::RANDOM_REQUEST;

/// The random requests of 4 KiB that an application performance class requires, a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomIops {
    /// Reads.
    pub read: f64,
    /// Writes.
    pub write: f64,
}

/// Application performance class 1.
pub const A1: RandomIops = RandomIops { read: 1500.0, write: 500.0 };
/// Application performance class 2.
pub const A2: RandomIops = RandomIops { read: 4000.0, write: 2000.0 };

/// The lowest speed that a class allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirement {
    /// Reads or writes.
    pub direction: Direction,
    /// Sequential or random.
    pub order: Order,
    /// The least speed, bytes per second.
    pub bytes_per_s: f64,
}

impl Requirement {
    const fn new(direction: Direction, order: Order, bytes_per_s: f64) -> Self {
        Self { direction, order, bytes_per_s }
    }
}

/// Whether a test of these claims writes; one of no claims tests every class.
#[must_use]
pub fn need_writes(claims: &[SpeedMark]) -> bool {
    let mut required = claims.iter().flat_map(|mark| requirements(*mark));
    claims.is_empty() || required.any(|requirement| requirement.direction == Direction::Write)
}

/// All requirements of a claim. "Up to" is the sequential read speed, as sellers use it.
pub fn requirements(mark: SpeedMark) -> Vec<Requirement> {
    let stream =
        |mb_per_s: u8| vec![Requirement::new(Direction::Write, Order::Linear, f64::from(mb_per_s) * 1e6)];
    match mark {
        SpeedMark::SpeedClass(class) | SpeedMark::VideoClass(class) => stream(class),
        SpeedMark::UhsGrade(grade) => stream(grade * 10),
        SpeedMark::UpTo(mb_per_s) => {
            vec![Requirement::new(Direction::Read, Order::Linear, mb_per_s * 1e6)]
        }
        SpeedMark::ApplicationClass(class) => {
            let RandomIops { read, write } = if class == 1 { A1 } else { A2 };
            let iops = |direction, iops: f64| {
                Requirement::new(direction, Order::Random, iops * RANDOM_REQUEST.as_f64())
            };
            let mut all = stream(10);
            all.extend([iops(Direction::Read, read), iops(Direction::Write, write)]);
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claim_about_reading_needs_no_writes() {
        let up_to = SpeedMark::UpTo(90.0);
        assert!(!need_writes(&[up_to]));
        assert!(need_writes(&[up_to, SpeedMark::UhsGrade(3)]));
        assert!(need_writes(&[]), "every class is tested");
    }
}
