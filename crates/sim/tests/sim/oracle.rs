//! The oracle: a stick and a plain array of bytes take the same random requests, and every read is compared
//! with the array.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::{
    Buffer, ByteRange, Bytes, DeviceExt, Lba, Op, Pattern, Payload, ReadInto, SECTOR, Success,
};
use flashscope_sim::{Target, VirtualStick};
use proptest::prelude::*;

// More than two regions of the contents' map, so that requests cross chunks and regions.
const CAPACITY: Bytes = Bytes::mib(34);

#[derive(Debug, Clone, Copy)]
enum Action {
    WritePattern(Pattern),
    WriteBytes(u64),
    Discard,
    ReadBytes,
    Check(Pattern),
}

/// The expected contents of the stick.
struct Model(Vec<u8>);

impl Model {
    fn bytes(&mut self, range: ByteRange) -> &mut [u8] {
        &mut self.0[range.offset.to_usize()..range.end().to_usize()]
    }
}

fn patterns() -> impl Strategy<Value = Pattern> {
    (0..3u64, 0..3u32).prop_map(|(seed, generation)| Pattern { seed, generation })
}

fn actions() -> impl Strategy<Value = Action> {
    prop_oneof![
        3 => patterns().prop_map(Action::WritePattern),
        2 => any::<u64>().prop_map(Action::WriteBytes),
        1 => Just(Action::Discard),
        2 => Just(Action::ReadBytes),
        2 => patterns().prop_map(Action::Check),
    ]
}

/// Ranges of one sector to several chunks, clustered around four offsets so that they overlap.
fn ranges() -> impl Strategy<Value = ByteRange> {
    let starts = prop_oneof![Just(0u64), Just(32_700), Just(65_500), Just(69_000)];
    let lengths = prop_oneof![1..16u64, 100..140u64, 1..500u64];
    (starts, 0..300u64, lengths).prop_map(|(start, shift, length)| {
        let start = start + shift;
        let length = length.min(CAPACITY.sectors().0 - start);
        ByteRange::new(Lba(start).offset(), Lba(length).offset())
    })
}

/// Literal bytes: sectors of the pattern, misplaced sectors, and sectors of one value.
fn literal(salt: u64, range: ByteRange) -> Buffer {
    let mut buffer = Buffer::zeroed(range.length);
    let pattern = Pattern { seed: salt % 3, generation: 1 };
    for (index, block) in buffer.chunks_exact_mut(512).enumerate() {
        match (salt >> (index % 60)) & 3 {
            0 => pattern.fill(Lba(range.offset.sectors().0 + index as u64), block),
            1 => pattern.fill(Lba(index as u64), block),
            value => block.fill(u8::try_from(value).unwrap()),
        }
    }
    buffer
}

fn apply(stick: &mut VirtualStick, model: &mut Model, action: Action, range: ByteRange) {
    let op = match action {
        Action::WritePattern(pattern) => {
            pattern.fill(range.offset.sectors(), model.bytes(range));
            Op::write(range, pattern)
        }
        Action::WriteBytes(salt) => {
            let buffer = literal(salt, range);
            model.bytes(range).copy_from_slice(&buffer);
            Op::Write { range, payload: Payload::Bytes(buffer) }
        }
        Action::Discard => {
            model.bytes(range).fill(0);
            Op::Discard { range }
        }
        Action::ReadBytes => {
            let bytes = stick.read_bytes(range).unwrap().unwrap();
            assert!(*bytes == *model.bytes(range), "read of {range}");
            return;
        }
        Action::Check(pattern) => Op::Read { range, into: ReadInto::Check(pattern) },
    };
    let outcome = stick.run(op).unwrap().outcome.unwrap();
    let expected = match action {
        Action::Check(pattern) => {
            Success::of_check(pattern.check(range.offset.sectors(), model.bytes(range)))
        }
        _ => Success::Done,
    };
    assert_eq!(outcome, expected, "{action:?} of {range}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_read_matches_the_model(steps in prop::collection::vec((actions(), ranges()), 1..120)) {
        let target = Target::parse("patriot-xt-16g?capacity=34MiB&erase_block=2MiB").unwrap();
        let mut stick = VirtualStick::new(&target.profile, 1);
        let mut model = Model(vec![0; CAPACITY.to_usize()]);
        for (action, range) in steps {
            apply(&mut stick, &mut model, action, range);
        }
        let whole = stick.read_bytes(ByteRange::new(Bytes::ZERO, CAPACITY)).unwrap().unwrap();
        prop_assert!(*whole == *model.0);
    }
}

#[test]
fn check_finds_a_single_stale_sector() {
    let mut stick = flashscope_sim::target::open("generic-2g").unwrap();
    let pattern = Pattern::new(9);
    let large = ByteRange::new(Bytes::mib(100), Bytes::mib(4));
    stick.run(Op::write(large, pattern)).unwrap().outcome.unwrap();
    let one = ByteRange::new(Bytes::mib(101), SECTOR);
    stick.run(Op::write(one, pattern.next_generation())).unwrap().outcome.unwrap();
    let check = Op::Read { range: large, into: ReadInto::Check(pattern) };
    let Ok(Success::Wrong(report)) = stick.run(check).unwrap().outcome else {
        unreachable!("the stale sector was not found")
    };
    assert_eq!((report.right, report.stale), (8191, 1));
    assert_eq!(report.first_wrong.unwrap().0, one.offset.sectors());
}
