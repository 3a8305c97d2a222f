//! The workload against a device below a page cache, in virtual time.

use std::cell::RefCell;
use std::collections::BTreeSet;

use flashscope_device::Instant;
use flashscope_device::host::ReadPath;

use super::*;

/// The throughput of the device and of memory, MB/s.
const DEVICE_MB_S: f64 = 20.0;
const MEMORY_MB_S: f64 = 100.0;
/// The page cache holds and evicts in this unit.
const PAGE: u64 = 2 << 20;

struct Fake {
    now: Instant,
    capacity: Bytes,
    path: ReadPath,
    cached: BTreeSet<u64>,
    keeps_cache: bool,
    refuses_direct: bool,
    device_bytes: Option<Bytes>,
    written: Bytes,
    fails_at: Option<Bytes>,
}

impl Fake {
    fn new(capacity: Bytes) -> Self {
        Self {
            now: Instant::ZERO,
            capacity,
            path: ReadPath::PageCache,
            cached: BTreeSet::new(),
            keeps_cache: false,
            refuses_direct: false,
            device_bytes: Some(Bytes::ZERO),
            written: capacity,
            fails_at: None,
        }
    }

    fn spend(&mut self, bytes: Bytes, mb_s: f64) {
        self.now += Duration::from_secs_f64(bytes.as_f64() / (mb_s * 1e6));
    }
}

impl LayerHost for Fake {
    type Error = &'static str;

    fn now(&self) -> Instant {
        self.now
    }

    fn capacity(&self) -> Bytes {
        self.capacity
    }

    fn logical_block(&self) -> Bytes {
        Bytes::new(512)
    }

    fn open(&mut self, path: ReadPath) -> Result<bool, Self::Error> {
        self.path = path;
        Ok(!(self.refuses_direct && path == ReadPath::Direct))
    }

    fn drop_page_cache(&mut self) {
        if !self.keeps_cache {
            self.cached.clear();
        }
    }

    fn read(&mut self, offset: Bytes, buffer: &mut [u8]) -> Result<(), Self::Error> {
        let length = Bytes::new(buffer.len() as u64);
        assert!(offset + length <= self.capacity, "within the target");
        if self.fails_at.is_some_and(|bad| offset <= bad && bad < offset + length) {
            return Err("bad block");
        }
        let page = offset.get() / PAGE;
        if self.path == ReadPath::PageCache && self.cached.contains(&page) {
            self.spend(length, MEMORY_MB_S);
        } else {
            self.spend(length, DEVICE_MB_S);
            self.device_bytes = self.device_bytes.map(|bytes| bytes + length);
            if self.path == ReadPath::PageCache {
                self.cached.insert(page);
            }
        }
        buffer.fill(0);
        if offset < self.written {
            buffer[0] = 1;
        }
        Ok(())
    }

    fn bytes_read(&self) -> Option<Bytes> {
        self.device_bytes
    }

    fn holes(&self, length: Bytes) -> Bytes {
        length.saturating_sub(self.written)
    }
}

struct Switch {
    modes: RefCell<Vec<CacheMode>>,
    refuses: Option<CacheMode>,
}

impl WriteCacheSwitch for Switch {
    type Error = &'static str;

    fn switch(&self, mode: CacheMode) -> Result<(), Self::Error> {
        self.modes.borrow_mut().push(mode);
        if self.refuses == Some(mode) { Err("refused") } else { Ok(()) }
    }
}

const WORKLOAD: CacheWorkload = CacheWorkload { rounds: 3, duration: Duration::from_millis(1000) };

fn measured(fake: &mut Fake) -> Result<Vec<LayerReadings>, Stopped<&'static str>> {
    WORKLOAD.measure(fake, &Interrupt::default(), &mut |_| {})
}

#[test]
fn each_layer_has_its_own_throughput() {
    let readings = measured(&mut Fake::new(Bytes::gib(1))).unwrap();
    let rounded = |reading: &LayerReadings| -> Vec<f64> {
        reading.bytes_per_s.iter().map(|speed| (speed / 1e6).round()).collect()
    };
    let [memory, page_cache, device] = &readings[..] else { panic!("{readings:?}") };
    assert_eq!(rounded(memory), [MEMORY_MB_S; 3]);
    assert_eq!(rounded(page_cache), [DEVICE_MB_S; 3], "the cache is dropped before each round");
    assert_eq!(rounded(device), [DEVICE_MB_S; 3]);
    assert_eq!((memory.device_bytes, memory.probed), (Some(Bytes::ZERO), 0));
    assert_eq!(device.device_bytes, Some(device.bytes));
    assert_eq!((device.probed, device.blank, device.holes), (48, 0, Bytes::ZERO));
}

#[test]
fn reading_ends_with_the_request_that_reaches_its_time() {
    // Ten requests of 2 MiB at 20 MB/s.
    let duration = Duration::from_nanos(1_048_576_000);
    let workload = CacheWorkload { rounds: 1, duration };
    let readings = workload.measure(&mut Fake::new(Bytes::gib(1)), &Interrupt::default(), &mut |_| {});
    assert_eq!(readings.unwrap()[2].bytes, Bytes::mib(20));
}

#[test]
fn page_cache_that_is_not_dropped_shows_in_the_device_bytes() {
    let mut fake = Fake { keeps_cache: true, ..Fake::new(Bytes::mib(16)) };
    let readings = measured(&mut fake).unwrap();
    // The memory layer of the first round has cached one of the 8 requests.
    assert_eq!((readings[1].bytes, readings[1].device_bytes), (Bytes::mib(48), Some(Bytes::mib(14))));
    let mut uncounted = Fake { device_bytes: None, ..Fake::new(Bytes::mib(16)) };
    assert_eq!(measured(&mut uncounted).unwrap()[2].device_bytes, None);
}

#[test]
fn blank_content_and_holes_are_counted() {
    let mut fake = Fake { written: Bytes::mib(4), ..Fake::new(Bytes::mib(16)) };
    let device = measured(&mut fake).unwrap().pop().unwrap();
    assert_eq!((device.probed, device.blank, device.holes), (48, 36, Bytes::mib(3 * 12)));
}

#[test]
fn small_target_is_read_in_smaller_requests() {
    let readings = measured(&mut Fake::new(Bytes::kib(4))).unwrap();
    assert_eq!(readings[2].bytes, Bytes::kib(12));
    assert_eq!(readings[2].probed, 3);
}

#[test]
fn refused_direct_io_leaves_the_device_without_readings() {
    let mut fake = Fake { refuses_direct: true, ..Fake::new(Bytes::mib(16)) };
    let readings = measured(&mut fake).unwrap();
    assert!(readings[2].bytes_per_s.is_empty() && readings[1].bytes_per_s.len() == 3);
}

#[test]
fn write_cache_is_switched_on_and_off_and_a_refusal_ends_it() {
    let mut fake = Fake::new(Bytes::gib(1));
    let mut both = |refuses| {
        let switch = Switch { modes: RefCell::default(), refuses };
        let mut readings = Vec::new();
        let ended = WORKLOAD.measure_switched(&mut fake, &switch, &mut readings, &Interrupt::default());
        let layers: Vec<ReadLayer> = readings.iter().map(|reading| reading.layer).collect();
        (ended, layers, switch.modes.into_inner())
    };
    let (on, off) = (ReadLayer::DeviceCacheOn, ReadLayer::DeviceCacheOff);
    assert_eq!(both(None), (Ok(Ok(())), vec![on, off], vec![CacheMode::On, CacheMode::Off]));
    assert_eq!(both(Some(CacheMode::Off)).1, [on]);
    assert_eq!(both(Some(CacheMode::On)), (Ok(Err("refused")), vec![], vec![CacheMode::On]));
}

#[test]
fn interrupt_and_failed_read_end_the_workload() {
    let interrupt = Interrupt::default();
    interrupt.request();
    let stopped = WORKLOAD.measure(&mut Fake::new(Bytes::mib(16)), &interrupt, &mut |_| {});
    assert_eq!(stopped, Err(Stopped::Interrupted));
    let mut fake = Fake { fails_at: Some(Bytes::mib(9)), ..Fake::new(Bytes::mib(16)) };
    assert_eq!(measured(&mut fake), Err(Stopped::Host("bad block")));
}
