//! The cost of a run as text.

use flashscope_device::layer::Cost;

use crate::quantity::{self, counted};

/// The cost of a run as text; empty for none, as of an imported log.
pub fn cost(cost: &Cost) -> String {
    if *cost == Cost::default() {
        return String::new();
    }
    let (reads, writes) = (counted(cost.reads, "read"), counted(cost.writes, "write"));
    let time = quantity::seconds(cost.device_time.as_secs_f64());
    format!("{reads} ({}), {writes} ({}), {time} of device time", cost.bytes_read, cost.bytes_written)
}
