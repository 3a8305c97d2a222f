//! Numbers and texts in bytes, none of them trusted.

/// The little-endian number of `length` bytes (at most 8) at `at`.
pub(super) fn little(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(length)?)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The big-endian number of `length` bytes (at most 8) at `at`.
pub(super) fn big(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(length)?)?;
    Some(field.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The text of at most `length` bytes at `at`, up to the first zero, without spaces around it; `None` if it
/// is empty.
pub(super) fn text(bytes: &[u8], at: usize, length: usize) -> Option<String> {
    let field = bytes.get(at..at.checked_add(length)?)?.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(field).trim().to_owned()).filter(|text| !text.is_empty())
}
