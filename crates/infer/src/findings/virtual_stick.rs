//! What would decide on a virtual stick: it has no machine that could be quieter, and no port.

use flashscope_record::finding::{Finding, Outcome, WouldDecide};
use flashscope_record::run_file::RunFile;

/// The same findings; those of a virtual stick ask for what a virtual stick has.
pub fn fitting(run: &RunFile, mut findings: Vec<Finding>) -> Vec<Finding> {
    if run.is_of_a_virtual_stick() {
        for finding in &mut findings {
            if let Outcome::Unknown { would_decide, .. } = &mut finding.outcome {
                on_a_virtual_stick(would_decide);
            }
        }
    }
    findings
}

/// Replaces what only a real device has.
pub fn on_a_virtual_stick(would_decide: &mut [WouldDecide]) {
    for each in would_decide {
        match each {
            WouldDecide::QuieterMachine => *each = WouldDecide::OtherSeed,
            WouldDecide::FasterPort => *each = WouldDecide::FasterVirtualLink,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_stick_needs_another_seed_instead_of_a_quieter_machine() {
        let mut would_decide = [WouldDecide::QuieterMachine, WouldDecide::FasterPort, WouldDecide::Fill];
        on_a_virtual_stick(&mut would_decide);
        let expected = [WouldDecide::OtherSeed, WouldDecide::FasterVirtualLink, WouldDecide::Fill];
        assert_eq!(would_decide, expected);
    }
}
