//! Numbers in as few bytes as they need: seven bits a byte, low ones first, and signed ones folded (LEB128 and zigzag, as in
//! Protocol Buffers).

/// The longest number: 64 bits, seven at a time.
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

/// A signed difference as an unsigned number, small for small ones of either sign.
pub const fn fold(difference: i64) -> u64 {
    (difference.cast_unsigned() << 1) ^ (difference >> 63).cast_unsigned()
}

/// The difference that was folded.
pub const fn unfold(folded: u64) -> i64 {
    (folded >> 1).cast_signed() ^ -((folded & 1).cast_signed())
}

/// The difference from `from` to `to`, wrapped around where it exceeds 63 bits; [`step`] undoes it.
pub const fn difference(from: u64, to: u64) -> u64 {
    fold(to.wrapping_sub(from).cast_signed())
}

/// Where a difference leads.
pub const fn step(from: u64, folded: u64) -> u64 {
    from.wrapping_add(unfold(folded).cast_unsigned())
}
