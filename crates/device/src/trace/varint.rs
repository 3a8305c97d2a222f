//! Numbers of variable length: LEB128 with 7 bits per byte, low bits first, and zigzag for signed numbers, as
//! in Protocol Buffers.

/// The length of the longest number: 64 bits at 7 bits per byte.
pub const BYTES_MAX: usize = 10;

/// Appends `value` to `out`.
#[expect(clippy::cast_possible_truncation, reason = "the low seven bits are wanted")]
pub fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A signed difference as an unsigned number: zigzag, so that small differences of either sign stay small.
pub const fn fold(difference: i64) -> u64 {
    (difference.cast_unsigned() << 1) ^ (difference >> 63).cast_unsigned()
}

/// The inverse of [`fold`].
pub const fn unfold(folded: u64) -> i64 {
    (folded >> 1).cast_signed() ^ -((folded & 1).cast_signed())
}

/// The difference from `from` to `to`, modulo 2^64. [`step`] is the inverse.
pub const fn difference(from: u64, to: u64) -> u64 {
    fold(to.wrapping_sub(from).cast_signed())
}

/// The number at this difference from `from`.
pub const fn step(from: u64, folded: u64) -> u64 {
    from.wrapping_add(unfold(folded).cast_unsigned())
}
