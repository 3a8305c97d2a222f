//! The table of yardsticks: what each of the four speeds is judged by, for each kind of link.
//!
//! Sources: SD Association, speed classes (class 6: 6 MB/s, class 10: 10 MB/s, U3: 30 MB/s, sequential
//! writes) and application performance class A1 (1,500 IOPS random read, 500 random write, 4 KiB). USB 2
//! carries 30 to 42 MB/s in practice (`record::attachment`). The lower thresholds of random requests are a
//! third and a fifth of A1. Guess: published sticks reach 2 to 140 IOPS in random writes, cards that boot
//! well more than 100.
//!
//! No yardstick of sequential writes names a class: the number is a mean, and a class asks the slowest
//! allocation unit.

use flashscope_record::attachment::{Link, LinkKind};
use flashscope_record::observation::{Direction, Order};
use flashscope_record::verdict::{U3_BYTES_PER_S, Yardstick};

use crate::classes::{A1, RANDOM_REQUEST};

/// The speed of a link above which sticks are judged as USB 3 ones, bytes per second: more than USB 2
/// carries.
const USB3_BYTES_PER_S: f64 = 42e6;

/// The yardstick of a speed behind this link.
pub fn yardstick(direction: Direction, order: Order, link: Option<&Link>) -> Yardstick {
    let usb = link.filter(|link| matches!(link.kind, LinkKind::Usb { .. }));
    let is_usb3 = usb.is_some_and(|link| link.bytes_per_s.1 > USB3_BYTES_PER_S);
    // What USB 2 carries says nothing of a card in a slot of its own, or of an unknown link.
    let read_name = if usb.is_some() { "USB 2: 30 to 42" } else { "30 is good" };
    let per_s = |poor_below: f64, good_from: f64, name| Yardstick {
        poor_below: poor_below * 1e6,
        good_from: good_from * 1e6,
        name,
    };
    let iops = |poor_below: f64, good_from: f64, name| Yardstick {
        poor_below: poor_below * RANDOM_REQUEST.as_f64(),
        good_from: good_from * RANDOM_REQUEST.as_f64(),
        name,
    };
    match (order, direction, is_usb3) {
        (Order::Linear, Direction::Read, true) => per_s(42.0, 150.0, read_name),
        (Order::Linear, Direction::Read, false) => per_s(15.0, 30.0, read_name),
        (Order::Linear, Direction::Write, true) => per_s(10.0, U3_BYTES_PER_S / 1e6, "30 is good"),
        (Order::Linear, Direction::Write, false) => per_s(6.0, 10.0, "10 is good"),
        (Order::Random, Direction::Read, _) => iops(A1.read / 3.0, A1.read, "A1 asks 1,500"),
        (Order::Random, Direction::Write, _) => iops(A1.write / 5.0, A1.write, "A1 asks 500"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yardsticks_of_random_requests_name_what_they_ask() {
        for direction in [Direction::Read, Direction::Write] {
            let Yardstick { good_from, name, .. } = yardstick(direction, Order::Random, None);
            let digits: String = name.trim_start_matches("A1").chars().filter(char::is_ascii_digit).collect();
            assert_eq!(digits.parse(), Ok(good_from / RANDOM_REQUEST.as_f64()), "{name}");
        }
    }

    #[test]
    fn yardstick_of_a_mean_names_no_class_that_asks_the_slowest_unit() {
        let usb = Link::usb(5000.0, None).unwrap();
        for link in [Some(&usb), None] {
            let Yardstick { good_from, name, .. } = yardstick(Direction::Write, Order::Linear, link);
            assert_eq!(name, format!("{} is good", good_from / 1e6));
        }
    }

    #[test]
    fn only_a_usb_link_has_the_yardstick_of_usb() {
        let name = |link: Option<&Link>| yardstick(Direction::Read, Order::Linear, link).name;
        let usb = [480.0, 5000.0].map(|mbit_per_s| Link::usb(mbit_per_s, None).unwrap());
        assert_eq!(usb.each_ref().map(|link| name(Some(link))), ["USB 2: 30 to 42"; 2]);
        let [usb2, _] = usb;
        let card = Link { kind: LinkKind::CardBus { mode: "sd high-speed".to_owned() }, ..usb2 };
        assert_eq!([name(Some(&card)), name(None)], ["30 is good"; 2]);
    }
}
