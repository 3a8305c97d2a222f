//! Limits of a measurement.

use flashscope_device::Bytes;
use flashscope_device::layer::Budget;

use crate::args::Budgets;

/// The default limit of all write tests together: four times what they usually write with erase blocks of 8
/// MiB.
pub const WRITE_BUDGET: Bytes = Bytes::gib(2);

/// The limits on the command line; `default` limits writes if there is no `--write-budget`.
pub fn budget(budgets: &Budgets, default: Option<Bytes>) -> Budget {
    Budget { reads: None, bytes_written: budgets.write_budget.or(default), device_time: budgets.time_budget }
}
