//! Wrap-around, found by reading: a run at the top of the device shows up below at one period's distance.
//!
//! The image of a run of length W is W long. One read at every multiple of W below the run must hit it,
//! whatever the period. A hit at address a with the stamp of address t gives t - a, a multiple of the period.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, DeviceError};

use super::stamped::{Found, Stamped};

/// The largest number of reads of a scan. Guess: a minute at 4 ms each.
const READS_MAX: u64 = 16_384;
/// The largest factor between a hit's distance and the period. Only runs longer than the period need more
/// than 1; the smallest fake known stores 1 MiB, and a run is 272 MiB.
const FACTOR_MAX: u64 = 1024;

/// A unit that holds the stamp of another address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// Its offset.
    pub at: Bytes,
    /// The address in its stamp.
    pub home: Bytes,
}

/// What a scan below a run found.
#[derive(Debug, Default)]
pub struct Scan {
    /// The first unit that holds a stamp of the run.
    pub alias: Option<Alias>,
    /// The latency of each read of an area without stamps.
    pub latencies: Vec<Duration>,
    /// How many of these areas are 0x00, or 0xff, throughout.
    pub blank: [usize; 2],
}

/// The most reads of the scan below a run of this length that ends with the device.
pub fn reads_max(capacity: Bytes, length: Bytes, unit: Bytes) -> u64 {
    (capacity.saturating_sub(length).get().div_ceil(stride(length, unit).get())).min(READS_MAX)
}

/// The distance of two reads of a scan.
fn stride(length: Bytes, unit: Bytes) -> Bytes {
    length.saturating_sub(unit).round_down(unit).max(unit)
}

/// Reads one unit at every multiple of the run's length below it, downwards, until it finds a stamp.
pub fn scan(io: &mut Stamped<'_>, run: ByteRange, pass: u32) -> Result<Scan, DeviceError> {
    let stride = stride(run.length, io.unit);
    let (mut at, mut result) = (run.offset, Scan::default());
    for _ in 0..READS_MAX {
        if at.is_zero() || io.is_due() {
            break;
        }
        at = at.saturating_sub(stride);
        let (found, latency) = io.read(at, pass)?;
        match found {
            Found::OtherAddress(home) if home > at => {
                result.alias = Some(Alias { at, home });
                break;
            }
            Found::Blank(byte) => {
                result.latencies.push(latency);
                result.blank[usize::from(byte != 0)] += usize::from(byte == 0 || byte == 0xff);
            }
            Found::Other(_) => result.latencies.push(latency),
            _ => {}
        }
    }
    Ok(result)
}

/// What an alias means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// Addresses wrap around after this size.
    Wrap(Bytes),
    /// Only a cache returns the data of another address: its slots repeat after this size.
    Cache(Bytes),
}

/// The smallest period that these aliases allow, tried by reading; `None` if no alias can be repeated.
pub fn period(
    io: &mut Stamped<'_>,
    aliases: &[Alias],
    run: ByteRange,
) -> Result<Option<Period>, DeviceError> {
    let distance = |alias: &Alias| alias.home.saturating_sub(alias.at);
    let nearest = aliases.iter().filter(|alias| alias.home > alias.at).min_by_key(|alias| distance(alias));
    let Some(alias) = nearest else { return Ok(None) };
    let units = distance(alias) / io.unit;
    let mut smallest = None;
    for factor in (1..=FACTOR_MAX.min(units)).rev().filter(|factor| units.is_multiple_of(*factor)) {
        let period = io.unit * (units / factor);
        if io.holds(alias.home - period, alias.home)? {
            smallest = Some(period);
            break;
        }
    }
    let Some(period) = smallest else { return Ok(None) };
    // The image of a wrap reaches the bottom. A cache for dropped data does not shadow the real flash there.
    let multiple = run.end().saturating_sub(io.unit).round_down(period);
    let home = if multiple >= run.offset && !multiple.is_zero() { multiple } else { alias.home };
    let is_wrap = io.holds(home % period, home)?;
    Ok(Some(if is_wrap { Period::Wrap(period) } else { Period::Cache(period) }))
}
