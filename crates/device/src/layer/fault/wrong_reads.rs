//! Reads that return other data than was written.

use std::collections::HashMap;

use super::spec::WrongReadSpec;
use crate::buffer::Buffer;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::pattern::{BLOCK, Pattern};
use crate::request::{Completion, Op, ReadInto, Success, Tag};
use crate::time::Instant;
use crate::units::{ByteRange, Bytes, Lba, SECTOR};

/// What is added to a wrong sector's bytes.
const MASK: u8 = 0x5a;
/// Multipliers that mix an address: fractional digits of the golden ratio, and of sqrt(3).
const MIX: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];

/// A device that returns wrong data for some sectors, as [`WrongReadSpec`] describes, and no error.
#[derive(Debug)]
pub struct WrongReads<D> {
    device: D,
    spec: WrongReadSpec,
    seed: u64,
    /// How often each wrong sector was read.
    reads: HashMap<u64, u32>,
    in_flight: HashMap<Tag, InFlight>,
    next_tag: u64,
}

/// A request in flight.
#[derive(Debug)]
struct InFlight {
    /// The caller's tag.
    tag: Tag,
    range: ByteRange,
    /// The sectors that will be wrong.
    wrong: Vec<u64>,
    /// What the caller wants the bytes to be checked against. The device below only reads them.
    check: Option<Pattern>,
}

impl<D: Device> WrongReads<D> {
    /// `device` with wrong sectors; `seed` selects them.
    pub fn new(device: D, spec: WrongReadSpec, seed: u64) -> Self {
        Self { device, spec, seed, reads: HashMap::new(), in_flight: HashMap::new(), next_tag: 0 }
    }

    /// The sectors of this read that return wrong data, counted as read.
    fn wrong(&mut self, range: ByteRange) -> Vec<u64> {
        let first = range.offset.sectors().0;
        let mut wrong: Vec<u64> =
            (first..first + range.length / SECTOR).filter(|sector| self.is_wrong(*sector)).collect();
        if let Some(times) = self.spec.times {
            wrong.retain(|sector| {
                let reads = self.reads.entry(*sector).or_default();
                *reads += 1;
                *reads <= times
            });
        }
        wrong
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a float")]
    fn is_wrong(&self, sector: u64) -> bool {
        let place = ByteRange::new(Lba(sector).offset(), SECTOR);
        if self.spec.range.is_some_and(|bad| !bad.overlaps(place)) {
            return false;
        }
        let mut mixed = sector ^ self.seed;
        for factor in MIX {
            mixed = (mixed ^ (mixed >> 31)).wrapping_mul(factor);
        }
        ((mixed >> 11) as f64 / (1u64 << 53) as f64) < self.spec.share
    }
}

/// The completion with these sectors wrong. A check is one of the bytes that are returned then.
fn corrupted(mut completion: Completion, read: &InFlight) -> Completion {
    if let Some(buffer) = &mut completion.buffer {
        let (sectors, _) = buffer.as_chunks_mut::<BLOCK>();
        let start = read.range.offset.sectors().0;
        for sector in &read.wrong {
            let index = usize::try_from(sector - start).unwrap_or(usize::MAX);
            sectors.get_mut(index).into_iter().flatten().for_each(|byte| *byte ^= MASK);
        }
    }
    let Some(pattern) = &read.check else { return completion };
    let bytes = completion.buffer.take();
    if let (Ok(_), Some(bytes)) = (&completion.outcome, bytes) {
        let report = pattern.check(read.range.offset.sectors(), &bytes);
        completion.outcome = Ok(Success::of_check(report));
    }
    completion
}

impl<D: Device> Device for WrongReads<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let inner = Tag(self.next_tag);
        let range = op.range().unwrap_or(ByteRange::new(Bytes::ZERO, Bytes::ZERO));
        let wrong = match &op {
            Op::Read { into: ReadInto::Check(_) | ReadInto::Bytes(_), .. } => self.wrong(range),
            _ => Vec::new(),
        };
        let (op, check) = match op {
            Op::Read { into: ReadInto::Check(pattern), .. } if !wrong.is_empty() => {
                (Op::Read { range, into: ReadInto::Bytes(Buffer::zeroed(range.length)) }, Some(pattern))
            }
            op => (op, None),
        };
        self.device.submit(inner, op)?;
        self.next_tag += 1;
        self.in_flight.insert(inner, InFlight { tag, range, wrong, check });
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some(completion) = self.device.wait()? else { return Ok(None) };
        let Some(read) = self.in_flight.remove(&completion.tag) else { return Ok(Some(completion)) };
        Ok(Some(corrupted(Completion { tag: read.tag, ..completion }, &read)))
    }
}
