//! Little-endian fields in the head of a filesystem.

use crate::printable::printable;

/// The number of `length` bytes, at most 8, at `at`.
pub fn number(head: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = head.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The text at `at`, up to the first zero, printable; `None` if it is empty.
pub fn text(head: &[u8], at: usize, length: usize) -> Option<String> {
    let bytes = head.get(at..at + length)?.split(|byte| *byte == 0).next()?;
    Some(printable(&String::from_utf8_lossy(bytes))).filter(|text| !text.is_empty())
}
