//! One reading of one layer.

use std::time::Duration;

use flashscope_device::host::{LayerHost, ReadPath};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes};

use super::ReadLayer;
use crate::limits::{CONTENT_READS, SMALL_REQUEST};
use crate::workload::Stopped;

/// The size of each read; hdparm uses the same.
const REQUEST_SIZE: Bytes = Bytes::mib(2);

/// The result of one reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerReading {
    /// Bytes read.
    pub bytes: Bytes,
    /// The time the reads took.
    pub elapsed: Duration,
    /// How many of the bytes came from the device, where the kernel counts.
    pub device_bytes: Option<Bytes>,
    /// How many of the bytes are holes of a sparse file, which the disk is not asked for.
    pub holes: Bytes,
    /// How many offsets were checked for blank content.
    pub probed: u32,
    /// How many of those hold the same byte throughout.
    pub blank: u32,
}

/// Reads one layer for `duration`, or to the end of the target. `None` if the filesystem refuses direct I/O.
pub fn read<H: LayerHost>(
    host: &mut H,
    layer: ReadLayer,
    duration: Duration,
    interrupt: &Interrupt,
) -> Result<Option<LayerReading>, Stopped<H::Error>> {
    let is_memory = layer == ReadLayer::Memory;
    let path = match layer {
        ReadLayer::Memory | ReadLayer::PageCache => ReadPath::PageCache,
        ReadLayer::Device | ReadLayer::DeviceCacheOn | ReadLayer::DeviceCacheOff => ReadPath::Direct,
    };
    if !host.open(path)? {
        return Ok(None);
    }
    // Small targets are read in what fits.
    let request_size = REQUEST_SIZE.min(host.capacity()).round_down(host.logical_block());
    let memory = Buffer::zeroed(REQUEST_SIZE);
    let mut reader = Reader { host, is_memory, request_size, memory, interrupt };
    reader.prepare()?;
    let before = reader.host.bytes_read();
    let (bytes, elapsed) = reader.read_for(duration)?;
    let after = reader.host.bytes_read();
    let device_bytes = before.zip(after).and_then(|(before, after)| after.get().checked_sub(before.get()));
    let device_bytes = device_bytes.map(Bytes::new);
    if is_memory {
        return Ok(Some(LayerReading {
            bytes,
            elapsed,
            device_bytes,
            holes: Bytes::ZERO,
            probed: 0,
            blank: 0,
        }));
    }
    let (probed, blank) = reader.probe(bytes)?;
    let holes = reader.host.holes(bytes);
    Ok(Some(LayerReading { bytes, elapsed, device_bytes, holes, probed, blank }))
}

/// A layer being read.
struct Reader<'a, H> {
    host: &'a mut H,
    is_memory: bool,
    request_size: Bytes,
    memory: Buffer,
    interrupt: &'a Interrupt,
}

impl<H: LayerHost> Reader<'_, H> {
    /// Brings the first request into memory, or drops the target from the page cache.
    fn prepare(&mut self) -> Result<(), Stopped<H::Error>> {
        if self.is_memory {
            self.read_at(Bytes::ZERO, self.request_size)?;
        } else {
            self.host.drop_page_cache();
        }
        Ok(())
    }

    fn read_for(&mut self, duration: Duration) -> Result<(Bytes, Duration), Stopped<H::Error>> {
        let (capacity, started, mut done) = (self.host.capacity(), self.host.now(), Bytes::ZERO);
        loop {
            if self.interrupt.is_requested() {
                return Err(Stopped::Interrupted);
            }
            let offset = if self.is_memory { Bytes::ZERO } else { done };
            self.read_at(offset, self.request_size)?;
            done += self.request_size;
            let elapsed = self.host.now().since(started);
            let is_at_end = !self.is_memory && done + self.request_size > capacity;
            if elapsed >= duration || is_at_end {
                return Ok((done, elapsed));
            }
        }
    }

    /// How many offsets of the part that was read were checked, and how many are blank. Not part of the time.
    fn probe(&mut self, bytes: Bytes) -> Result<(u32, u32), Stopped<H::Error>> {
        let block = self.host.logical_block();
        let length = SMALL_REQUEST.max(block).min(self.request_size).round_down(block);
        let (mut probed, mut blank) = (0, 0);
        let reads = CONTENT_READS as u64;
        for index in 0..reads.min(bytes / length) {
            let offset = (bytes * index / reads).round_down(block).min(bytes - length);
            self.read_at(offset, length)?;
            let found = &self.memory[..length.to_usize()];
            probed += 1;
            blank += u32::from(found.iter().all(|byte| Some(byte) == found.first()));
        }
        Ok((probed, blank))
    }

    fn read_at(&mut self, offset: Bytes, length: Bytes) -> Result<(), Stopped<H::Error>> {
        Ok(self.host.read(offset, &mut self.memory[..length.to_usize()])?)
    }
}
