//! The journal layer. Crashes at random instants are tested in the zoo.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::layer::Faulty;
use flashscope_device::layer::journal::{
    JournalContents, JournalError, JournalMedium, JournalStart, Journaled, MemoryStore, Recognition,
    recognise, restore,
};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, FailureCause, Op, Pattern};

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
    assert_eq!(journaled.restore().unwrap().bytes, Bytes::kib(164));
    drop(journaled);
    assert!(device.contents() == before);
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
    assert!(matches!(error, JournalError::NotRestored { .. }), "{error}");
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
