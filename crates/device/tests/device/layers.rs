//! Every layer on the in-memory device: it changes one thing and passes other requests through.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::layer::{
    Budget, Clip, Cost, Fence, Interrupt, Interruptible, Meter, ReadOnly, Replay, Trace,
};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{
    Buffer, ByteRange, Bytes, Device, DeviceError, DeviceExt, FailureCause, Op, Pattern, Payload, ReadInto,
    Success, Tag,
};

const PATTERN: Pattern = Pattern::new(1);

fn memory() -> MemoryDevice {
    MemoryDevice::new(Bytes::mib(1))
}

fn range(offset_kib: u64, length_kib: u64) -> ByteRange {
    ByteRange::new(Bytes::kib(offset_kib), Bytes::kib(length_kib))
}

fn cause(device: &mut impl Device, op: Op) -> Option<FailureCause> {
    device.run(op).unwrap().outcome.err().map(|error| error.cause)
}

#[test]
fn requests_beyond_the_queue_depth_are_refused() {
    let mut device = memory();
    let queue_depth = device.capabilities().queue_depth;
    for tag in 0..queue_depth {
        device.submit(Tag(tag.into()), Op::read(range(0, 4))).unwrap();
    }
    assert_eq!(device.submit(Tag(99), Op::read(range(0, 4))), Err(DeviceError::QueueFull { queue_depth }));
}

#[test]
fn written_data_is_read_back() {
    let mut device = memory();
    assert!(device.run(Op::write(range(8, 16), PATTERN)).unwrap().outcome.is_ok());
    let check = |pattern| Op::Read { range: range(8, 16), into: ReadInto::Check(pattern) };
    assert_eq!(device.run(check(PATTERN)).unwrap().outcome, Ok(Success::AllRight));
    let Ok(Success::Wrong(report)) = device.run(check(PATTERN.next_generation())).unwrap().outcome else {
        panic!("an older generation was accepted as the newer one")
    };
    assert_eq!((report.right, report.stale), (0, 32));
    let bytes = device.read_bytes(range(8, 16)).unwrap().unwrap();
    assert_eq!(PATTERN.check(Bytes::kib(8).sectors(), &bytes).right, 32);
}

#[test]
fn invalid_requests_are_refused_and_return_their_buffer() {
    let mut device = memory();
    let capacity = Bytes::mib(1);
    assert_eq!(cause(&mut device, Op::read(range(1020, 8))), Some(FailureCause::OutOfRange { capacity }));
    let odd = ByteRange::new(Bytes::new(100), Bytes::kib(4));
    assert!(matches!(cause(&mut device, Op::read(odd)), Some(FailureCause::Misaligned { .. })));
    let short = Op::Write { range: range(0, 8), payload: Payload::Bytes(Buffer::zeroed(Bytes::kib(4))) };
    let completion = device.run(short).unwrap();
    assert!(completion.outcome.is_err());
    assert_eq!(completion.buffer.map(|buffer| buffer.length()), Some(Bytes::kib(4)));
}

#[test]
fn read_only_refuses_writes_and_discards() {
    let mut below = memory();
    let mut device = ReadOnly::new(&mut below);
    let capabilities = device.capabilities();
    assert!(!capabilities.writable && !capabilities.discard);
    assert_eq!(cause(&mut device, Op::write(range(0, 4), PATTERN)), Some(FailureCause::ReadOnly));
    assert_eq!(cause(&mut device, Op::Discard { range: range(0, 4) }), Some(FailureCause::ReadOnly));
    assert_eq!(cause(&mut device, Op::read(range(0, 4))), None);
    assert!(below.contents().iter().all(|byte| *byte == 0));
}

#[test]
fn the_fence_refuses_requests_across_either_end() {
    let fence = range(64, 64);
    let mut device = Fence::new(memory(), fence);
    for inside in [range(64, 64), range(64, 4), range(124, 4)] {
        assert_eq!(cause(&mut device, Op::write(inside, PATTERN)), None);
    }
    for outside in [range(60, 8), range(124, 8), range(0, 4), range(200, 4), range(0, 256)] {
        assert_eq!(cause(&mut device, Op::write(outside, PATTERN)), Some(FailureCause::Fenced { fence }));
    }
    assert!(device.run(Op::Flush).unwrap().outcome.is_ok());
}

#[test]
fn the_meter_counts_requests_and_stops_at_the_budget() {
    let budget = Budget { bytes_written: Some(Bytes::kib(8)), ..Budget::UNLIMITED };
    let mut device = Meter::new(memory(), budget);
    device.run(Op::read(range(0, 4))).unwrap();
    device.run(Op::write(range(0, 8), PATTERN)).unwrap();
    assert!(matches!(device.run(Op::write(range(0, 1), PATTERN)), Err(DeviceError::BudgetSpent { .. })));
    let cost = device.cost();
    assert_eq!((cost.reads, cost.writes, cost.bytes_written), (1, 1, Bytes::kib(8)));
    assert_eq!(cost.device_time, Duration::from_micros(200));
}

#[test]
fn a_request_beyond_the_budget_is_named_with_the_rest_of_the_budget() {
    let refused = |budget, op: Op| {
        let mut device = Meter::new(memory(), budget);
        device.run(Op::write(range(0, 4), PATTERN)).unwrap();
        device.run(op).unwrap_err().to_string()
    };
    let bytes = |kib| Budget { bytes_written: Some(Bytes::kib(kib)), ..Budget::UNLIMITED };
    let write = || Op::write(range(0, 8), PATTERN);
    assert_eq!(
        refused(bytes(8), write()),
        "the budget allows no more: a write of 8 KiB would exceed it, 4 KiB of 8 KiB are left"
    );
    assert_eq!(refused(bytes(4), write()), "the budget allows no more: 4 KiB written");
    let time = Budget { device_time: Some(Duration::from_secs(10)), ..Budget::UNLIMITED };
    let pause = Op::Pause { duration: Duration::from_secs(60) };
    let message = refused(time, pause);
    assert!(message.contains("a pause of 60 s") && message.contains("of 10 s are left"), "{message}");
}

#[test]
fn a_meter_continues_from_a_previous_cost() {
    let spent = Cost { bytes_written: Bytes::kib(6), device_time: Duration::from_secs(9), ..Cost::default() };
    let budget = Budget {
        bytes_written: Some(Bytes::kib(8)),
        device_time: Some(Duration::from_secs(10)),
        ..Budget::UNLIMITED
    };
    let mut device = Meter::after(spent, memory(), budget);
    assert_eq!(device.left().bytes_written, Some(Bytes::kib(2)));
    assert!(device.run(Op::write(range(0, 4), PATTERN)).is_err());
    device.run(Op::Pause { duration: Duration::from_millis(900) }).unwrap();
    assert!(device.cost().device_time >= Duration::from_millis(9900), "{:?}", device.cost());
    assert!(device.run(Op::Pause { duration: Duration::from_millis(200) }).is_err());
}

#[test]
fn an_interrupt_refuses_the_next_request() {
    let interrupt = Interrupt::default();
    let mut device = Interruptible::new(memory(), interrupt.clone());
    assert!(device.run(Op::read(range(0, 4))).is_ok());
    interrupt.request();
    assert!(matches!(device.run(Op::read(range(0, 4))), Err(DeviceError::Interrupted)));
}

#[test]
fn a_trace_replays_with_the_same_times_and_refuses_other_requests() {
    let mut traced = Trace::new(memory());
    let ops =
        || [Op::read(range(0, 4)), Op::write(range(8, 8), PATTERN), Op::Flush, Op::read(range(2000, 8))];
    let recorded: Vec<_> = ops().map(|op| traced.run(op).unwrap()).into();
    let mut replay = Replay::new(memory().capabilities(), traced.records().to_vec());
    for (op, recorded) in ops().into_iter().zip(&recorded) {
        let replayed = replay.run(op).unwrap();
        assert_eq!(replayed.latency(), recorded.latency());
        assert_eq!(replayed.outcome.is_ok(), recorded.outcome.is_ok());
    }
    assert!(matches!(replay.run(Op::Flush), Err(DeviceError::ReplayDiverged { position: 4, .. })));
}

#[test]
fn a_replay_refuses_another_range_kind_or_order() {
    let mut traced = Trace::new(memory());
    traced.run(Op::read(range(8, 4))).unwrap();
    traced.run(Op::Flush).unwrap();
    let is_replayed = |op: Op| {
        let mut replay = Replay::new(memory().capabilities(), traced.records().to_vec());
        match replay.run(op) {
            Ok(completion) => completion.outcome.is_ok(),
            Err(DeviceError::ReplayDiverged { position: 0, .. }) => false,
            Err(error) => panic!("{error}"),
        }
    };
    let ops = [Op::read(range(8, 4)), Op::read(range(8, 8)), Op::read(range(4, 4)), Op::Flush];
    assert_eq!(ops.map(is_replayed), [true, false, false, false]);
    assert!(!is_replayed(Op::write(range(8, 4), PATTERN)));
}

#[test]
fn each_limit_of_a_budget_allows_exactly_as_much() {
    let allowed = |budget: Budget, op: fn() -> Op| {
        let mut device = Meter::new(memory(), budget);
        (0..10).take_while(|_| device.run(op()).is_ok()).count()
    };
    let reads = |reads| Budget { reads: Some(reads), ..Budget::UNLIMITED };
    assert_eq!([0, 1, 3].map(|limit| allowed(reads(limit), || Op::read(range(0, 4)))), [0, 1, 3]);
    assert_eq!(allowed(reads(0), || Op::write(range(0, 4), PATTERN)), 10);
    let written = Budget { bytes_written: Some(Bytes::kib(12)), ..Budget::UNLIMITED };
    assert_eq!(allowed(written, || Op::write(range(0, 4), PATTERN)), 3);
    assert_eq!(allowed(written, || Op::read(range(0, 4))), 10);
    let time = Budget { device_time: Some(Duration::from_secs(5)), ..Budget::UNLIMITED };
    assert_eq!(allowed(time, || Op::Pause { duration: Duration::from_secs(2) }), 2);
    let left = reads(5).left(&Cost { reads: 3, ..Cost::default() });
    assert_eq!(left, reads(2));
}

#[test]
fn clip_hides_the_end_of_the_device() {
    let mut device = memory();
    let mut clipped = Clip::new(&mut device as &mut dyn Device, Bytes::new((300 << 10) + 100));
    assert_eq!(clipped.capabilities().capacity, Bytes::kib(300));
    assert!(clipped.run(Op::write(range(296, 4), PATTERN)).unwrap().outcome.is_ok());
    let beyond = Some(FailureCause::OutOfRange { capacity: Bytes::kib(300) });
    assert_eq!(cause(&mut clipped, Op::write(range(296, 8), PATTERN)), beyond);
    assert_eq!(cause(&mut clipped, Op::read(range(512, 4))), beyond);
    assert_eq!(Clip::new(memory(), Bytes::gib(1)).capabilities().capacity, Bytes::mib(1));
}
