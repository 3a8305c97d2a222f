//! The everyday copy of docs/diagnosis.md, written to a virtual stick and timed. It shares nothing with the
//! experiments.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceError, DeviceExt, Op, Pattern};
use flashscope_sim::VirtualStick;

use super::build::{Build, CAPACITY};
use crate::error::ZooError;

/// The shares of bytes of the everyday copy: large files, medium files, small files, interleaved streams.
pub(super) const EVERYDAY: [f64; 4] = [0.8, 0.17, 0.01, 0.02];
/// The same for a copy of only small files.
pub(super) const SMALL_FILES: [f64; 4] = [0.0, 0.0, 0.01, 0.02];
/// The request size of each part.
const REQUESTS: [Bytes; 4] = [Bytes::mib(1), Bytes::kib(64), Bytes::kib(4), Bytes::kib(32)];
/// The timed bytes of each part: enough to average out the noise.
const LENGTHS: [Bytes; 4] = [Bytes::mib(48), Bytes::mib(24), Bytes::mib(2), Bytes::mib(20)];
/// The number of interleaved streams.
const STREAMS: u64 = 5;
/// The distance of two streams, and the alignment of two parts.
const STRIDE: Bytes = Bytes::mib(16);
/// The periods of garbage collection in each part.
const STALLS: [u64; 4] = [24, 8, 1, 2];

/// How the copy is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CopyMethod {
    /// Small and medium files are packed into large ones.
    pub(super) packs_files: bool,
    /// The streams are written one after another, not interleaved.
    pub(super) is_sequential: bool,
    /// The SLC cache is empty at the start, and the copy fits into it.
    pub(super) has_empty_cache: bool,
}

/// A copy in progress.
struct Copy<'a> {
    stick: VirtualStick,
    build: &'a Build,
    seconds: f64,
    next: Bytes,
}

/// Seconds per byte of a copy with these shares of its four parts.
pub(super) fn seconds_per_byte(
    build: &Build,
    method: CopyMethod,
    seed: u64,
    shares: [f64; 4],
) -> Result<f64, ZooError> {
    let stick = VirtualStick::new(&build.profile()?, seed);
    let mut copy = Copy { stick, build, seconds: 0.0, next: Bytes::ZERO };
    if let Some(cache) = build.cache.filter(|_| !method.has_empty_cache) {
        copy.write_file(cache.size + cache.size / 2, REQUESTS[0])?;
    }
    let medium = if method.packs_files { REQUESTS[0] } else { REQUESTS[1] };
    let small = if method.packs_files { REQUESTS[0] } else { REQUESTS[2] };
    let lengths = lengths(build);
    let parts = [
        copy.per_byte(lengths[0], |copy| copy.write_file(lengths[0], REQUESTS[0]))?,
        copy.per_byte(lengths[1], |copy| copy.write_file(lengths[1], medium))?,
        copy.per_byte(lengths[2], |copy| copy.write_file(lengths[2], small))?,
        copy.per_byte(lengths[3], |copy| copy.write_streams(method.is_sequential, lengths[3]))?,
    ];
    Ok(parts.iter().zip(shares).map(|(seconds, share)| seconds * share).sum())
}

/// The bytes of each part: whole periods of garbage collection, if there is any.
fn lengths(build: &Build) -> [Bytes; 4] {
    let Some(stall) = build.stall else { return LENGTHS };
    STALLS.map(|stalls| stall.every * stalls)
}

impl Copy<'_> {
    fn per_byte(
        &mut self,
        bytes: Bytes,
        part: impl FnOnce(&mut Self) -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        self.seconds = 0.0;
        part(self)?;
        Ok(self.seconds / bytes.as_f64())
    }

    /// Writes sequentially.
    fn write_file(&mut self, length: Bytes, request: Bytes) -> Result<(), DeviceError> {
        self.make_room(length);
        (0..length / request).try_for_each(|index| self.write(self.next + request * index, request))?;
        self.next += length.round_up(STRIDE);
        Ok(())
    }

    /// Writes several streams, one after another or interleaved.
    fn write_streams(&mut self, is_sequential: bool, length: Bytes) -> Result<(), DeviceError> {
        let (request, requests) = (REQUESTS[3], length / REQUESTS[3] / STREAMS);
        self.make_room(STRIDE * STREAMS);
        for index in 0..requests * STREAMS {
            let (stream, round) = if is_sequential {
                (index / requests, index % requests)
            } else {
                (index % STREAMS, index / STREAMS)
            };
            self.write(self.next + STRIDE * stream + request * round, request)?;
        }
        self.next += STRIDE * STREAMS;
        Ok(())
    }

    /// Wraps around to the start of the stick if the next part does not fit.
    fn make_room(&mut self, length: Bytes) {
        if self.next + length + Bytes::mib(32) > CAPACITY {
            self.next = Bytes::ZERO;
        }
    }

    fn write(&mut self, offset: Bytes, request: Bytes) -> Result<(), DeviceError> {
        let range = ByteRange::new(self.build.partition_start + offset, request);
        let latency: Duration = self.stick.run(Op::write(range, Pattern::new(3)))?.latency();
        self.seconds += latency.as_secs_f64();
        Ok(())
    }
}
