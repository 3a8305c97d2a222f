//! `--open-au` and `--find-fat`: rows of writes; the request size halves from row to row.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Instant};

use flashscope_record::observation::{FatAreaCell, FatAreaData, OpenUnitsCell, OpenUnitsData, Order, Times};

use crate::procedure::plan;
use crate::procedure::session::{Session, Stop};

/// `--open-au`: for each position inside the unit, one write to each unit (round-robin).
pub(super) fn measure_open_units(
    session: &mut Session<'_>,
    open_units: u32,
    smallest: Bytes,
    order: Order,
    data: &mut OpenUnitsData,
) -> Result<(), Stop> {
    let erase_block = data.erase_block;
    for request in plan::request_sizes(erase_block, smallest) {
        let offsets = session.begin_row(erase_block, request, order);
        let began_at = session.now();
        for offset in &offsets {
            for unit in 0..open_units {
                session.write(ByteRange::new(plan::unit_offset(erase_block, unit) + *offset, request))?;
            }
        }
        let times = mean(session, began_at, offsets.len() as u64 * u64::from(open_units));
        data.cells.push(OpenUnitsCell::round_robin((order, open_units, request), times));
    }
    Ok(())
}

/// `--find-fat`: the same row in each of the first units, sequentially.
pub(super) fn measure_fat_area(
    session: &mut Session<'_>,
    units: u32,
    smallest: Bytes,
    order: Order,
    data: &mut FatAreaData,
) -> Result<(), Stop> {
    let erase_block = data.erase_block;
    for request in plan::request_sizes(erase_block, smallest) {
        let offsets = session.begin_row(erase_block, request, order);
        let mut row = Vec::new();
        for unit in 0..units {
            let times = write_unit(session, erase_block * u64::from(unit), request, &offsets)?;
            row.push(FatAreaCell { unit, order, request, times });
        }
        data.cells.append(&mut row);
    }
    Ok(())
}

fn write_unit(
    session: &mut Session<'_>,
    unit: Bytes,
    request: Bytes,
    offsets: &[Bytes],
) -> Result<Times, Stop> {
    let began_at = session.now();
    for offset in offsets {
        session.write(ByteRange::new(unit + *offset, request))?;
    }
    Ok(mean(session, began_at, offsets.len() as u64))
}

/// The mean time per request since `began_at`, as in flashbench: elapsed time divided by requests.
fn mean(session: &Session<'_>, began_at: Instant, requests: u64) -> Times {
    let elapsed = session.now().since(began_at).as_nanos() / u128::from(requests.max(1));
    let per_request = Duration::from_nanos(u64::try_from(elapsed).unwrap_or(u64::MAX));
    Times::Mean { per_request, requests: Some(requests) }
}
