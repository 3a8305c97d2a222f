//! The device of a crash case: its contents before, and what is written to it.

use flashscope_device::memory::MemoryDevice;
use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, Op, Pattern, SECTOR, Tag};

use crate::draw::Draw;

/// The sizes of requests, each with its weight.
const SIZES: [(f64, Bytes); 5] = [
    (1.0, SECTOR),
    (1.0, Bytes::kib(4)),
    (1.0, Bytes::kib(64)),
    (1.0, Bytes::kib(300)),
    (1.0, Bytes::mib(1)),
];

/// A whole number below `limit`, or zero.
pub fn below(draw: &mut Draw, limit: u64) -> u64 {
    draw.uniform_integer(0, limit.saturating_sub(1))
}

/// The data before: most of the device holds random data, the rest is blank.
pub fn full(draw: &mut Draw) -> Result<MemoryDevice, DeviceError> {
    let capacity = Bytes::mib(2 + below(draw, 6)) + SECTOR * below(draw, 20);
    let mut device = MemoryDevice::new(capacity);
    let pattern = Pattern::new(draw.seed());
    let mut offset = Bytes::ZERO;
    while offset < capacity {
        let length = (SECTOR * (1 + below(draw, 1500))).min(capacity - offset);
        if draw.bernoulli(0.80) {
            let _written = device.run(Op::write(ByteRange::new(offset, length), pattern))?;
        }
        offset += length;
    }
    Ok(device)
}

/// The requests that overwrite it: sequential streams, random writes, discards and flushes. Nobody reads half
/// of the written data back.
pub fn overwrites(capacity: Bytes, draw: &mut Draw) -> Vec<Op> {
    let pattern = Pattern::new(draw.seed());
    let mut ops = Vec::new();
    for _ in 0..1 + below(draw, 12) {
        let request = draw.weighted(&SIZES);
        let count = 1 + below(draw, 12);
        let is_sequential = draw.bernoulli(0.50);
        let is_discard = draw.bernoulli(0.15);
        let is_any = draw.bernoulli(0.50);
        let mut offset = place(capacity, request, draw);
        for _ in 0..count {
            let range = ByteRange::new(offset, request);
            let sample = if draw.bernoulli(0.30) { SECTOR } else { Bytes::ZERO };
            ops.push(match (is_discard, is_any) {
                (true, _) => Op::Discard { range },
                (false, true) => Op::write_sampled(range, pattern, ByteRange::new(range.offset, sample)),
                (false, false) => Op::write(range, pattern),
            });
            let next = range.end();
            let fits = next + request <= capacity;
            offset = if is_sequential && fits { next } else { place(capacity, request, draw) };
        }
        if draw.bernoulli(0.30) {
            ops.push(Op::Flush);
        }
    }
    ops
}

fn place(capacity: Bytes, request: Bytes, draw: &mut Draw) -> Bytes {
    SECTOR * below(draw, (capacity - request) / SECTOR + 1)
}

/// Runs requests with this queue depth, and reads between them.
pub fn run(device: &mut dyn Device, ops: Vec<Op>, queue_depth: u64) -> Result<(), DeviceError> {
    let mut in_flight = 0;
    for (index, op) in ops.into_iter().enumerate() {
        if in_flight >= queue_depth {
            in_flight -= u64::from(device.wait()?.is_some());
        }
        device.submit(Tag(index as u64), op)?;
        in_flight += 1;
    }
    while device.wait()?.is_some() {}
    Ok(())
}
