//! The boundary of dropped writes, found by k-ary search: each round writes many probes in one ascending
//! pass, overwrites more than the cache, and reads the probes in random order.

use flashscope_device::{ByteRange, Bytes, DeviceError};

use super::stamped::{Place, Stamped};

/// Probes of one round: 256 times narrower per round, so 128 GB need three rounds.
const PROBES: u64 = 255;
/// Probes of one round where requests fail, because each failure may take seconds.
const PROBES_FAILING: u64 = 15;
/// Places below the boundary that are tried at the end. A contiguous bad part of 7 % is always found.
const PLACES_BELOW: u64 = 31;

/// Where single places below the boundary are bad, at most 4 right below it are taken for bad by chance: with
/// 20 % bad places, 1 in 600 rounds loses the boundary.
pub const BAD_IN_A_ROW: usize = 4;

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// Whether requests beyond the boundary fail.
    pub is_failing: bool,
    /// Whether single places below the boundary are bad too.
    pub is_broken: bool,
    /// What is written between writing and reading probes, so that no cache holds them. May be empty.
    pub overwrite: ByteRange,
}

/// A boundary: all units from it to the next bad place are bad, the unit below it is kept.
#[derive(Debug)]
pub struct Boundary {
    /// Its offset.
    pub at: Bytes,
    /// Whether a second try of both its sides confirmed it.
    pub is_confirmed: bool,
    /// Places below it, tried at the end.
    pub below: Vec<Place>,
}

/// Finds the boundary between `low`, below which the last kept unit ends, and `high`, a bad unit.
pub fn find(
    io: &mut Stamped<'_>,
    (mut low, mut high): (Bytes, Bytes),
    search: &Search,
) -> Result<Boundary, DeviceError> {
    let probes = if search.is_failing { PROBES_FAILING } else { PROBES };
    while low < high {
        let offsets = io.stratified(ByteRange::new(low, high - low), probes);
        let places = write_and_read(io, &offsets, search)?;
        let last_kept = places.iter().rposition(Place::is_kept);
        let next = last_kept.map_or(0, |last| last + 1);
        let is_last_round = (high - low) / io.unit <= probes;
        low = last_kept.map_or(low, |last| places[last].at + io.unit);
        if is_last_round {
            break;
        }
        let slack = if search.is_broken { BAD_IN_A_ROW } else { 0 };
        high = places.get(next + slack).map_or(high, |place| place.at);
    }
    confirm(io, low, search)
}

fn confirm(io: &mut Stamped<'_>, at: Bytes, search: &Search) -> Result<Boundary, DeviceError> {
    let mut offsets = io.stratified(ByteRange::new(Bytes::ZERO, at), PLACES_BELOW);
    offsets.extend((!at.is_zero()).then(|| at - io.unit));
    offsets.extend((at < io.capacity).then_some(at));
    offsets.dedup();
    let mut below = write_and_read(io, &offsets, search)?;
    let is_bad_above = below.pop_if(|place| place.at == at).is_none_or(|place| !place.is_kept());
    let is_kept_below = below.last().is_none_or(Place::is_kept);
    Ok(Boundary { at, is_confirmed: is_bad_above && is_kept_below, below })
}

/// Writes units at these ascending offsets, defeats the cache, and reads them in random order.
fn write_and_read(
    io: &mut Stamped<'_>,
    offsets: &[Bytes],
    search: &Search,
) -> Result<Vec<Place>, DeviceError> {
    let mut places = io.write_places(offsets)?;
    if !search.overwrite.length.is_zero() {
        io.write_run(search.overwrite)?;
    }
    io.read_places(&mut places)?;
    Ok(places)
}
