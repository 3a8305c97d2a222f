//! Counterfeits over a virtual stick: the claimed sizes, and the contents that f3 would find.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern, ReadInto, Success};
use flashscope_sim::target;

const PATTERN: Pattern = Pattern::new(1);

fn counterfeit(fault: &str) -> Faulty<'static> {
    let stick = target::open("patriot-xt-16g?capacity=8GiB&noise=0").unwrap();
    let fault: FaultSpec = fault.parse().unwrap();
    Faulty::new(stick, &[fault], 1).unwrap()
}

fn write(device: &mut impl Device, range: ByteRange) {
    assert!(device.run(Op::write(range, PATTERN)).unwrap().outcome.is_ok());
}

fn is_right(device: &mut impl Device, range: ByteRange) -> bool {
    let check = Op::Read { range, into: ReadInto::Check(PATTERN) };
    device.run(check).unwrap().outcome == Ok(Success::AllRight)
}

/// Whether a block is readable at once, and after 2 GiB were written elsewhere.
fn is_kept(device: &mut impl Device, block: ByteRange, elsewhere: Bytes) -> (bool, bool) {
    write(device, block);
    let at_once = is_right(device, block);
    let end = elsewhere + Bytes::gib(2).min(device.capabilities().capacity - elsewhere);
    for offset in (elsewhere.get()..end.get()).step_by(32 << 20) {
        let length = Bytes::mib(32).min(end - Bytes::new(offset));
        write(device, ByteRange::new(Bytes::new(offset), length));
    }
    (at_once, is_right(device, block))
}

/// The parameters of the eleven drives that `f3probe`'s self-test emulates: real size, claimed size, wrap,
/// block, cache (M. Machado, f3, Fight Flash Fraud). For each: whether the first and the last block are kept,
/// at once and later.
#[test]
fn eleven_drives_of_f3probe_keep_and_lose_the_expected_blocks() {
    const GIB: u64 = 1 << 30;
    let good = (true, true);
    let (lost, cached) = ((false, false), (true, false));
    let drives = [
        ("limbo:real=2MiB,fake=2MiB", 2 << 20, 512, good, good),
        ("limbo:real=1GiB,fake=1GiB,block=4KiB", GIB, 4096, good, good),
        ("limbo:real=0,fake=1GiB", GIB, 512, lost, lost),
        ("limbo:real=1777645568,fake=32505331712", 32_505_331_712, 512, good, lost),
        ("wrap:real=2GiB,fake=16GiB", 16 * GIB, 512, cached, cached),
        ("chain:wrap=4GiB,real=2GiB,fake=16GiB", 16 * GIB, 512, cached, lost),
        ("limbo:real=1049088,fake=1TiB", 1 << 40, 512, good, lost),
        ("limbo:real=7600799744,fake=67108864000,cache=256MiB", 67_108_864_000, 512, good, cached),
        (
            "limbo:real=7600799744,fake=67108864000,cache=256MiB,lookup=loose",
            67_108_864_000,
            512,
            good,
            cached,
        ),
        ("limbo:real=0,fake=1TiB,cache=1GiB", 1 << 40, 512, cached, cached),
        ("limbo:real=0,fake=1TiB,cache=1GiB,lookup=loose", 1 << 40, 512, cached, cached),
    ];
    for (text, claimed, block, first, last) in drives {
        let mut device = counterfeit(text);
        let capabilities = device.capabilities();
        assert_eq!(
            (capabilities.capacity.get(), capabilities.logical_block.get()),
            (claimed, block),
            "{text}"
        );
        let block = Bytes::new(block);
        let elsewhere = Bytes::gib(8).min(capabilities.capacity / 2).max(Bytes::kib(64));
        let first_block = ByteRange::new(Bytes::ZERO, block);
        assert_eq!(is_kept(&mut device, first_block, elsewhere), first, "first of {text}");
        let last_block = ByteRange::new(capabilities.capacity - block, block);
        assert_eq!(
            is_kept(&mut device, last_block, if claimed < 16 * GIB { Bytes::mib(1) } else { Bytes::gib(8) }),
            last,
            "last of {text}"
        );
    }
}

/// A counterfeit filled with the pattern stores references, not bytes, and every block identifies its origin.
#[test]
fn filled_counterfeit_has_misplaced_blocks_as_f3_would_find() {
    let mut device = counterfeit("wrap:real=2GiB");
    let step = Bytes::mib(64);
    for offset in (0..Bytes::gib(8).get()).step_by(step.to_usize()) {
        write(&mut device, ByteRange::new(Bytes::new(offset), step));
    }
    for gib in 0..8 {
        let range = ByteRange::new(Bytes::gib(gib), step);
        let check = Op::Read { range, into: ReadInto::Check(PATTERN) };
        let outcome = device.run(check).unwrap().outcome.unwrap();
        match outcome {
            Success::Wrong(report) => assert_eq!((gib < 6, report.misplaced), (true, step.sectors().0)),
            other => assert_eq!((gib >= 6, other), (true, Success::AllRight)),
        }
    }
}
