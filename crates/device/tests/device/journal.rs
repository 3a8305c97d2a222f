//! The journal layer. Crashes at random instants are tested in the zoo.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::layer::Faulty;
use flashscope_device::layer::journal::{
    JournalContents, JournalError, JournalMedium, JournalStart, Journaled, MemoryStore, Recognition,
    recognise, resembles, restore,
};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{
    Buffer, ByteRange, Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt, FailureCause,
    Instant, Lba, Op, Pattern, Payload, ReadInto, SECTOR, Success, Tag,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CAPACITY: Bytes = Bytes::mib(4);
const NEW: Pattern = Pattern { seed: 2, generation: 0 };

fn kib(offset: u64, length: u64) -> ByteRange {
    ByteRange::new(Bytes::kib(offset), Bytes::kib(length))
}

fn full() -> MemoryDevice {
    let mut device = MemoryDevice::new(CAPACITY);
    device.run(Op::write(ByteRange::new(Bytes::ZERO, CAPACITY), Pattern::new(1))).unwrap().outcome.unwrap();
    device
}

/// A write that nobody reads back.
fn write_any(range: ByteRange, pattern: Pattern) -> Op {
    Op::write_sampled(range, pattern, kib(0, 0))
}

fn faulty<'a>(device: &'a mut MemoryDevice, fault: &str) -> Faulty<'a> {
    Faulty::new(device, &[fault.parse().unwrap()], 1).unwrap()
}

fn medium(capacity: Bytes) -> JournalMedium {
    JournalMedium { capacity, logical_block: Bytes::new(512), ..JournalMedium::default() }
}

fn journaled<D: Device>(device: D, store: MemoryStore) -> Journaled<D, MemoryStore> {
    let start = JournalStart { medium: medium(CAPACITY), ..JournalStart::default() };
    Journaled::start(device, store, start).unwrap()
}

/// The journal of three writes.
fn journal_of_three_writes(device: &mut MemoryDevice) -> MemoryStore {
    let mut journaled = journaled(device, MemoryStore::default());
    for offset in [0, 100, 3000] {
        journaled.run(Op::write(kib(offset, 4), NEW)).unwrap().outcome.unwrap();
    }
    journaled.into_parts().1
}

#[test]
fn data_comes_back_and_saving_takes_no_time() {
    let before = full().contents().to_vec();
    let (mut device, mut plain) = (full(), full());
    let mut journaled = journaled(&mut device, MemoryStore::default());
    let started_at = journaled.now();
    let plain_started_at = plain.now();
    for op in [Op::write(kib(8, 64), NEW), Op::Discard { range: kib(2000, 100) }, Op::write(kib(9, 1), NEW)] {
        let expected = plain.run(op.clone()).unwrap();
        let completion = journaled.run(op).unwrap();
        assert_eq!(completion.latency(), expected.latency());
    }
    assert_eq!(journaled.now().since(started_at), plain.now().since(plain_started_at));
    assert_eq!(journaled.saved(), Bytes::kib(164));
    let restored = journaled.restore().unwrap();
    assert_eq!((restored.bytes, restored.written), (Bytes::kib(164), Bytes::kib(164)));
    drop(journaled);
    assert!(device.contents() == before);
}

/// The first half holds data, the second is blank.
fn half_full() -> MemoryDevice {
    let mut device = MemoryDevice::new(CAPACITY);
    device.run(Op::write(ByteRange::new(Bytes::ZERO, CAPACITY / 2), Pattern::new(1))).unwrap();
    device
}

#[test]
fn data_that_nobody_reads_back_is_written_as_it_was() {
    let before = half_full().contents().to_vec();
    let mut device = half_full();
    let mut journaled = journaled(&mut device, MemoryStore::default());
    // In the data, over its end, and of a single sector.
    for range in [kib(8, 64), kib(2044, 8), ByteRange::new(Bytes::new(512), Bytes::new(512))] {
        let completion = journaled.run(write_any(range, NEW)).unwrap();
        assert_eq!((completion.outcome, completion.buffer), (Ok(Success::Done), None));
    }
    // The own buffer of the caller comes back.
    let own = Buffer::from(&[7; 4096][..]);
    journaled.submit(Tag(7), Op::Write { range: kib(300, 4), payload: Payload::Bytes(own.clone()) }).unwrap();
    assert_eq!(journaled.wait().unwrap().unwrap().buffer, Some(own));
    let blank_end = kib(2048, 4);
    let is_new = |device: &mut dyn Device, range| {
        device.run(Op::Read { range, into: ReadInto::Check(NEW) }).unwrap().outcome == Ok(Success::AllRight)
    };
    assert!(is_new(&mut journaled, blank_end), "a blank part gets the pattern");
    assert!(!is_new(&mut journaled, kib(8, 64)));
    let restored = journaled.restore().unwrap();
    assert_eq!(restored.written, Bytes::kib(4 + 4), "the blank part, and the buffer");
    assert!(restored.bytes > Bytes::kib(72), "{}", restored.bytes);
    drop(journaled);
    assert!(device.contents() == before);
}

/// A later write of data that nobody reads back must not replace data that is to be read back.
#[test]
fn data_to_read_back_is_not_replaced_by_old_data() {
    let before = full().contents().to_vec();
    let mut device = full();
    let mut journaled = journaled(&mut device, MemoryStore::default());
    journaled.run(Op::write(kib(16, 4), NEW)).unwrap().outcome.unwrap();
    journaled.run(write_any(kib(0, 64), NEW)).unwrap().outcome.unwrap();
    let read = journaled.run(Op::Read { range: kib(16, 4), into: ReadInto::Check(NEW) }).unwrap();
    assert_eq!(read.outcome, Ok(Success::AllRight));
    assert_eq!(journaled.restore().unwrap().written, Bytes::kib(4));
    drop(journaled);
    assert!(device.contents() == before);
}

#[test]
fn sample_gets_the_pattern_and_its_surroundings_the_old_data() {
    let before = full().contents().to_vec();
    let mut device = full();
    let mut journaled = journaled(&mut device, MemoryStore::default());
    let sample = kib(128, 4);
    journaled.run(Op::write_sampled(kib(100, 64), NEW, sample)).unwrap().outcome.unwrap();
    let read = journaled.run(Op::Read { range: sample, into: ReadInto::Check(NEW) }).unwrap();
    assert_eq!(read.outcome, Ok(Success::AllRight));
    assert_eq!(journaled.restore().unwrap().written, sample.length);
    drop(journaled);
    assert!(device.contents() == before);
}

/// Places that share a block: test data of one is nobody's data at the other. Half of the runs are killed.
#[test]
fn data_comes_back_where_addresses_wrap_around() {
    let real = CAPACITY / 4;
    let fake = CAPACITY.get();
    for seed in 0..60 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |limit: u64| random.next_u64() % limit;
        let fault = match seed % 3 {
            0 => format!("chain:wrap={},real={},fake={fake}", real.get() * 2, real.get()),
            _ => format!("wrap:real={},fake={fake}", real.get()),
        };
        let mut device = MemoryDevice::new(real);
        device.run(Op::write(ByteRange::new(Bytes::ZERO, real), Pattern::new(1))).unwrap();
        let before = device.contents().to_vec();
        let mut journaled = journaled(faulty(&mut device, &fault), MemoryStore::default());
        for generation in 0..40 {
            let sectors = 1 + below(200);
            let range = ByteRange::new(SECTOR * below(CAPACITY / SECTOR - sectors), SECTOR * sectors);
            let pattern = Pattern { seed: 2 + below(2), generation };
            let write = if below(2) == 0 { Op::write(range, pattern) } else { write_any(range, pattern) };
            journaled.run(write).unwrap().outcome.unwrap();
        }
        if seed % 2 == 0 {
            journaled.restore().unwrap();
            drop(journaled);
        } else {
            let (mut fake, mut store) = journaled.into_parts();
            let contents = JournalContents::read(&mut store).unwrap();
            // The places that share a block with another one differ from what was saved.
            let _ = restore(&contents, &mut store, &mut fake);
            drop(fake);
        }
        assert!(device.contents() == before, "{fault}, seed {seed}");
    }
}

/// The medium is no multiple of the 64 KiB that are read at once: its last piece has 4 KiB.
#[test]
fn data_comes_back_where_the_end_of_an_odd_medium_shares_a_block() {
    let (real, fake) = (Bytes::kib(1024), Bytes::kib(1988));
    let mut device = MemoryDevice::new(real);
    device.run(Op::write(ByteRange::new(Bytes::ZERO, real), Pattern::new(1))).unwrap().outcome.unwrap();
    let before = device.contents().to_vec();
    let fault = format!("wrap:real={},fake={}", real.get(), fake.get());
    let start = JournalStart { medium: medium(fake), ..JournalStart::default() };
    let mut journaled = Journaled::start(faulty(&mut device, &fault), MemoryStore::default(), start).unwrap();
    // Both places lie in the same block: 1984 - 1024 = 960.
    for write in [kib(1984, 4), kib(960, 4)] {
        journaled.run(Op::write(write, NEW)).unwrap().outcome.unwrap();
    }
    journaled.restore().unwrap();
    drop(journaled);
    assert!(device.contents() == before);
}

/// Test data of an earlier run, in the same places but moved, is data like any other.
#[test]
fn moved_test_data_of_the_same_seed_comes_back() {
    let mut device = MemoryDevice::new(CAPACITY);
    let moved = |sectors: u64| SECTOR * sectors;
    for (at, from) in [(1000, 10), (1003, 20), (2048, 0), (5001, 1000)] {
        let mut bytes = Buffer::zeroed(moved(150));
        NEW.fill(Lba(from), &mut bytes);
        let write =
            Op::Write { range: ByteRange::new(moved(at), moved(150)), payload: Payload::Bytes(bytes) };
        device.run(write).unwrap().outcome.unwrap();
    }
    let before = device.contents().to_vec();
    let mut journaled = journaled(&mut device, MemoryStore::default());
    for range in [kib(0, 256), kib(480, 300), kib(2000, 900)] {
        journaled.run(Op::write(range, NEW)).unwrap().outcome.unwrap();
    }
    journaled.restore().unwrap();
    drop(journaled);
    assert!(device.contents() == before);
}

/// A discarded place holds nothing to recognise. What was saved first comes back, and the error stays.
#[test]
fn data_saved_first_comes_back_where_addresses_wrap_around_after_a_discard() {
    let real = CAPACITY / 4;
    let mut device = MemoryDevice::new(real);
    device.run(Op::write(ByteRange::new(Bytes::ZERO, real), Pattern::new(1))).unwrap();
    let before = device.contents().to_vec();
    let fault = format!("wrap:real={},fake={}", real.get(), CAPACITY.get());
    let mut journaled = journaled(faulty(&mut device, &fault), MemoryStore::default());
    journaled.run(Op::Discard { range: kib(12, 4) }).unwrap().outcome.unwrap();
    // The second write saves its block ahead at the other address.
    for write in [kib(1024, 8), kib(1032, 4)] {
        journaled.run(Op::write(write, NEW)).unwrap().outcome.unwrap();
    }
    assert!(matches!(journaled.restore(), Err(JournalError::NotRestored { .. })));
    drop(journaled);
    assert!(device.contents() == before);
}

/// A device that changes a place which was not written, as when addresses wrap around.
#[test]
fn what_differs_although_it_was_not_changed_comes_back() {
    let before = full().contents().to_vec();
    let mut device = full();
    let mut store = MemoryStore::default();
    let mut journaled = Journaled::start(
        ChangesElsewhere { device: &mut device, from: kib(8, 4), to: kib(512, 4) },
        std::mem::take(&mut store),
        JournalStart { medium: medium(CAPACITY), ..JournalStart::default() },
    )
    .unwrap();
    journaled.run(write_any(kib(512, 64), NEW)).unwrap().outcome.unwrap();
    journaled.run(write_any(kib(8, 4), NEW)).unwrap().outcome.unwrap();
    assert_eq!(journaled.restore().unwrap().written, Bytes::kib(64));
    drop(journaled);
    assert!(device.contents() == before);
}

/// A write to `from` destroys `to`.
struct ChangesElsewhere<'a> {
    device: &'a mut MemoryDevice,
    from: ByteRange,
    to: ByteRange,
}

impl Device for ChangesElsewhere<'_> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if op.modifies() && op.range() == Some(self.from) {
            self.device.run(Op::write(self.to, NEW))?;
        }
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.device.wait()
    }
}

/// The power of the computer that keeps the journal is cut right after the last write to the device.
#[test]
fn data_comes_back_after_a_power_cut_behind_the_last_write() {
    let before = full().contents().to_vec();
    let mut device = full();
    let mut store = journal_of_three_writes(&mut device).after_power_cut(0);
    let contents = JournalContents::read(&mut store).unwrap();
    restore(&contents, &mut store, &mut device).unwrap();
    assert!(device.contents() == before);
}

#[test]
fn nothing_is_overwritten_that_cannot_be_saved() {
    let before = full().contents().to_vec();
    let mut device = full();
    let mut unreadable =
        journaled(faulty(&mut device, "read-errors:range=1MiB+64KiB"), MemoryStore::default());
    let refused = unreadable.run(Op::write(kib(1024, 4), NEW)).unwrap().outcome.unwrap_err();
    assert_eq!(refused.cause, FailureCause::NotSaved);
    drop(unreadable);
    // The header takes two operations.
    let mut full_disk = journaled(&mut device, MemoryStore::default().failing_after(2));
    for offset in [0, 100] {
        let error = full_disk.run(Op::write(kib(offset, 4), NEW)).unwrap_err();
        assert!(matches!(error, DeviceError::System { errno: 5, .. }), "{error}");
    }
    drop(full_disk);
    assert!(device.contents() == before);
}

#[test]
fn incomplete_last_record_is_left_out_and_a_damaged_one_is_refused() {
    let mut device = full();
    let mut store = journal_of_three_writes(&mut device);
    let sound = store.bytes_mut().clone();
    store.bytes_mut().truncate(sound.len() - 10);
    let cut = JournalContents::read(&mut store).unwrap();
    assert_eq!((cut.is_cut, cut.saved()), (true, Bytes::kib(8)));
    for (position, name) in [(0, "magic"), (40, "header"), (sound.len() / 2, "a record")] {
        *store.bytes_mut() = sound.clone();
        store.bytes_mut()[position] ^= 1;
        let error = JournalContents::read(&mut store).unwrap_err();
        assert!(matches!(error, JournalError::NotJournal | JournalError::Damaged { .. }), "{name}: {error}");
    }
    for length in 0..sound.len().min(6000) {
        *store.bytes_mut() = sound[..length].to_vec();
        let _no_panic = JournalContents::read(&mut store);
    }
}

#[test]
fn bad_block_does_not_keep_its_neighbours_from_coming_back() {
    let before = full().contents().to_vec();
    let mut device = full();
    let mut journaled = journaled(&mut device, MemoryStore::default());
    journaled.run(Op::write(kib(0, 64), NEW)).unwrap().outcome.unwrap();
    let (_, mut store) = journaled.into_parts();
    let contents = JournalContents::read(&mut store).unwrap();
    let error = restore(&contents, &mut store, &mut faulty(&mut device, "write-errors:range=16KiB+4KiB"))
        .unwrap_err();
    let expected = "but 1 range of it read back differently, first 64 KiB at offset 0 (sector 0); the medium";
    assert!(error.to_string().contains(expected), "{error}");
    let (bad, end) = (16 << 10, 20 << 10);
    assert!(device.contents()[..bad] == before[..bad] && device.contents()[end..] == before[end..]);
    restore(&contents, &mut store, &mut device).unwrap();
    assert!(device.contents() == before && JournalContents::read(&mut store).unwrap().is_done);
}

#[test]
fn changed_or_other_medium_is_not_recognised() {
    let mut device = full();
    let mut store = journal_of_three_writes(&mut device);
    let contents = JournalContents::read(&mut store).unwrap();
    let same = recognise(&contents, &medium(CAPACITY), &mut device).unwrap();
    assert!(same.is_same() && same.compared > 50, "{same:?}");
    let named = JournalMedium { serial: Some("7".to_owned()), ..medium(CAPACITY) };
    assert!(!recognise(&contents, &named, &mut device).unwrap().is_same());
    let place = contents.header.places[20].range;
    device.run(Op::write(place, NEW)).unwrap().outcome.unwrap();
    let changed = recognise(&contents, &medium(CAPACITY), &mut device).unwrap();
    assert_eq!((changed.is_same(), changed.changed.as_slice()), (false, &[place][..]));
    let without_places = Recognition { changed: Vec::new(), compared: 0, ..changed };
    assert!(!without_places.is_same(), "nothing shows which medium it is");
    assert!(Recognition { has_serial: true, ..without_places }.is_same());
    let smaller = recognise(&contents, &medium(Bytes::mib(2)), &mut device).unwrap_err();
    assert!(matches!(smaller, JournalError::OtherMedium { .. }), "{smaller}");
}

/// Blank places are equal on all media that hold little.
#[test]
fn only_a_medium_with_saved_data_resembles_the_saved_one() {
    let (mut same, mut store) = journaled(half_full(), MemoryStore::default()).into_parts();
    let header = JournalContents::header(&mut store).unwrap();
    assert!(resembles(&header, &mut same));
    let mut other = MemoryDevice::new(CAPACITY);
    assert!(!resembles(&header, &mut other), "all of it is blank");
    other.run(Op::write(ByteRange::new(Bytes::ZERO, CAPACITY / 2), Pattern::new(3))).unwrap();
    assert!(!resembles(&header, &mut other), "its first half holds other data");
}

#[test]
fn places_of_a_small_medium_are_remembered_once() {
    let capacity = Bytes::kib(64);
    let start = JournalStart { medium: medium(capacity), ..JournalStart::default() };
    let small = Journaled::start(MemoryDevice::new(capacity), MemoryStore::default(), start).unwrap();
    let (_, mut store) = small.into_parts();
    let places = JournalContents::header(&mut store).unwrap().places;
    let ranges: Vec<ByteRange> = places.iter().map(|place| place.range).collect();
    assert_eq!(ranges, (0..16).map(|index| kib(4 * index, 4)).collect::<Vec<_>>());
}
