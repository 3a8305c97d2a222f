//! Stamped writes and reads: every sector holds the run's seed, its own address and the number of the pass.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use flashscope_device::pattern::BLOCK;
use flashscope_device::{
    BlockState, Buffer, ByteRange, Bytes, Capabilities, Device, DeviceError, DeviceExt, Instant, Op, Pattern,
    SECTOR,
};
use flashscope_record::capacity::{CapacityCost, PlaceState};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::contract::{Estimate, Event, Observer};
use crate::limits::{ATTEMPTS, LARGE_REQUEST};

/// The name that the observer hears.
pub const NAME: &str = "verify";
/// Failed writes in a row that end a sequential run. Beyond the real size of some fakes every write fails,
/// and each may take seconds.
const FAILED_WRITES_MAX: u32 = 4;
/// Units that are tried for one stamp in each direction. With 20 % bad units, chance hides all in 1 of 600
/// cases.
const NEIGHBOURS: u64 = 4;

/// What one unit returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The stamp of this address and this pass.
    Kept,
    /// The stamp of another address.
    OtherAddress(Bytes),
    /// The stamp of this address, of another pass.
    OtherPass,
    /// One byte value throughout.
    Blank(u8),
    /// Other data, with its hash.
    Other(u64),
    /// The read failed.
    ReadError,
    /// The write failed.
    WriteError,
}

/// One unit that was written.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Its offset.
    pub at: Bytes,
    /// The pass that wrote it.
    pub pass: u32,
    /// The hash of its contents before, if they were read.
    pub before: Option<u64>,
    /// What it returned.
    pub found: Found,
}

impl Place {
    /// Whether it returned what was written.
    pub fn is_kept(&self) -> bool {
        self.found == Found::Kept
    }

    /// What it returned, as it is stored.
    pub fn state(&self) -> PlaceState {
        match self.found {
            Found::Kept => PlaceState::Kept,
            Found::OtherAddress(_) => PlaceState::OtherAddress,
            Found::OtherPass => PlaceState::Previous,
            Found::Other(hash) if self.before == Some(hash) => PlaceState::Previous,
            Found::Blank(0) => PlaceState::Zeros,
            Found::Blank(0xff) => PlaceState::Ones,
            Found::Blank(_) | Found::Other(_) => PlaceState::Garbage,
            Found::ReadError => PlaceState::ReadError,
            Found::WriteError => PlaceState::WriteError,
        }
    }
}

/// A sequential run of stamps.
#[derive(Debug, Clone)]
pub struct Run {
    /// Where it lies. Shorter than wanted if writes failed.
    pub range: ByteRange,
    /// Its pass.
    pub pass: u32,
    /// The requests whose writes failed.
    pub failed: Vec<ByteRange>,
}

/// The sizes of the requests to a device.
#[derive(Debug, Clone, Copy)]
pub struct RequestSizes {
    /// The unit of addresses: one logical block.
    pub unit: Bytes,
    /// The size of a write in a run.
    pub request: Bytes,
}

impl RequestSizes {
    pub fn of(capabilities: &Capabilities) -> Self {
        let unit = capabilities.logical_block.max(SECTOR);
        Self { unit, request: LARGE_REQUEST.min(capabilities.max_request).round_down(unit).max(unit) }
    }

    /// The most writes of a run of this length, wherever it starts.
    pub fn writes_max(self, length: Bytes) -> u64 {
        length.round_up(self.request) / self.request + 1
    }
}

/// A device that is written with stamps and read back.
pub struct Stamped<'a> {
    device: &'a mut dyn Device,
    observer: &'a mut dyn Observer,
    random: Xoshiro256PlusPlus,
    pattern: Pattern,
    /// The unit of addresses: one logical block.
    pub unit: Bytes,
    /// The capacity that the device announces, in whole units.
    pub capacity: Bytes,
    request: Bytes,
    start: Instant,
    cost: CapacityCost,
    writes: u64,
    /// Sequential runs and scans end early when this device time is spent.
    pub time_max: Duration,
    /// Writes that failed, and places that are wrong so far.
    pub lost: u64,
    /// Places that were wrong once and right the second time.
    pub wrong_once: u64,
    /// Writes that failed once and worked when repeated.
    pub failed_once: u64,
}

impl<'a> Stamped<'a> {
    /// Begins, and tells the observer.
    pub fn begin(
        device: &'a mut dyn Device,
        seed: u64,
        estimate: Estimate,
        observer: &'a mut dyn Observer,
    ) -> Self {
        observer.event(Event::Begin { name: NAME, estimate });
        let capabilities = device.capabilities();
        let RequestSizes { unit, request } = RequestSizes::of(&capabilities);
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            pattern: Pattern::new(seed),
            unit,
            capacity: capabilities.capacity.round_down(unit),
            request,
            start: device.now(),
            device,
            observer,
            cost: CapacityCost::default(),
            writes: 0,
            time_max: Duration::MAX,
            lost: 0,
            wrong_once: 0,
            failed_once: 0,
        }
    }

    /// The cost until now.
    pub fn cost(&self) -> CapacityCost {
        CapacityCost { device_time: self.device.now().since(self.start), ..self.cost }
    }

    /// Whether the time is spent.
    pub fn is_due(&self) -> bool {
        self.cost().device_time >= self.time_max
    }

    /// Tells the observer that it ended.
    pub fn end(&mut self) {
        self.observer.event(Event::End);
    }

    /// Writes the range sequentially, with a flush. Ends early after [`FAILED_WRITES_MAX`] failures in a row.
    pub fn write_run(&mut self, range: ByteRange) -> Result<Run, DeviceError> {
        self.pattern = self.pattern.next_generation();
        let mut run = Run { range, pass: self.pattern.generation, failed: Vec::new() };
        let (mut at, mut in_a_row) = (range.offset, 0);
        while at < range.end() && in_a_row < FAILED_WRITES_MAX && !self.is_due() {
            let length = (self.request - at % self.request).min(range.end() - at);
            let piece = ByteRange::new(at, length);
            let is_written = self.write(piece)?;
            in_a_row = if is_written { 0 } else { in_a_row + 1 };
            if !is_written {
                run.failed.push(piece);
            }
            at = piece.end();
        }
        run.range = ByteRange::new(range.offset, at - range.offset);
        self.flush()?;
        Ok(run)
    }

    /// Writes one unit at each of these ascending offsets, with a flush.
    pub fn write_places(&mut self, offsets: &[Bytes]) -> Result<Vec<Place>, DeviceError> {
        self.pattern = self.pattern.next_generation();
        let pass = self.pattern.generation;
        let mut places = Vec::with_capacity(offsets.len());
        for at in offsets {
            let is_written = self.write(ByteRange::new(*at, self.unit))?;
            let found = if is_written { Found::Kept } else { Found::WriteError };
            places.push(Place { at: *at, pass, before: None, found });
        }
        self.flush()?;
        Ok(places)
    }

    /// Reads places in random order; a place that is wrong is read again after all others.
    pub fn read_places(&mut self, places: &mut [Place]) -> Result<(), DeviceError> {
        let mut order: Vec<usize> = (0..places.len()).collect();
        self.shuffle(&mut order);
        let mut again = Vec::new();
        for index in order {
            let Some(place) = places.get_mut(index).filter(|place| place.found != Found::WriteError) else {
                continue;
            };
            place.found = self.read(place.at, place.pass)?.0;
            if !place.is_kept() {
                self.lost += 1;
                again.push(index);
            }
        }
        if !again.is_empty() {
            self.observer.event(Event::SecondLook);
        }
        for index in again {
            let Some(place) = places.get_mut(index) else { continue };
            let second = self.read(place.at, place.pass)?.0;
            if second == Found::Kept || place.found == Found::ReadError {
                self.wrong_once += u64::from(second == Found::Kept);
                self.lost -= u64::from(second == Found::Kept);
                place.found = second;
            }
        }
        Ok(())
    }

    /// Reads one unit that was written in this pass, and its latency.
    pub fn read(&mut self, at: Bytes, pass: u32) -> Result<(Found, Duration), DeviceError> {
        let started = self.device.now();
        let read = self.device.read_bytes(ByteRange::new(at, self.unit))?;
        let latency = self.device.now().since(started);
        self.cost.bytes_read += self.unit;
        self.count();
        let pattern = Pattern { generation: pass, ..self.pattern };
        Ok((read.map_or(Found::ReadError, |buffer| identify(pattern, at, &buffer)), latency))
    }

    /// Whether the unit at `at` holds the stamp of the address `home`; or one of its neighbours that of its
    /// own, because some units may be bad.
    pub fn holds(&mut self, at: Bytes, home: Bytes) -> Result<bool, DeviceError> {
        let unit = self.unit;
        let after = (0..NEIGHBOURS).map(|index| (at + unit * index, home + unit * index));
        let before = (1..NEIGHBOURS).map(|index| unit * index).filter(|back| *back <= at.min(home));
        for (at, home) in after.chain(before.map(|back| (at - back, home - back))) {
            if at.max(home) >= self.capacity {
                continue;
            }
            if self.read(at, self.pattern.generation)?.0 == Found::OtherAddress(home) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The hash of the contents of a unit; `None` if it cannot be read.
    pub fn hash(&mut self, at: Bytes) -> Result<Option<u64>, DeviceError> {
        let read = self.device.read_bytes(ByteRange::new(at, self.unit))?;
        self.cost.bytes_read += self.unit;
        self.count();
        Ok(read.ok().map(|buffer| hash(&buffer)))
    }

    /// One offset in each of `count` equal strata of the range, ascending; all units if there are fewer.
    pub fn stratified(&mut self, range: ByteRange, count: u64) -> Vec<Bytes> {
        let units = range.length / self.unit;
        let count = count.min(units);
        let scale = |index: u64| u128::from(index) * u128::from(units) / u128::from(count.max(1));
        let bounds = |index: u64| {
            let at = |index| u64::try_from(scale(index)).unwrap_or(u64::MAX);
            (at(index), at(index + 1))
        };
        (0..count)
            .map(|index| {
                let (low, high) = bounds(index);
                range.offset + self.unit * (low + self.draw(high - low))
            })
            .collect()
    }

    fn write(&mut self, range: ByteRange) -> Result<bool, DeviceError> {
        for attempt in 0..ATTEMPTS {
            let completion = self.device.run(Op::write(range, self.pattern))?;
            self.cost.bytes_written += range.length;
            self.writes += 1;
            self.count();
            if completion.outcome.is_ok() {
                self.failed_once += u64::from(attempt > 0);
                return Ok(true);
            }
        }
        self.lost += 1;
        Ok(false)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.device.run(Op::Flush)?;
        self.count();
        Ok(())
    }

    fn count(&mut self) {
        self.cost.requests += 1;
        let device_time = self.device.now().since(self.start);
        self.observer.event(Event::Progress {
            requests: self.cost.requests,
            writes: self.writes,
            bytes_written: self.cost.bytes_written,
            bytes_read: self.cost.bytes_read,
            device_time,
        });
    }

    /// A uniform random number below `below`; 0 if `below` is 0.
    fn draw(&mut self, below: u64) -> u64 {
        let product = u128::from(self.random.next_u64()) * u128::from(below);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.draw(last as u64 + 1)).unwrap_or(0);
            items.swap(last, other);
        }
    }
}

/// The first sector of a unit that is not as written decides.
fn identify(pattern: Pattern, at: Bytes, buffer: &Buffer) -> Found {
    let (sectors, _) = buffer.as_chunks::<BLOCK>();
    for (sector, index) in sectors.iter().zip(0u64..) {
        let offset = SECTOR * index;
        let found = match pattern.identify((at + offset).sectors(), sector) {
            BlockState::Right => continue,
            BlockState::Stale { .. } => Found::OtherPass,
            BlockState::Misplaced { home, .. } => Found::OtherAddress(home.offset().saturating_sub(offset)),
            BlockState::Blank { byte } => Found::Blank(byte),
            BlockState::Corrupt => Found::Other(hash(buffer)),
        };
        return found;
    }
    Found::Kept
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use flashscope_device::Payload;
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::Silent;

    /// Whether unit 10 counts as an image of unit 100, if only unit `at` holds a stamp, that of unit `home`.
    fn is_image(at: u64, home: u64) -> bool {
        let mut device = MemoryDevice::new(SECTOR * 128);
        let mut stamp = Buffer::zeroed(SECTOR);
        Pattern::new(7).fill((SECTOR * home).sectors(), &mut stamp);
        let range = ByteRange::new(SECTOR * at, SECTOR);
        device.run(Op::Write { range, payload: Payload::Bytes(stamp) }).unwrap().outcome.unwrap();
        let mut observer = Silent;
        let mut io = Stamped::begin(&mut device, 7, Estimate::default(), &mut observer);
        io.holds(SECTOR * 10, SECTOR * 100).unwrap()
    }

    #[test]
    fn an_image_shows_in_the_three_units_on_either_side_if_the_unit_itself_is_bad() {
        for at in 5..=15 {
            assert_eq!(is_image(at, 90 + at), (7..=13).contains(&at), "{at}");
        }
        assert!(!is_image(11, 102) && !is_image(9, 100), "images at another distance");
    }
}
