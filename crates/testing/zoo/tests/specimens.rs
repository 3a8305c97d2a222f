//! Specimens can be made, are reproducible, and cover all kinds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern};
use flashscope_sim::Profile;
use flashscope_zoo::{Case, Fact, Scope, Specimen};

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
fn outside_specimens_are_a_fifth_and_cover_every_kind() {
    let outside: Vec<Scope> =
        specimens().map(|each| each.scope).filter(|scope| *scope != Scope::Inside).collect();
    assert!(outside.len() as u64 * 5 >= COUNT, "{} of {COUNT}", outside.len());
    let kinds: BTreeSet<&str> = outside
        .iter()
        .map(|scope| match scope {
            Scope::Outside(kind) => kind.as_str(),
            Scope::Inside | Scope::Variant(_) => "",
        })
        .collect();
    assert_eq!(kinds.len(), 11, "{kinds:?}");
}

#[test]
fn inside_specimens_cover_the_hypothesis_space() {
    let inside: Vec<Specimen> = specimens().filter(|each| each.scope == Scope::Inside).collect();
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

/// All devices of a specimen have the same latencies.
#[test]
fn same_seed_and_index_make_the_same_device() {
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

/// An absent fact is never hidden.
#[test]
fn hidden_facts_are_not_absent() {
    for specimen in specimens() {
        for (id, fact, hidden) in specimen.truth.all() {
            assert!(hidden.is_none() || fact != Fact::Absent, "{id} of {}", specimen.index);
        }
    }
}

#[test]
fn described_profiles_parse_and_serialize_to_the_same_profile() {
    let cases = (0..4).map(|index| Case::new(7, index, 1).unwrap().describe());
    let texts = specimens().take(120).map(|specimen| specimen.describe()).chain(cases);
    let mut count = 0;
    for text in texts.filter(|text| text.contains("[link]")) {
        let profile = Profile::parse(&text).unwrap();
        assert_eq!(Profile::parse(&profile.to_toml().unwrap()).unwrap(), profile, "{text}");
        count += 1;
    }
    assert!(count > 80, "{count}");
}
