//! The short test of the capacity that belongs to every check that may write.

use flashscope_device::{Bytes, DeviceError};
use flashscope_layout::steps::quoted_path;
use flashscope_measure::Stage;
use flashscope_measure::capacity::{Limits, probe, probe_stage};
use flashscope_record::CapacityVerdict;
use flashscope_record::capacity::CapacityKind;

use crate::printer::Printer;
use crate::progress::Progress;
use crate::seed;
use crate::target::Target;

/// The test uses at most this part of what is left of the budgets.
const BUDGET_PART: u32 = 4;

/// What the test found.
#[derive(Debug)]
pub enum Tested {
    /// A verdict.
    Verdict(CapacityVerdict),
    /// Data was lost, and the budget allowed no verdict.
    Undecided,
    /// Nothing: it was not possible.
    Nothing,
}

/// Tests the capacity, and finds the true size if it is false. Without a verdict a remark says why.
///
/// # Errors
/// [`DeviceError`] if the device failed or the user interrupted.
pub fn run(
    target: &mut Target,
    seed: u64,
    progress: &mut Progress<'_>,
    printer: &Printer,
) -> Result<Tested, DeviceError> {
    // Stamps of an earlier run with the same seed would pass for new ones.
    let seed = if target.is_virtual { seed } else { seed::random() };
    let limits = limits(target);
    match probe(&mut target.device, seed, limits, progress) {
        Ok(None) => {
            printer.remark(format!(
                "the capacity was not tested: it, or the budget, is too small; flashscope verify {} tests it",
                quoted_path(&target.text)
            ));
            Ok(Tested::Nothing)
        }
        // Where every request fails, the device is broken, and nothing is known of its capacity.
        Ok(Some(verdict))
            if verdict.kind == CapacityKind::Errors && verdict.true_size == Some(Bytes::ZERO) =>
        {
            printer.remark("the capacity was not tested: requests fail everywhere");
            Ok(Tested::Nothing)
        }
        Err(DeviceError::BudgetSpent { limit }) => {
            let remark = format!(
                "the capacity is in doubt, but the budget allows no more ({limit}); run: flashscope verify {}",
                quoted_path(&target.text)
            );
            printer.remark(&remark);
            target.remarks.push(remark);
            Ok(Tested::Undecided)
        }
        Ok(Some(verdict)) => Ok(Tested::Verdict(verdict)),
        Err(error) => Err(error),
    }
}

/// What the test is expected to take; `None` if it is not possible.
pub fn stage(target: &Target) -> Option<Stage> {
    probe_stage(&target.device, limits(target))
}

/// The test's part of the budgets.
fn limits(target: &Target) -> Limits {
    let (left, most) = (target.device.left(), Limits::default());
    Limits {
        bytes_written: left
            .bytes_written
            .map_or(most.bytes_written, |left| (left / u64::from(BUDGET_PART)).min(most.bytes_written)),
        device_time: left
            .device_time
            .map_or(most.device_time, |left| (left / BUDGET_PART).min(most.device_time)),
    }
}

/// The size that the device really stores, if that is less than it announces.
pub fn stored(verdict: Option<&CapacityVerdict>) -> Option<Bytes> {
    let verdict = verdict?;
    verdict.true_size.filter(|size| verdict.kind.is_bad() && *size < verdict.announced)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::layer::Budget;

    use super::*;
    use crate::target;

    #[test]
    fn test_of_the_capacity_gets_a_quarter_of_the_budgets_and_no_more_than_without() {
        let of = |budget| limits(&target::open("sim:generic-2g", None, budget).unwrap());
        let budget = |mebibytes, seconds| Budget {
            bytes_written: Some(Bytes::mib(mebibytes)),
            device_time: Some(Duration::from_secs(seconds)),
            ..Budget::UNLIMITED
        };
        let quarter = Limits { bytes_written: Bytes::mib(16), device_time: Duration::from_secs(5) };
        assert_eq!(of(budget(64, 20)), quarter);
        assert_eq!(of(budget(4000, 4000)), Limits::default());
        assert_eq!(of(Budget::UNLIMITED), Limits::default());
    }
}
