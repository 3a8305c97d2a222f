//! Splits a range at the boundaries of erase blocks or zones.

use flashscope_device::{ByteRange, Bytes};

/// The parts of a range in units of this size: the number of the unit, start and end of the part.
pub(super) fn parts(range: ByteRange, size: Bytes) -> impl Iterator<Item = (u64, Bytes, Bytes)> {
    let (start, end) = (range.offset, range.end());
    let units = start / size..end.get().div_ceil(size.get());
    units.map(move |unit| (unit, start.max(size * unit), end.min(size * (unit + 1))))
}
