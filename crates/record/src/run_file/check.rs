//! Checks the numbers of a run file.

use crate::capacity::CapacityVerdict;
use crate::limits::{Checked, each, size, time};
use crate::observation::Observations;
use crate::run_file::RunFile;

/// Checks every number of a run against its limits.
///
/// # Errors
/// The first number outside its limits.
pub fn check(run: &RunFile) -> Checked {
    let cost = &run.cost;
    size("bytes_read", cost.bytes_read)
        .and_then(|()| size("bytes_written", cost.bytes_written))
        .and_then(|()| time("device_time", cost.device_time))
        .map_err(|error| error.inside("cost"))?;
    size("attachment.request_max", run.attachment.request_max.unwrap_or_default())?;
    let unit = run.attachment.claims.allocation_unit.unwrap_or_default();
    size("attachment.claims.allocation_unit", unit)?;
    each("attachment.volumes", &run.attachment.volumes, |volume| {
        size("start", volume.start)?;
        for (name, bytes) in [
            ("data_start", volume.data_start),
            ("size", volume.size),
            ("cluster", volume.cluster),
            ("group", volume.group),
            ("stripe", volume.stripe),
        ] {
            size(name, bytes.unwrap_or_default())?;
        }
        Ok(())
    })?;
    run.capacity
        .iter()
        .try_for_each(|verdict| capacity(verdict).map_err(|error| error.inside("capacity")))?;
    each("observations", &run.observations, Observations::check)
}

fn capacity(verdict: &CapacityVerdict) -> Checked {
    size("announced", verdict.announced)?;
    size("true_size", verdict.true_size.unwrap_or_default())?;
    size("wrap_period", verdict.wrap_period.unwrap_or_default())?;
    size("cache_excluded", verdict.cache_excluded)?;
    size("cache_seen", verdict.cache_seen.unwrap_or_default())?;
    size("cost.bytes_written", verdict.cost.bytes_written)?;
    size("cost.bytes_read", verdict.cost.bytes_read)?;
    time("cost.device_time", verdict.cost.device_time)?;
    each("places", &verdict.places, |place| size("offset", place.offset))
}
