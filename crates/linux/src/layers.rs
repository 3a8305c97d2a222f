//! What a read passes through: memory, the page cache with its reading ahead, the device. Each is read alone, so that none is taken for
//! another. Nothing is written.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Device};
use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;

use crate::activity::Counters;
use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::error::OpenError;
use crate::failure::{self, Failure, Refused};
use crate::open::{OpenOptions, open};
use crate::printable::printable;
use crate::sysfs::{Node, Sysfs};

/// What hdparm reads at a time.
const PIECE: Bytes = Bytes::mib(2);

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The same pages again and again, out of memory: `hdparm -T`.
    Memory,
    /// In order through the page cache, from pages it does not hold: `hdparm -t`.
    PageCache,
    /// In order past the page cache.
    Device,
}

impl Layer {
    /// All, from the nearest.
    pub const ALL: [Self; 3] = [Self::Memory, Self::PageCache, Self::Device];
}

/// What reading a layer gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerRead {
    /// How much was read.
    pub bytes: Bytes,
    /// In what time.
    pub took: Duration,
    /// How much of it the device carried, where the kernel counts.
    pub carried: Option<Bytes>,
}

/// Why a layer could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// The target cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The person asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Anything else.
    #[error(transparent)]
    System(Refused),
}

/// A target that is read through its layers.
#[derive(Debug)]
pub struct Layers {
    path: String,
    device: LinuxDevice,
    node: Option<Node>,
}

impl Layers {
    /// A disk, a partition or an image file, for reading only.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let device = open(path, &OpenOptions::default())?;
        let node = Sysfs::default().node_behind(device.file());
        Ok(Self { path: printable(&path.to_string_lossy()), device, node })
    }

    /// Reads for so long, or to the end of the target; `None` for the device where the filesystem refuses to go past the page cache.
    ///
    /// # Errors
    /// [`LayerError`]
    pub fn read(
        &self,
        layer: Layer,
        duration: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<LayerRead>, LayerError> {
        let direct = if layer == Layer::Device { OFlags::DIRECT } else { OFlags::empty() };
        let file = match self.device.again(OFlags::RDONLY | OFlags::CLOEXEC | direct) {
            Err(Errno::INVAL) if layer == Layer::Device => return Ok(None),
            opened => opened.map_err(|errno| self.failed("opening it", errno))?,
        };
        let mut reader =
            Reader { layers: self, layer, piece: self.piece(), memory: Buffer::zeroed(PIECE), interrupt };
        reader.make_ready(&file)?;
        let before = self.counters();
        let (bytes, took) = reader.read_for(&file, duration)?;
        let carried = before.zip(self.counters()).and_then(|(before, after)| {
            after.reads.bytes.get().checked_sub(before.reads.bytes.get()).map(Bytes::new)
        });
        Ok(Some(LayerRead { bytes, took, carried }))
    }

    /// Small targets are read in what fits.
    fn piece(&self) -> Bytes {
        let capabilities = self.device.capabilities();
        PIECE.min(capabilities.capacity).round_down(capabilities.logical_block)
    }

    fn counters(&self) -> Option<Counters> {
        Counters::parse(&self.node.as_ref()?.text("stat")?)
    }

    fn failed(&self, during: &'static str, errno: Errno) -> LayerError {
        LayerError::System(Refused { path: self.path.clone(), during, errno })
    }
}

/// One layer being read.
struct Reader<'a> {
    layers: &'a Layers,
    layer: Layer,
    piece: Bytes,
    memory: Buffer,
    interrupt: &'a Interrupt,
}

impl Reader<'_> {
    /// Memory holds what is read, the page cache nothing of it.
    fn make_ready(&mut self, file: &OwnedFd) -> Result<(), LayerError> {
        if self.layer == Layer::Memory {
            self.read(file, Bytes::ZERO)?;
        } else {
            // Advice only: what stays in memory shows in what the device did not carry.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
        }
        Ok(())
    }

    fn read_for(&mut self, file: &OwnedFd, duration: Duration) -> Result<(Bytes, Duration), LayerError> {
        let capacity = self.layers.device.capabilities().capacity;
        let (clock, mut done) = (Clock::start(), Bytes::ZERO);
        let began = clock.now();
        loop {
            if self.interrupt.is_requested() {
                return Err(LayerError::Interrupted);
            }
            let offset = if self.layer == Layer::Memory { Bytes::ZERO } else { done };
            self.read(file, offset)?;
            done += self.piece;
            let took = clock.now().since(began);
            let is_at_end = self.layer != Layer::Memory && done + self.piece > capacity;
            if took >= duration || is_at_end {
                return Ok((done, took));
            }
        }
    }

    fn read(&mut self, file: &OwnedFd, offset: Bytes) -> Result<(), LayerError> {
        let piece = &mut self.memory[..self.piece.to_usize()];
        failure::read_whole(file, offset, piece).map_err(|failure| match failure {
            Failure::Short => self.layers.failed("reading to its end", Errno::IO),
            Failure::Errno(errno) => self.layers.failed("reading", errno),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_of_a_file_is_read_and_a_small_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        for length in [4096, 5 << 20] {
            std::fs::write(&path, vec![7; length]).unwrap();
            let layers = Layers::open(&path).unwrap();
            for layer in Layer::ALL {
                let read = layers.read(layer, Duration::from_millis(1), &Interrupt::default()).unwrap();
                // Filesystems in memory may refuse the last one.
                assert!(read.is_none_or(|read| !read.bytes.is_zero()), "{layer:?}");
            }
        }
        let interrupt = Interrupt::default();
        interrupt.request();
        let stopped = Layers::open(&path).unwrap().read(Layer::Memory, Duration::from_secs(9), &interrupt);
        assert!(matches!(stopped, Err(LayerError::Interrupted)));
    }
}
