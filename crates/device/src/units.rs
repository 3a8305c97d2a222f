//! Types for bytes, sectors and ranges, so that they cannot be confused.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One sector, 512 bytes: the unit of [`Lba`] and of the data pattern.
pub const SECTOR: Bytes = Bytes(512);

/// A number of bytes: a size, or an offset from the start of a device.
#[derive(
    Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(u64);

/// A logical block address: an offset in sectors of 512 bytes.
#[derive(
    Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Lba(pub u64);

impl Lba {
    /// The offset in bytes of this sector.
    #[must_use]
    pub const fn offset(self) -> Bytes {
        Bytes(self.0.saturating_mul(SECTOR.0))
    }
}

impl fmt::Display for Lba {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sector {}", self.0)
    }
}

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);

    /// This many bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// This many units of 1024 bytes.
    #[must_use]
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// This many units of 1024 KiB.
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// This many units of 1024 MiB.
    #[must_use]
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as a `usize`; saturates at its largest value.
    #[must_use]
    pub fn to_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// The number of bytes as a float, for statistics and ratios.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "sizes below 2^53 bytes are exact; beyond, a ratio needs no more"
    )]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// True for zero bytes.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// True if this is a multiple of `unit`; false if `unit` is zero.
    #[must_use]
    pub const fn is_multiple_of(self, unit: Self) -> bool {
        if unit.0.is_power_of_two() {
            // Most units are powers of two, and every request is checked: a mask is faster than a division.
            return self.0 & (unit.0 - 1) == 0;
        }
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// Rounded down to a multiple of `unit`; unchanged if `unit` is zero.
    #[must_use]
    pub const fn round_down(self, unit: Self) -> Self {
        if unit.0 == 0 { self } else { Self(self.0 - self.0 % unit.0) }
    }

    /// Rounded up to a multiple of `unit`; unchanged if `unit` is zero.
    #[must_use]
    pub const fn round_up(self, unit: Self) -> Self {
        if unit.0 == 0 { self } else { Self(self.0.div_ceil(unit.0).saturating_mul(unit.0)) }
    }

    /// The difference, or zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum, or `None` if it exceeds 64 bits.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// Sectors of 512 bytes, rounded down.
    #[must_use]
    pub const fn sectors(self) -> Lba {
        Lba(self.0 / SECTOR.0)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0 * count)
    }
}

impl Div<u64> for Bytes {
    type Output = Self;
    fn div(self, count: u64) -> Self {
        Self(self.0 / count)
    }
}

/// How many times `unit` fits.
impl Div for Bytes {
    type Output = u64;
    fn div(self, unit: Self) -> u64 {
        self.0 / unit.0
    }
}

impl Rem for Bytes {
    type Output = Self;
    fn rem(self, unit: Self) -> Self {
        Self(self.0 % unit.0)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::ZERO, Add::add)
    }
}

const SUFFIXES: [(&str, u32); 5] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];

/// Shows a multiple of a binary unit exactly (`8 MiB`, `48 KiB`), and other sizes with three digits.
impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (suffix, shift) =
            SUFFIXES.into_iter().find(|(_, shift)| self.0 >> shift != 0).unwrap_or(("B", 0));
        if self.0.is_multiple_of(1 << shift) {
            return formatter.pad(&format!("{} {suffix}", self.0 >> shift));
        }
        let value = self.as_f64() / Self(1 << shift).as_f64();
        let digits = usize::from(value < 100.0) + usize::from(value < 10.0);
        formatter.pad(&format!("{value:.digits$} {suffix}"))
    }
}

/// A text that is not a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a size; write a number with B, KiB, MiB, GiB or TiB, such as 8MiB or 4096")]
pub struct ParseBytesError {
    text: String,
}

/// Parses `4096`, `8MiB`, `8 MiB`, `8M` (as 2^20), `1.5MiB`, `10MB` (as 10^6).
impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        let error = || ParseBytesError { text: text.chars().take(40).collect() };
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, suffix) = trimmed.split_at(split);
        let unit = unit_of_suffix(suffix.trim()).ok_or_else(error)?;
        if let Ok(count) = number.parse::<u64>() {
            return count.checked_mul(unit).map(Self).ok_or_else(error);
        }
        let count = number.parse::<f64>().map_err(|_| error())?;
        #[expect(clippy::cast_precision_loss, reason = "units are at most 2^40")]
        let bytes = count * unit as f64;
        if !(0.0..1e18).contains(&bytes) || bytes.fract() != 0.0 {
            return Err(error());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be whole and in range"
        )]
        Ok(Self(bytes as u64))
    }
}

fn unit_of_suffix(suffix: &str) -> Option<u64> {
    Some(match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

/// A contiguous range of a device, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ByteRange {
    /// Offset of the first byte.
    pub offset: Bytes,
    /// Number of bytes.
    pub length: Bytes,
}

impl ByteRange {
    /// The range of `length` bytes from `offset`.
    #[must_use]
    pub const fn new(offset: Bytes, length: Bytes) -> Self {
        Self { offset, length }
    }

    /// The offset behind the last byte, at most 2^64 - 1.
    #[must_use]
    pub const fn end(self) -> Bytes {
        Bytes(self.offset.0.saturating_add(self.length.0))
    }

    /// True if every byte of `other` lies in this range.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        other.offset >= self.offset
            && other.offset.checked_add(other.length).is_some_and(|end| end <= self.end())
    }

    /// True if the ranges have a byte in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at offset {} ({})", self.length, self.offset.get(), self.offset.sectors())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_a_unit_are_shown_exactly() {
        let shown: Vec<String> =
            [0, 512, 1536, 49152, 12 << 20, 3_965_190_144].map(|bytes| Bytes(bytes).to_string()).to_vec();
        assert_eq!(shown, ["0 B", "512 B", "1.50 KiB", "48 KiB", "12 MiB", "3.69 GiB"]);
    }

    #[test]
    fn sizes_with_and_without_units_are_parsed() {
        for (text, bytes) in
            [("4096", 4096), ("8MiB", 8 << 20), ("8 M", 8 << 20), ("1.5MiB", 1_572_864), ("10MB", 10_000_000)]
        {
            assert_eq!(text.parse::<Bytes>().unwrap().get(), bytes, "{text}");
        }
        for text in ["", "-1", "8 apples", "1e30", "99999999999TiB", "0.3B"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn multiples_are_those_of_the_remainder_and_nothing_is_one_of_zero() {
        for unit in 1..100_u64 {
            for bytes in 0..400 {
                let (bytes, of) = (Bytes::new(bytes), Bytes::new(unit));
                assert_eq!(bytes.is_multiple_of(of), bytes.get().is_multiple_of(unit), "{bytes} of {of}");
            }
        }
        assert!(
            Bytes::mib(48).is_multiple_of(Bytes::mib(24)) && !Bytes::mib(32).is_multiple_of(Bytes::mib(24))
        );
        assert!(!Bytes::ZERO.is_multiple_of(Bytes::ZERO) && !Bytes::kib(4).is_multiple_of(Bytes::ZERO));
    }

    #[test]
    fn a_range_beyond_64_bits_is_not_contained() {
        let whole = ByteRange::new(Bytes::ZERO, Bytes::new(u64::MAX));
        assert!(!whole.contains(ByteRange::new(Bytes::new(u64::MAX), Bytes::new(2))));
        assert!(whole.contains(ByteRange::new(Bytes::kib(4), Bytes::kib(4))));
    }
}
