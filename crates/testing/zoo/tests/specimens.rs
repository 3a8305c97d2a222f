//! Specimens can be made, are the same every time, and are as many kinds as they should be.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern};
use flashscope_zoo::{Fact, Habitat, Specimen};

const COUNT: u64 = 1200;

fn specimens() -> impl Iterator<Item = Specimen> {
    (0..COUNT).map(|index| Specimen::new(7, index).unwrap())
}

fn bytes(specimen: &Specimen, id: &str) -> Option<u64> {
    match specimen.truth.fact(id) {
        Some(Fact::Bytes { low, .. }) => Some(low.get()),
        _ => None,
    }
}

fn count(specimen: &Specimen, id: &str) -> Option<u32> {
    match specimen.truth.fact(id) {
        Some(Fact::Count(count)) => Some(count),
        _ => None,
    }
}

#[test]
fn a_fifth_is_outside_the_space_and_every_kind_is_there() {
    let outside: Vec<Habitat> =
        specimens().map(|each| each.habitat).filter(|habitat| *habitat != Habitat::Inside).collect();
    assert!(outside.len() as u64 * 5 >= COUNT, "{} of {COUNT}", outside.len());
    let kinds: BTreeSet<&str> = outside
        .iter()
        .map(|habitat| match habitat {
            Habitat::Outside(kind) => kind.as_str(),
            Habitat::Inside => "",
        })
        .collect();
    assert_eq!(kinds.len(), 11, "{kinds:?}");
}

#[test]
fn the_whole_space_is_drawn() {
    let inside: Vec<Specimen> = specimens().filter(|each| each.habitat == Habitat::Inside).collect();
    let odd = |bytes: u64| bytes >> bytes.trailing_zeros();
    let blocks: BTreeSet<u64> = inside.iter().filter_map(|each| bytes(each, "erase_block_bytes")).collect();
    assert_eq!(blocks.iter().map(|block| odd(*block)).collect::<BTreeSet<_>>(), [1, 3, 5, 7].into());
    assert_eq!(blocks.first(), Some(&Bytes::kib(64).get()));
    assert_eq!(blocks.last(), Some(&Bytes::mib(256).get()));
    let pages: BTreeSet<u64> = inside.iter().filter_map(|each| bytes(each, "page_bytes")).collect();
    assert_eq!(pages.iter().map(|page| odd(*page)).collect::<BTreeSet<_>>(), [1, 3, 5, 7].into());
    let linear: BTreeSet<u32> = inside.iter().filter_map(|each| count(each, "open_units_linear")).collect();
    assert!(linear.first() == Some(&1) && linear.last() > Some(&120) && linear.last() <= Some(&128));
    let classes: BTreeSet<String> =
        inside.iter().filter_map(|each| each.truth.fact("ftl_class")).map(|fact| fact.to_string()).collect();
    assert_eq!(classes.len(), 8, "{classes:?}");
}

/// Reads and writes of a specimen take the same times in every device that it makes.
#[test]
fn the_same_number_makes_the_same_device() {
    let times = |specimen: &Specimen| -> Vec<Duration> {
        let mut device = specimen.device().unwrap();
        let range = |index: u64| ByteRange::new(Bytes::kib(28) * index, Bytes::kib(8));
        let ops = (0..40).map(|index| match index % 2 {
            0 => Op::read(range(index)),
            _ => Op::write(range(index), Pattern::new(1)),
        });
        ops.map_while(|op| device.run(op).ok()).map(|completion| completion.latency()).collect()
    };
    for index in 0..60 {
        let (one, other) = (Specimen::new(3, index).unwrap(), Specimen::new(3, index).unwrap());
        assert_eq!(one.describe(), other.describe());
        assert_eq!((times(&one), &one.truth), (times(&other), &other.truth));
    }
    let (one, other) = (Specimen::new(3, 0).unwrap(), Specimen::new(4, 0).unwrap());
    assert_ne!(one.describe(), other.describe());
}

/// Where nothing is true, nothing is said to be hidden, and the other way round.
#[test]
fn what_is_hidden_is_a_fact() {
    for specimen in specimens() {
        for (id, fact, hidden) in specimen.truth.all() {
            assert!(hidden.is_none() || fact != Fact::Nothing, "{id} of {}", specimen.index);
        }
    }
}
