//! The FAT area by openings, by writes at the start of blocks, and by the speeds of a published table.

use flashscope_record::finding::Outcome;
use flashscope_record::observation::{OpenedBlock, Order};

use super::*;

const BLOCK: Bytes = Bytes::mib(4);
const FAST: Duration = Duration::from_millis(4);
const SLOW: Duration = Duration::from_millis(90);

fn data() -> FatAreaData {
    FatAreaData { erase_block: BLOCK, baseline: Some(Times::Each(vec![FAST; 8])), ..FatAreaData::default() }
}

/// First blocks that evict another when they are opened, or do not, between ordinary ones.
fn openings(evicts: &[(u32, bool)]) -> FatAreaData {
    let mut data = data();
    let mut open = |unit, time| data.opened.push(OpenedBlock { unit, time });
    (0..6).for_each(|_| open(None, SLOW));
    for (unit, evicts) in evicts {
        open(Some(*unit), if *evicts { SLOW } else { FAST });
        open(None, FAST);
        open(None, SLOW);
    }
    data
}

#[test]
fn the_area_of_two_blocks_ends_before_the_third() {
    let found = infer(&openings(&[(0, false), (1, false), (2, true), (3, true), (4, true)]));
    assert_eq!(found.bytes(), Some(BLOCK * 2));
    let Outcome::Found { low, high, .. } = found.outcome else { panic!("{found:?}") };
    let least = Value::Bytes(BLOCK + Bytes::new(512));
    assert_eq!((low, high), (least, Value::Bytes(BLOCK * 2)), "it may end inside the second block");
    let alike = infer(&openings(&[(0, true), (1, true), (2, true)]));
    assert_eq!(alike.bytes(), Some(Bytes::ZERO), "{alike:?}");
}

/// As where neighbours share a log: the first block evicts another when it is opened first, and none later.
#[test]
fn an_area_whose_first_opening_evicts_a_block_has_half_the_confidence() {
    let reopened = [(0, false), (0, false), (0, false), (1, false), (1, false), (2, true), (2, true)];
    let found = infer(&openings(&reopened));
    assert!(found.bytes() == Some(BLOCK * 2) && found.confidence().get() >= SURE_ENOUGH, "{found:?}");
    let turns: Vec<(u32, bool)> = [(0, true)].into_iter().chain(reopened).collect();
    let evicting = infer(&openings(&turns));
    assert!(evicting.confidence().get() < SURE_ENOUGH, "{evicting:?}");
}

#[test]
fn an_area_whose_end_was_not_reached_is_unknown() {
    let reason = infer(&openings(&[(0, false), (1, false), (2, false)])).reason().cloned();
    assert_eq!(reason, Some(Reason::FatAreaEndNotReached { blocks: 3 }));
}

#[test]
fn an_area_is_unknown_if_no_opening_evicted_another_block() {
    let fast = |unit| OpenedBlock { unit, time: FAST };
    let opened = (0..12).map(|index| fast((index % 2 == 0).then_some(index / 2))).collect();
    let reason = infer(&FatAreaData { opened, ..data() }).reason().cloned();
    assert_eq!(reason, Some(Reason::NothingEvicted));
}

#[test]
fn an_area_is_found_only_with_enough_confidence() {
    let [keeps, evicts] = [false, true];
    let twice = |third: [bool; 2]| {
        let turns = [(0, keeps), (0, keeps), (1, evicts), (1, evicts), (2, third[0]), (2, third[1])];
        infer(&openings(&turns))
    };
    assert_eq!(twice([evicts, keeps]).bytes(), Some(BLOCK));
    let unsure = twice([keeps, keeps]);
    let Some(Reason::Likely { value, confidence, .. }) = unsure.reason() else { panic!("{unsure:?}") };
    assert_eq!(*value, Value::Bytes(BLOCK));
    assert!((0.7..SURE_ENOUGH).contains(&confidence.get()), "{confidence:?}");
}

fn start_writes(blocks: &[[Duration; 3]]) -> Finding {
    infer(&FatAreaData { start_writes: blocks.iter().map(|block| block.to_vec()).collect(), ..data() })
}

#[test]
fn the_area_ends_at_the_first_block_of_slow_start_writes() {
    assert_eq!(start_writes(&[[FAST; 3], [SLOW; 3]]).bytes(), Some(BLOCK));
    assert_eq!(start_writes(&[[FAST; 3], [SLOW, FAST, SLOW]]).bytes(), Some(BLOCK), "one may be free");
    let varies = start_writes(&[[FAST; 3], [SLOW, FAST, FAST]]);
    assert_eq!(varies.reason(), Some(&Reason::OpeningVaries(1)), "{varies:?}");
    let open = start_writes(&[[FAST; 3]; 2]);
    assert_eq!(open.reason(), Some(&Reason::FatAreaEndNotReached { blocks: 2 }));
}

/// A published table: the time of each request size in each block, milliseconds.
fn table(rows: &[(u32, &[(Bytes, u64)])]) -> Finding {
    let cells = rows.iter().flat_map(|(unit, sizes)| {
        sizes.iter().map(|(request, milliseconds)| FatAreaCell {
            unit: *unit,
            order: Order::Linear,
            request: *request,
            times: Times::Mean { per_request: Duration::from_millis(*milliseconds), requests: None },
        })
    });
    infer(&FatAreaData { erase_block: BLOCK, cells: cells.collect(), ..FatAreaData::default() })
}

fn small_writes(milliseconds: &[u64]) -> Finding {
    let sizes: Vec<[(Bytes, u64); 1]> = milliseconds.iter().map(|each| [(Bytes::kib(4), *each)]).collect();
    table(&(0..).zip(sizes.iter().map(|each| each.as_slice())).collect::<Vec<_>>())
}

#[test]
fn fast_small_writes_of_a_table_are_compared_with_the_later_half_of_its_blocks() {
    assert_eq!(small_writes(&[10, 20, 20, 20, 20, 20]).bytes(), Some(BLOCK));
    assert_eq!(small_writes(&[10, 10, 10, 10, 20, 20, 20, 20]).bytes(), Some(BLOCK * 4));
    assert_eq!(small_writes(&[20, 20, 21, 20, 20, 20]).bytes(), Some(Bytes::ZERO));
}

#[test]
fn a_table_whose_blocks_differ_otherwise_is_unknown() {
    let varies = small_writes(&[20, 20, 10, 20, 20, 20]);
    assert!(matches!(varies.reason(), Some(Reason::SmallWritesVary { .. })), "{varies:?}");
    let later = small_writes(&[10, 20, 10, 20, 20, 20]);
    let expected = Reason::Log(LogFault::FastAfterSlowBlock { fast: 2, slow: 1 });
    assert_eq!(later.reason(), Some(&expected));
    let alike = small_writes(&[31, 20, 20, 20, 20, 20]);
    assert_eq!(alike.bytes(), Some(Bytes::ZERO), "{alike:?}");
}

#[test]
fn only_small_writes_of_a_table_count() {
    let (small, large) = (Bytes::kib(4), BLOCK / 2);
    let rows = |first| {
        let sizes = |each| [(small, each), (large, 900), (BLOCK, 1800)];
        [first, 20, 20, 20, 20, 20].map(sizes)
    };
    let rows = rows(10);
    let rows: Vec<(u32, &[(Bytes, u64)])> = (0..).zip(rows.iter().map(|row| row.as_slice())).collect();
    assert_eq!(table(&rows).bytes(), Some(BLOCK));
    let cut: Vec<(u32, &[(Bytes, u64)])> = rows
        .iter()
        .map(|(unit, row)| match unit {
            0 | 5 => (*unit, &row[..1]),
            _ => (*unit, &row[1..]),
        })
        .collect();
    assert_eq!(table(&cut).reason(), Some(&Reason::Log(LogFault::CutShort)));
}
