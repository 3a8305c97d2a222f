//! flashbench's procedures: which requests they make, where they refuse, and what they keep when they end
//! early.

use std::collections::HashSet;

use flashscope_device::layer::{
    Budget, Faulty, Interrupt, Interruptible, Meter, ReadOnly, Trace, TraceRecord,
};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{Bytes, Device, OpKind};
use flashscope_flashbench::{Command, procedure};
use flashscope_measure::{Estimate, Event, Observer, Silent};
use flashscope_record::observation::{Cause, Data, Ended, Observations, Order, Refusal};

const CAPACITY: Bytes = Bytes::mib(32);
const ERASE_BLOCK: Bytes = Bytes::kib(256);

fn align(read: u64) -> Command {
    Command::Align { read: Bytes::new(read) }
}

fn open_units(open_units: u32, order: Order) -> Command {
    Command::OpenUnits { erase_block: ERASE_BLOCK, open_units, smallest: Bytes::kib(16), order }
}

fn find_fat(units: u32) -> Command {
    Command::FindFat { erase_block: ERASE_BLOCK, units, smallest: Bytes::kib(64), order: Order::Linear }
}

fn run(command: &Command, device: &mut dyn Device) -> Observations {
    procedure::run(command, device, 7, &mut Silent)
}

fn traced(command: &Command) -> (Observations, Vec<TraceRecord>) {
    let mut device = Trace::new(MemoryDevice::new(CAPACITY));
    let observations = run(command, &mut device);
    let records = device.records().to_vec();
    (observations, records)
}

fn cells(observations: &Observations) -> usize {
    observations.data.facts().records()
}

#[test]
fn align_reads_before_across_and_after_odd_multiples() {
    let (observations, records) = traced(&align(1024));
    let Data::Align(data) = &observations.data else { panic!("not align data") };
    let candidates: Vec<u64> = data.samples.iter().map(|sample| sample.candidate.get()).collect();
    assert_eq!(candidates[..4], [16 << 20, 12 << 20, 8 << 20, 6 << 20]);
    assert_eq!(candidates[candidates.len() - 3..], [4096, 3072, 2048]);
    for reads in records.chunks(3) {
        let [before, across, after] = [0, 1, 2].map(|index| reads[index].range.offset.get());
        assert_eq!((before + 1024, across + 512), (after, after));
        assert!(candidates.iter().any(|candidate| after % (2 * candidate) == *candidate));
    }
    assert!(records.iter().all(|record| record.kind == OpKind::Read));
    assert_eq!(observations.ended, Ended::Complete);
}

#[test]
fn open_units_writes_round_robin_to_units_twelve_erase_blocks_apart() {
    let (observations, records) = traced(&open_units(3, Order::Linear));
    let first_row: Vec<u64> = records[..3].iter().map(|record| record.range.offset.get() >> 10).collect();
    assert_eq!(first_row, [16 << 10, (16 << 10) + 12 * 256, (16 << 10) + 24 * 256]);
    let second_row: Vec<u64> = records[3..9].iter().map(|record| record.range.offset.get() >> 10).collect();
    assert_eq!(second_row, [16384, 19456, 22528, 16512, 19584, 22656]);
    let Data::OpenUnits(data) = &observations.data else { panic!("not open-units data") };
    let sizes: Vec<u64> = data.cells.iter().map(|cell| cell.request.get() >> 10).collect();
    assert_eq!(sizes, [256, 128, 64, 32, 16]);
    // The in-memory device takes 100 us for every request.
    assert!(data.cells.iter().all(|cell| cell.times.mean_seconds() == Some(1e-4)));
}

#[test]
fn a_shuffled_row_visits_every_offset_once_and_never_continues() {
    let (_, records) = traced(&open_units(2, Order::Random));
    let sizes: HashSet<Bytes> = records.iter().map(|record| record.range.length).collect();
    for size in sizes {
        let row: Vec<_> = records.iter().filter(|record| record.range.length == size).collect();
        let places: HashSet<Bytes> = row.iter().map(|record| record.range.offset).collect();
        assert_eq!(places.len(), row.len());
        assert_eq!(row.len() as u64, 2 * (ERASE_BLOCK / size));
        let unit: Vec<_> = row.iter().step_by(2).collect();
        assert!(unit.windows(2).all(|pair| pair[0].range.end() != pair[1].range.offset), "{size}");
    }
}

#[test]
fn find_fat_writes_units_sequentially() {
    let (observations, records) = traced(&find_fat(4));
    let units: Vec<u64> = records[4..12].iter().map(|record| record.range.offset / ERASE_BLOCK).collect();
    assert_eq!(units, [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(cells(&observations), 12);
}

#[test]
fn the_same_seed_makes_the_same_requests_and_another_seed_others() {
    let places = |seed| -> Vec<Bytes> {
        let mut device = Trace::new(MemoryDevice::new(CAPACITY));
        procedure::run(&open_units(2, Order::Random), &mut device, seed, &mut Silent);
        device.records().iter().map(|record| record.range.offset).collect()
    };
    assert_eq!(places(1), places(1));
    assert_ne!(places(1), places(2));
}

/// Records all events.
#[derive(Default)]
struct Listener {
    estimate: Estimate,
    requests: u64,
    ended: bool,
}

impl Observer for Listener {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { estimate, .. } => self.estimate = estimate,
            Event::Progress { requests, .. } => self.requests = requests,
            Event::Expect { .. } | Event::Remark { .. } | Event::SecondLook => {}
            Event::End => self.ended = true,
        }
    }
}

#[test]
fn the_estimate_is_what_it_costs() {
    for command in [align(1024), open_units(3, Order::Random), find_fat(5)] {
        let mut device = Meter::new(MemoryDevice::new(CAPACITY), Budget::UNLIMITED);
        let mut listener = Listener::default();
        procedure::run(&command, &mut device, 1, &mut listener);
        let cost = device.cost();
        assert_eq!(listener.estimate.requests, cost.reads + cost.writes, "{command:?}");
        assert_eq!(listener.estimate.bytes_written, cost.bytes_written, "{command:?}");
        assert_eq!(listener.requests, listener.estimate.requests);
        assert!(listener.ended);
    }
}

#[test]
fn a_request_larger_than_the_device_takes_is_written_in_pieces() {
    let mut stick = flashscope_sim::target::open("patriot-xt-16g?erase_block=128MiB").unwrap();
    let erase_block = Bytes::mib(128);
    let command = Command::FindFat { erase_block, units: 1, smallest: erase_block, order: Order::Linear };
    let mut device = Trace::new(&mut stick);
    assert_eq!(run(&command, &mut device).ended, Ended::Complete);
    let lengths: Vec<Bytes> = device.records().iter().map(|record| record.range.length).collect();
    assert_eq!(lengths, [Bytes::mib(64), Bytes::mib(64)]);
}

type IsReason<'a> = &'a dyn Fn(&Refusal) -> bool;

#[test]
fn an_impossible_command_is_refused_with_its_reason() {
    let whole = Bytes::mib(1024);
    let open = |erase_block, open_units, smallest| Command::OpenUnits {
        erase_block,
        open_units,
        smallest,
        order: Order::Linear,
    };
    let too_small = |reason: &Refusal| matches!(reason, Refusal::TooSmall { .. });
    let no_blocks = |reason: &Refusal| *reason == Refusal::NoBlocks;
    let out_of_range = |reason: &Refusal| matches!(reason, Refusal::RequestOutOfRange { .. });
    let not_whole = |reason: &Refusal| matches!(reason, Refusal::NotWhole { .. });
    let cases: [(Command, IsReason<'_>); 11] = [
        (open_units(7, Order::Linear), &too_small),
        (open_units(0, Order::Linear), &no_blocks),
        (open(whole, 1, Bytes::kib(4)), &too_small),
        (open(ERASE_BLOCK, u32::MAX, Bytes::kib(4)), &too_small),
        (open(ERASE_BLOCK, 1, Bytes::ZERO), &out_of_range),
        (open(ERASE_BLOCK, 1, Bytes::kib(512)), &out_of_range),
        (open(Bytes::kib(3), 1, Bytes::new(512)), &not_whole),
        (find_fat(1000), &too_small),
        (align(512), &not_whole),
        (align(0), &not_whole),
        (align(16 << 20), &out_of_range),
    ];
    for (command, is_refused_for) in cases {
        let (observations, records) = traced(&command);
        let Ended::NotStarted { reason, .. } = &observations.ended else { panic!("{command:?} was started") };
        assert!(is_refused_for(reason), "{command:?}: {reason:?}");
        assert!(records.is_empty() && cells(&observations) == 0);
    }
}

#[test]
fn writing_needs_a_writable_device_and_reading_does_not() {
    let mut device = ReadOnly::new(MemoryDevice::new(CAPACITY));
    assert_eq!(run(&align(1024), &mut device).ended, Ended::Complete);
    for command in [open_units(2, Order::Linear), find_fat(2)] {
        assert!(matches!(run(&command, &mut device).ended, Ended::NotStarted { .. }));
    }
}

/// An early end keeps the rows that were finished, and names its cause.
fn assert_early(observations: &Observations, kept: usize, expected: Cause) {
    let is_expected = matches!(&observations.ended, Ended::Early { cause, .. } if *cause == expected);
    assert!(is_expected, "{:?}", observations.ended);
    assert_eq!(cells(observations), kept);
}

#[test]
fn an_early_end_keeps_finished_rows() {
    let memory = || MemoryDevice::new(CAPACITY);
    let command = open_units(3, Order::Linear);
    // Rows of 3, 6 and 12 requests: the 10th belongs to the third.
    let mut unplugged = Faulty::new(memory(), &["unplug:after=10".parse().unwrap()], 1).unwrap();
    assert_early(&run(&command, &mut unplugged), 2, Cause::Device);
    let mut failing = Faulty::new(memory(), &["write-errors:share=1".parse().unwrap()], 1).unwrap();
    assert_early(&run(&command, &mut failing), 0, Cause::Device);
    let budget = Budget { bytes_written: Some(ERASE_BLOCK * 4), ..Budget::UNLIMITED };
    assert_early(&run(&command, &mut Meter::new(memory(), budget)), 1, Cause::Budget);
    let interrupt = Interrupt::default();
    interrupt.request();
    assert_early(&run(&command, &mut Interruptible::new(memory(), interrupt)), 0, Cause::Interrupt);
    let mut align_unplugged = Faulty::new(memory(), &["unplug:after=30".parse().unwrap()], 1).unwrap();
    assert_early(&run(&align(1024), &mut align_unplugged), 1, Cause::Device);
}
