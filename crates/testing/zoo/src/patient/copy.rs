//! The everyday copy of docs/diagnosis.md, written on a virtual stick and timed. Nothing here knows of measurements.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceError, DeviceExt, Op, Pattern};
use flashscope_sim::VirtualStick;

use super::build::Build;
use crate::error::ZooError;

/// The shares of bytes: large files, files of medium size, small pieces, several places in turn.
pub(super) const EVERYDAY: [f64; 4] = [0.8, 0.17, 0.01, 0.02];
/// The same of small files that are copied alone.
pub(super) const SMALL_FILES: [f64; 4] = [0.0, 0.0, 0.01, 0.02];
/// The requests of each.
const REQUESTS: [Bytes; 4] = [Bytes::mib(1), Bytes::kib(64), Bytes::kib(4), Bytes::kib(32)];
/// How much of each is timed: enough for noise not to matter.
const LENGTHS: [Bytes; 4] = [Bytes::mib(48), Bytes::mib(24), Bytes::mib(2), Bytes::mib(20)];
/// How many places are written in turn.
const PLACES: u64 = 5;
/// How many periods of collection there are in each.
const STALLS: [u64; 4] = [24, 8, 1, 2];

/// How the copy is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Habit {
    /// Small and medium-sized files are packed into large ones.
    pub(super) packs: bool,
    /// One place is written after the other.
    pub(super) in_order: bool,
    /// A cache has been emptied before, and all of it fits there.
    pub(super) rested: bool,
}

/// Where the parts of the copy go next on the stick.
struct Copy<'a> {
    stick: VirtualStick,
    build: &'a Build,
    seconds: f64,
    next: Bytes,
}

/// Seconds for a byte of the copy, of which the parts have these shares.
pub(super) fn seconds_per_byte(
    build: &Build,
    habit: Habit,
    seed: u64,
    shares: [f64; 4],
) -> Result<f64, ZooError> {
    let stick = VirtualStick::new(&build.profile()?, seed);
    let mut copy = Copy { stick, build, seconds: 0.0, next: Bytes::ZERO };
    if let Some(cache) = build.cache.filter(|_| !habit.rested) {
        copy.row(cache.size + cache.size / 2, REQUESTS[0])?;
    }
    let medium = if habit.packs { REQUESTS[0] } else { REQUESTS[1] };
    let small = if habit.packs { REQUESTS[0] } else { REQUESTS[2] };
    let lengths = lengths(build);
    let parts = [
        copy.per_byte(lengths[0], |copy| copy.row(lengths[0], REQUESTS[0]))?,
        copy.per_byte(lengths[1], |copy| copy.row(lengths[1], medium))?,
        copy.per_byte(lengths[2], |copy| copy.row(lengths[2], small))?,
        copy.per_byte(lengths[3], |copy| copy.places(habit.in_order, lengths[3]))?,
    ];
    Ok(parts.iter().zip(shares).map(|(seconds, share)| seconds * share).sum())
}

/// Whole periods of collection, where there is any.
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

    /// One request behind the other.
    fn row(&mut self, length: Bytes, request: Bytes) -> Result<(), DeviceError> {
        self.make_room(length);
        (0..length / request).try_for_each(|index| self.write(self.next + request * index, request))?;
        self.next += length.round_up(Bytes::mib(16));
        Ok(())
    }

    /// Several places in turn, or one after the other.
    fn places(&mut self, in_order: bool, length: Bytes) -> Result<(), DeviceError> {
        let (request, each) = (REQUESTS[3], length / REQUESTS[3] / PLACES);
        let apart = Bytes::mib(16);
        self.make_room(apart * PLACES);
        for index in 0..each * PLACES {
            let (place, round) =
                if in_order { (index / each, index % each) } else { (index % PLACES, index / PLACES) };
            self.write(self.next + apart * place + request * round, request)?;
        }
        self.next += apart * PLACES;
        Ok(())
    }

    /// Begins again at the start where the stick ends.
    fn make_room(&mut self, length: Bytes) {
        if self.next + length + Bytes::mib(32) > Bytes::gib(2) {
            self.next = Bytes::ZERO;
        }
    }

    fn write(&mut self, offset: Bytes, request: Bytes) -> Result<(), DeviceError> {
        let range = ByteRange::new(self.build.partition_start + offset, request);
        let took: Duration = self.stick.run(Op::write(range, Pattern::new(3)))?.latency();
        self.seconds += took.as_secs_f64();
        Ok(())
    }
}
