//! All laws: a new one is a file beside this one, its name in `law.rs`, and one line here.

use flashscope_sim::ProfileError;

use super::law::Law;
use super::stick::Variant;
use super::{
    ageing_reads, cached_map, clock, fifo, pools, shared_logs, slc_region, sliced_merges, wear_levelling,
    zones,
};
use crate::draw::Draw;
use crate::truth::Fact;

/// Draws a stick with this law.
///
/// # Errors
/// A bug of this crate: every drawn profile must be possible.
pub(crate) fn sample(law: Law, draw: &mut Draw) -> Result<Variant, ProfileError> {
    let mut variant = match law {
        Law::Fifo => fifo::sample(draw),
        Law::Clock => clock::sample(draw),
        Law::CachedMap => cached_map::sample(draw),
        Law::SlicedMerges => sliced_merges::sample(draw),
        Law::SlcRegion => slc_region::sample(draw),
        Law::Pools => pools::sample(draw),
        Law::Zones => zones::sample(draw),
        Law::SharedLogs => shared_logs::sample(draw),
        Law::WearLevelling => wear_levelling::sample(draw),
        Law::AgeingReads => ageing_reads::sample(draw),
    }?;
    variant.truth.set("slc_cache_bytes", Fact::Number(0.0));
    variant.truth.set("write_buffer_bytes", Fact::Number(0.0));
    Ok(variant)
}
