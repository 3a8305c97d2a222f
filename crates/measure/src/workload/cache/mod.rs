//! The cache workload: read throughput of memory, the page cache and the device, round-robin. Nothing is
//! written.

mod layer;

#[cfg(test)]
mod tests;

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_device::host::{CacheMode, LayerHost, WriteCacheSwitch};
use flashscope_device::layer::Interrupt;

use super::{Stopped, positive_seconds};
use layer::{LayerReading, read};

/// The layer that serves a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadLayer {
    /// The same pages repeatedly, out of memory: `hdparm -T`.
    Memory,
    /// Sequential reads through the page cache, from pages it does not hold: `hdparm -t`.
    PageCache,
    /// Sequential reads with direct I/O.
    Device,
    /// As `Device`, with the drive's own write cache on.
    DeviceCacheOn,
    /// As `Device`, with the drive's own write cache off.
    DeviceCacheOff,
}

impl ReadLayer {
    /// The layers of every round, from the fastest to the slowest.
    pub const ALL: [Self; 3] = [Self::Memory, Self::PageCache, Self::Device];
}

/// All readings of one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerReadings {
    /// The layer.
    pub layer: ReadLayer,
    /// Bytes per second of each round.
    pub bytes_per_s: Vec<f64>,
    /// Bytes read.
    pub bytes: Bytes,
    /// How many of the bytes came from the device, where the kernel counts.
    pub device_bytes: Option<Bytes>,
    /// How many of the bytes are holes of a sparse file.
    pub holes: Bytes,
    /// How many offsets were checked for blank content.
    pub probed: u32,
    /// How many of those hold the same byte throughout, as never-written storage does.
    pub blank: u32,
}

impl LayerReadings {
    const fn new(layer: ReadLayer) -> Self {
        let (bytes, holes) = (Bytes::ZERO, Bytes::ZERO);
        Self { layer, bytes_per_s: Vec::new(), bytes, device_bytes: None, holes, probed: 0, blank: 0 }
    }

    fn add(&mut self, reading: &LayerReading) {
        let is_first = self.bytes_per_s.is_empty();
        self.bytes_per_s.push(reading.bytes.as_f64() / positive_seconds(reading.elapsed));
        self.bytes += reading.bytes;
        self.holes += reading.holes;
        self.probed += reading.probed;
        self.blank += reading.blank;
        self.device_bytes = if is_first {
            reading.device_bytes
        } else {
            self.device_bytes.zip(reading.device_bytes).map(|(sum, more)| sum + more)
        };
    }
}

/// The settings of the workload.
#[derive(Debug, Clone, Copy)]
pub struct CacheWorkload {
    /// The number of rounds.
    pub rounds: u32,
    /// The time of each reading.
    pub duration: Duration,
}

impl CacheWorkload {
    /// Reads all layers in each round, so that a disturbance affects all of them. `observer` gets the
    /// number of each round.
    ///
    /// # Errors
    /// [`Stopped`] if the host failed, or the person interrupted it.
    pub fn measure<H: LayerHost>(
        &self,
        host: &mut H,
        interrupt: &Interrupt,
        observer: &mut dyn FnMut(u32),
    ) -> Result<Vec<LayerReadings>, Stopped<H::Error>> {
        let mut readings: Vec<LayerReadings> = ReadLayer::ALL.into_iter().map(LayerReadings::new).collect();
        for round in 1..=self.rounds {
            observer(round);
            for layer in &mut readings {
                self.read(host, layer, interrupt)?;
            }
        }
        Ok(readings)
    }

    /// Reads the device with the drive's own cache on, then off, and adds both to `readings`. A cache that
    /// cannot be switched ends it with the inner error.
    ///
    /// # Errors
    /// [`Stopped`] if the host failed, or the person interrupted it.
    pub fn measure_switched<H: LayerHost, S: WriteCacheSwitch>(
        &self,
        host: &mut H,
        switch: &S,
        readings: &mut Vec<LayerReadings>,
        interrupt: &Interrupt,
    ) -> Result<Result<(), S::Error>, Stopped<H::Error>> {
        let modes = [(ReadLayer::DeviceCacheOn, CacheMode::On), (ReadLayer::DeviceCacheOff, CacheMode::Off)];
        for (layer, mode) in modes {
            if let Err(refused) = switch.switch(mode) {
                return Ok(Err(refused));
            }
            let mut layer = LayerReadings::new(layer);
            for _ in 0..self.rounds {
                self.read(host, &mut layer, interrupt)?;
            }
            readings.push(layer);
        }
        Ok(Ok(()))
    }

    /// One reading, unless the filesystem refuses direct I/O.
    fn read<H: LayerHost>(
        &self,
        host: &mut H,
        readings: &mut LayerReadings,
        interrupt: &Interrupt,
    ) -> Result<(), Stopped<H::Error>> {
        if let Some(reading) = read(host, readings.layer, self.duration, interrupt)? {
            readings.add(&reading);
        }
        Ok(())
    }
}
