//! Limits of the numbers in a run file. Anybody can write one, and inference and reports compute with its
//! numbers: blocks larger than 64 bits, or a round without a write, leave nothing to compute.

use std::time::Duration;

use flashscope_device::Bytes;

/// A number that no measurement gives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this run file cannot be right: {path} is {found}; {allowed}")]
pub struct Impossible {
    /// Where it stands in the JSON, e.g. `observations[2].data.cells[0].open_units`.
    pub path: String,
    /// The number as it would be shown.
    pub found: String,
    /// What is allowed there.
    pub allowed: &'static str,
}

/// The result of a check.
pub(crate) type Checked = Result<(), Impossible>;

/// The end of sizes: 16 times as much, the largest factor in any computation, still fits into 64 bits.
const SIZE_END: Bytes = Bytes::new(1 << 60);
/// The largest erase block or request: far above the largest allocation unit of SD cards, 64 MiB.
const BLOCK_MAX: Bytes = Bytes::gib(1024);
/// The most erase blocks: the largest card with the smallest blocks.
const UNITS_MAX: u32 = 1 << 27;
/// The most writes that are timed together.
pub(crate) const REQUESTS_MAX: u32 = 1 << 20;
/// The range of a device's clock, 584 years. A clock that was set while a request was in flight gives years,
/// and all other data is kept.
const TIME_MAX: Duration = Duration::from_nanos(u64::MAX);

/// A size, below 2^60 bytes.
pub(crate) fn size(name: &str, size: Bytes) -> Checked {
    permit(size < SIZE_END, name, size, "sizes lie below 2^60 bytes")
}

/// The size of a request, from 1 byte to 1 TiB.
pub(crate) fn block(name: &str, size: Bytes) -> Checked {
    permit(!size.is_zero() && size <= BLOCK_MAX, name, size, "it must lie between 1 byte and 1 TiB")
}

/// An erase block, at most 1 TiB. Zero if a log does not say.
pub(crate) fn erase_block(size: Bytes) -> Checked {
    permit(size <= BLOCK_MAX, "erase_block", size, "erase blocks have at most 1 TiB")
}

/// A number of erase blocks, from `least` to 2^27.
pub(crate) fn count(name: &str, number: u32, least: u32) -> Checked {
    let allowed =
        if least == 0 { "there are at most 2^27 erase blocks" } else { "it must lie between 1 and 2^27" };
    permit((least..=UNITS_MAX).contains(&number), name, number, allowed)
}

/// A time, at most 2^64 ns.
pub(crate) fn time(name: &str, time: Duration) -> Checked {
    permit(time <= TIME_MAX, name, format!("{} s", time.as_secs()), "times have at most 2^64 ns")
}

/// A time in seconds, from 0 to 2^64 ns.
pub(crate) fn seconds(name: &str, seconds: f64) -> Checked {
    let is_time = (0.0..=TIME_MAX.as_secs_f64()).contains(&seconds);
    permit(is_time, name, seconds, "it must lie between 0 and 2^64 ns")
}

/// A time in seconds, above 0.
pub(crate) fn positive(name: &str, seconds: f64) -> Checked {
    let is_time = seconds > 0.0 && seconds <= TIME_MAX.as_secs_f64();
    permit(is_time, name, seconds, "it must lie above 0, and be at most 2^64 ns")
}

/// An error unless `is_allowed`.
pub(crate) fn permit(is_allowed: bool, name: &str, found: impl ToString, allowed: &'static str) -> Checked {
    if is_allowed {
        return Ok(());
    }
    Err(Impossible { path: name.to_owned(), found: found.to_string(), allowed })
}

/// Checks every item. The path of an error says which item it is.
pub(crate) fn each<T>(name: &str, items: &[T], check: impl Fn(&T) -> Checked) -> Checked {
    items
        .iter()
        .enumerate()
        .try_for_each(|(index, item)| check(item).map_err(|error| error.inside(&format!("{name}[{index}]"))))
}

impl Impossible {
    /// The number and what is allowed, for data that comes from another file than a run.
    #[must_use]
    pub fn in_short(&self) -> String {
        let name = self.path.rsplit('.').next().unwrap_or_default();
        format!("{name} is {}; {}", self.found, self.allowed)
    }

    /// The same number inside `parent`.
    pub(crate) fn inside(mut self, parent: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.path = format!("{parent}{dot}{}", self.path);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_allows_its_ends_and_nothing_beyond() {
        let ok = |checked: Checked| checked.is_ok();
        let bytes = |exponent: u32| Bytes::new(1 << exponent);
        assert!(ok(size("", Bytes::new((1 << 60) - 1))) && !ok(size("", bytes(60))));
        assert!(ok(block("", bytes(40))) && ok(block("", Bytes::new(1))));
        assert!(!ok(block("", Bytes::new((1 << 40) + 1))) && !ok(block("", Bytes::ZERO)));
        assert!(ok(erase_block(Bytes::ZERO)) && ok(erase_block(bytes(40))));
        assert!(!ok(erase_block(Bytes::new((1 << 40) + 1))));
        for least in [0, 1] {
            assert!(ok(count("", least, least)) && ok(count("", 1 << 27, least)));
            assert!(!ok(count("", (1 << 27) + 1, least)));
        }
        assert!(!ok(count("", 0, 1)));
        let longest = Duration::from_nanos(u64::MAX);
        assert!(ok(time("", longest)) && !ok(time("", longest + Duration::from_nanos(1))));
        let is_allowed = |check: fn(&str, f64) -> Checked| {
            [0.0, 1e-9, 1e10, -1e-9, 1e11, f64::NAN, f64::INFINITY].map(|number| ok(check("", number)))
        };
        assert_eq!(is_allowed(seconds), [true, true, true, false, false, false, false]);
        assert_eq!(is_allowed(positive), [false, true, true, false, false, false, false]);
    }
}
